/** `GET /docs`: the OpenAPI document as a page to read. */
import type { IncomingMessage } from 'node:http';
import type { DocumentView } from './page/document-view.ts';
import { docsPolicy, renderDocs } from './page/page.ts';
import type { Route } from '../route.ts';

/**
 * `GET /docs`. Without `baseUri` the curl lines name the host that the page was asked from. The
 * page takes milliseconds to render: it is made once, and the host put in afterwards.
 */
export function docsRoute(spec: { readonly document: () => DocumentView }): Route {
  let template = { base: '', page: '' };
  let headers: readonly string[] | null = null;
  let last = { origin: '', bytes: Buffer.alloc(0) };
  return {
    method: 'GET',
    path: '/docs',
    operationId: 'getDocs',
    summary: 'This interface as a page to read',
    access: 'public',
    answers: [{
      status: 200, description: 'The page', mediaType: 'text/html', schema: { kind: 'string' },
    }],
    handle(exchange) {
      const base = exchange.linkTo('');
      if (template.page === '' || base !== template.base) {
        const baseUri = base.startsWith('http') ? base : ORIGIN + base;
        template = { base, page: renderDocs(spec.document(), baseUri, base) };
        last.origin = '';
      }
      const origin = originOf(exchange.request);
      if (origin !== last.origin) {
        last = { origin, bytes: Buffer.from(template.page.replaceAll(ORIGIN, origin)) };
      }
      headers ??= [
        'Content-Type', 'text/html; charset=utf-8', 'Content-Security-Policy', docsPolicy(),
      ];
      exchange.send(200, headers, last.bytes);
    },
  };
}

/** Stands for the origin in the page that is kept. */
const ORIGIN = 'http://origin.invalid';

/** Where the page was asked from. Nothing in it needs escaping, in HTML or in a shell. */
function originOf({ headers: { host = '' }, socket }: IncomingMessage): string {
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  return `${scheme}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
