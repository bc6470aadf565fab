/** The OpenAPI document as a page to read, and the chapters of the manual. */
import type { IncomingMessage } from 'node:http';
import type { DocumentView } from './page/document-view.ts';
import type { ChapterView } from './page/docs-page.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import { problemResponses } from '../problem.ts';
import type { HeaderList, HttpRoute, ResponseSpec } from '../http-route.ts';

type Manual = {
  readonly chapters: readonly ChapterView[];
  /** Throws `not_found`. */
  readonly get: (name: string) => ChapterView;
  readonly read: (chapter: ChapterView) => string;
};

/**
 * `GET /docs`. Without a base URI the curl lines name the host of the request. Rendering the page
 * takes milliseconds: it is rendered once with a placeholder, which the host then replaces.
 */
export function docsRoute(spec: {
  readonly document: () => MaybePromise<DocumentView>;
  readonly chapters?: readonly ChapterView[];
}): HttpRoute {
  let template = { base: '', page: '' };
  let cachedPage = { origin: '', bytes: Buffer.alloc(0) };
  return {
    method: 'GET',
    path: '/docs',
    operationId: 'getDocs',
    summary: 'This interface as a page to read',
    access: 'public',
    responses: [PAGE_RESPONSE],
    handle: (exchange) => loadPages(async (pages) => {
      const base = exchange.linkTo('');
      if (template.page === '' || base !== template.base) {
        const baseUri = base.startsWith('http') ? base : ORIGIN_PLACEHOLDER + base;
        const document = await spec.document();
        template = { base, page: pages.renderDocs(document, baseUri, base, spec.chapters) };
        cachedPage.origin = '';
      }
      const origin = readOrigin(exchange.request);
      if (origin !== cachedPage.origin) {
        const page = template.page.replaceAll(ORIGIN_PLACEHOLDER, origin);
        cachedPage = { origin, bytes: Buffer.from(page) };
      }
      exchange.send(200, getPageHeaders(pages), cachedPage.bytes);
    }),
  };
}

/** `GET /docs/{chapter}`. Each page is rendered at its first request. */
export function chapterRoute(manual: Manual): HttpRoute {
  const renderedPages = new Map<string, Buffer>();
  return {
    method: 'GET',
    path: '/docs/{chapter}',
    operationId: 'getChapter',
    summary: 'One chapter of the manual as a page to read',
    access: 'public',
    parameters: [{
      name: 'chapter', in: 'path', description: 'Its name, as /docs lists them',
      schema: { kind: 'string' }, isRequired: true,
    }],
    responses: [PAGE_RESPONSE, ...problemResponses(404)],
    handle: (exchange) => loadPages((pages) => {
      const chapter = manual.get(exchange.params[0] ?? '');
      let page = renderedPages.get(chapter.name);
      if (page === undefined) {
        page = Buffer.from(pages.renderChapter(chapter, manual.read(chapter), manual.chapters));
        renderedPages.set(chapter.name, page);
      }
      exchange.send(200, getPageHeaders(pages), page);
    }),
  };
}

const PAGE_RESPONSE: ResponseSpec = {
  status: 200, description: 'The page', mediaType: 'text/html', schema: { kind: 'string' },
};

let cachedHeaders: HeaderList | null = null;

/** The headers of all pages. The policy in them holds hashes, which are computed once. */
function getPageHeaders({ createDocsPolicy }: DocsPages): HeaderList {
  cachedHeaders ??= [
    'Content-Type', 'text/html; charset=utf-8', 'Content-Security-Policy', createDocsPolicy(),
  ];
  return cachedHeaders;
}

type DocsPages = typeof import('./page/docs-page.ts');

const loadPages = lazyImport<DocsPages>(() => import('./page/docs-page.ts'));

/** Stands for the origin in the page that is cached. */
const ORIGIN_PLACEHOLDER = 'http://origin.invalid';

/** The origin of the request. It holds no character that HTML or a shell would need escaped. */
function readOrigin({ headers: { host = '' }, socket }: IncomingMessage): string {
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  return `${scheme}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
}
