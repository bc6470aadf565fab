/** The OpenAPI document as a page to read, and the chapters of the manual. */
import type { IncomingMessage } from 'node:http';
import type { DocumentView } from './page/document-view.ts';
import { chooseMediaType } from '../accept.ts';
import { readQuery } from '../query.ts';
import type { ChapterView, SectionView } from './page/docs-page.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import { problemResponses } from '../problem.ts';
import type { HeaderList, HttpRoute, ParameterSpec, ResponseSpec } from '../http-route.ts';

type Manual = {
  readonly chapters: readonly ChapterView[];
  /** Throws `not_found`. */
  readonly get: (name: string) => ChapterView;
  /** Markdown. */
  readonly read: (chapter: ChapterView) => string;
  readonly search: (words: string) => readonly SectionView[];
};

const HTML = 'text/html';
const MARKDOWN = 'text/markdown';
const PARAMETERS = [{
  name: 'q', in: 'query', schema: { kind: 'string' },
  description: 'Lists in its place the sections of the manual that have all these words',
}] as const satisfies readonly ParameterSpec[];

/**
 * `GET /docs`. Without a base URI the curl lines name the host of the request. Rendering the page
 * takes milliseconds: it is rendered once with a placeholder, which the host then replaces.
 */
export function docsRoute(
  loadDocument: () => MaybePromise<DocumentView>, manual: Omit<Manual, 'get' | 'read'>,
): HttpRoute {
  let template = { base: '', page: '' };
  let cachedPage = { origin: '', bytes: Buffer.alloc(0) };
  return {
    method: 'GET',
    path: '/docs',
    operationId: 'getDocs',
    summary: 'This interface as a page to read, and the chapters of the manual',
    access: 'public',
    parameters: PARAMETERS,
    responses: [PAGE_RESPONSE, ...problemResponses(400)],
    handle: (exchange) => loadPages(async (pages) => {
      const { q: words } = readQuery(exchange.search, PARAMETERS);
      if (words !== null) {
        const page = pages.renderFindings(words, manual.search(words), manual.chapters);
        return exchange.send(200, getPageHeaders(pages), page);
      }
      const base = exchange.linkTo('');
      if (template.page === '' || base !== template.base) {
        const baseUri = base.startsWith('http') ? base : ORIGIN_PLACEHOLDER + base;
        const document = await loadDocument();
        template = { base, page: pages.renderDocs(document, baseUri, base, manual.chapters) };
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
export function chapterRoute(manual: Omit<Manual, 'search'>): HttpRoute {
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
    responses: [
      { ...PAGE_RESPONSE, otherTypes: [{ mediaType: MARKDOWN, schema: { kind: 'string' } }] },
      ...problemResponses(404),
    ],
    handle: (exchange) => loadPages((pages) => {
      const chapter = manual.get(exchange.params[0] ?? '');
      const { accept = '' } = exchange.request.headers;
      if (chooseMediaType(accept, [HTML, MARKDOWN]) === MARKDOWN) {
        const headers = ['Content-Type', `${MARKDOWN}; charset=utf-8`, ...VARY];
        return exchange.send(200, headers, manual.read(chapter));
      }
      let page = renderedPages.get(chapter.name);
      if (page === undefined) {
        page = Buffer.from(pages.renderChapter(chapter, manual.read(chapter), manual.chapters));
        renderedPages.set(chapter.name, page);
      }
      exchange.send(200, [...getPageHeaders(pages), ...VARY], page);
    }),
  };
}

const VARY = ['Vary', 'Accept'] as const;

const PAGE_RESPONSE: ResponseSpec = {
  status: 200, description: 'The page', mediaType: HTML, schema: { kind: 'string' },
};

let cachedHeaders: HeaderList | null = null;

/** The headers of all pages. The policy in them holds hashes, which are computed once. */
function getPageHeaders({ createDocsPolicy }: DocsPages): HeaderList {
  cachedHeaders ??= [
    'Content-Type', `${HTML}; charset=utf-8`, 'Content-Security-Policy', createDocsPolicy(),
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
