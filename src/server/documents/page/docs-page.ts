/**
 * Renders an OpenAPI document and the chapters of the manual as HTML pages that load no font,
 * script or style from anywhere. Pure: the same document makes the same page.
 */
import { loadCrypto } from '../../../base/node-modules.ts';
import { iconLink } from '../icon-route.ts';
import type { DocumentView, OperationView } from './document-view.ts';
import { toAnchor, escapeHtml } from './html.ts';
import { renderMarkdown } from './markdown-html.ts';
import { renderOperation } from './operation-html.ts';
import type { PathOperation } from './operation-html.ts';
import { renderMembers } from './schema-html.ts';
import { DOCS_STYLE } from './docs-style.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Allows the pages' own script and style alone, by their hashes, and images and a form of ours. */
export function createDocsPolicy(): string {
  return `default-src 'none'; script-src ${hashSource(DOCS_SCRIPT)}; `
    + `style-src ${hashSource(DOCS_STYLE)}; `
    + 'img-src \'self\'; base-uri \'none\'; form-action \'self\'; frame-ancestors \'none\'';
}

function hashSource(text: string): string {
  return `'sha256-${loadCrypto().createHash('sha256').update(text).digest('base64')}'`;
}

/** A chapter of the manual, without its text. */
export type ChapterView = {
  readonly name: string; readonly title: string; readonly summary: string;
};

/** A section of the manual in which something was found. */
export type SectionView = {
  /** The name of its chapter. */
  readonly chapter: string;
  readonly heading: string;
  /** The `id` of its heading in the chapter's page. */
  readonly anchor: string;
};

/**
 * The page for a server at `baseUri`. `base` is the path prefix of its links. Neither ends with a
 * slash.
 */
export function renderDocs(
  document: DocumentView, baseUri: string, base = '', manual: readonly ChapterView[] = [],
): string {
  const title = escapeHtml(document.info?.title ?? 'API');
  const groups = groupByPrefix(Object.entries(document.paths ?? {}).flatMap(listOperations));
  const sections = groups.map(([prefix, members]) =>
    `<section><h2 id="${toAnchor(prefix)}">${escapeHtml(prefix)}</h2>${members.map((member) =>
      renderOperation(member, baseUri, document)).join('')}</section>`);
  const links = groups.map(([prefix]) =>
    `<li><a href="#${toAnchor(prefix)}">${escapeHtml(prefix)}</a></li>`);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    `<details class="model"><summary id="schema-${toAnchor(name)}"><code>${escapeHtml(name)}</code>`
    + `</summary><div>${renderMembers(schema)}</div></details>`);
  const chapters = manual.map(({ name, title: heading, summary }) =>
    `<li><a href="${escapeHtml(base)}/docs/${name}">${escapeHtml(heading)}</a>: `
    + `${escapeHtml(summary)}</li>`);
  const consoleLink = document.paths?.['/console'] === undefined ? ''
    : ` and in the <a href="${escapeHtml(base)}/console">console</a>`;
  return renderPage(document.info?.title ?? 'API', '', `<header>
<h1>${title}</h1>
<p>Version ${escapeHtml(document.info?.version ?? '')} at <code>${escapeHtml(baseUri)}</code>,
also as <a href="${escapeHtml(base)}/openapi.json">OpenAPI 3.1</a>${consoleLink}.</p>
${renderSearchForm(`${base}/docs`, '')}
</header>
<div class="columns">
<nav aria-label="Contents"><ul><li><a href="#manual">Manual</a></li>${links.join('')}
<li><a href="#models">Models</a></li></ul></nav>
<main>
<section><h2 id="manual">Manual</h2><ul>${chapters.join('\n')}</ul></section>
<section><h2 id="api">API</h2><p>Each line opens. In its curl command, words in capitals stand for
yours; the token, where one is needed, is taken from <code>HOOKSHELF_API_TOKEN</code>. A member with
<code>?</code> may be absent.</p></section>
${sections.join('\n')}
<section><h2 id="models">Models</h2>${schemas.join('\n')}</section>
</main>
</div>
<footer></footer>`);
}

/** A chapter of Markdown. Its links are relative: the pages may be mounted anywhere. */
export function renderChapter(
  { name, title }: ChapterView, text: string, chapters: readonly ChapterView[],
): string {
  const html = renderMarkdown(text);
  const headings = [...html.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/g)]
    .map(([, anchor, heading]) => `<li><a href="#${anchor}">${heading}</a></li>`);
  const links = chapters.map((chapter) => chapter.name !== name
    ? `<li><a href="${chapter.name}">${escapeHtml(chapter.title)}</a></li>`
    : `<li class="here"><a href="${name}" aria-current="page">${escapeHtml(title)}</a>`
      + `<ul>${headings.join('')}</ul></li>`);
  return renderPage(title, '../', `<div class="columns">
<nav class="chapters" aria-label="Chapters"><ul>
<li class="here"><a href="../docs">Manual and API</a></li>${links.join('')}</ul></nav>
<main class="chapter">
${renderSearchForm('../docs', '')}
${html}
</main>
</div>`);
}

/** The sections that a search has found, as a page for `GET /docs`, with relative links, too. */
export function renderFindings(
  words: string, sections: readonly SectionView[], chapters: readonly ChapterView[],
): string {
  const findTitle = (name: string): string =>
    chapters.find((chapter) => chapter.name === name)?.title ?? name;
  const links = sections.map(({ chapter, heading, anchor }) => {
    const title = findTitle(chapter);
    const place = title === heading ? title : `${title}: ${heading}`;
    return `<li><a href="docs/${chapter}#${anchor}">${escapeHtml(place)}</a></li>`;
  });
  return renderPage(`${words} – Manual`, '', `<header>
<h1>Manual</h1>
<p><a href="docs">Manual and API</a></p>
${renderSearchForm('docs', words)}
</header>
<main class="findings">
<p>${sections.length === 0 ? 'No section has all these words.'
    : `The sections that have them, best first: ${sections.length}`}</p>
<ol>${links.join('\n')}</ol>
</main>`);
}

function renderSearchForm(action: string, words: string): string {
  return `<form role="search" action="${escapeHtml(action)}">
<label for="q">Search the manual</label>
<input type="search" id="q" name="q" value="${escapeHtml(words)}" required maxlength="100">
<button type="submit">Search</button></form>`;
}

/** `root` leads from the page to the root of the service. */
function renderPage(title: string, root: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${iconLink(root)}
<style>${DOCS_STYLE}</style>
</head>
<body>
${body}
<script>${DOCS_SCRIPT}</script>
</body>
</html>
`;
}

/** The operations of a path. Where all methods do the same, the POST stands for all of them. */
function listOperations(
  [path, methods]: [string, Readonly<Record<string, OperationView>>],
): PathOperation[] {
  const operations = METHODS.flatMap((method): PathOperation[] => {
    const operation = methods[method];
    return operation === undefined ? [] : [{ path, method, label: method, operation }];
  });
  const isAny = operations.length === METHODS.length
    && operations.every(({ operation }) => operation.summary === operations[0]?.operation.summary);
  if (!isAny) return operations;
  return operations.filter(({ method }) => method === 'post')
    .map((operation) => ({ ...operation, label: 'any' }));
}

/**
 * Groups operations by the first two segments of their paths: `/api/books/{id}` is in `/api/books`.
 * Paths of one segment are in the group `Service`.
 */
function groupByPrefix(
  operations: readonly PathOperation[],
): readonly [string, readonly PathOperation[]][] {
  const groups = new Map<string, PathOperation[]>();
  for (const operation of operations) {
    const segments = operation.path.split('/').slice(1, 3);
    const prefix = segments.length < 2 ? 'Service' : `/${segments.join('/')}`;
    const members = groups.get(prefix);
    if (members === undefined) groups.set(prefix, [operation]);
    else members.push(operation);
  }
  return [...groups];
}

/**
 * The only script of the pages: it copies code, opens the target of a link, brings the chapter into
 * view in the list of all, and applies the theme of the console. The pages' policy allows it by its
 * hash. The pages work without it.
 */
const DOCS_SCRIPT = `
// The theme that was chosen in the console.
document.documentElement.dataset.theme = localStorage.getItem('hookshelf-theme') || 'system';
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target && target.closest('details');
  if (details) { details.open = true; target.scrollIntoView(); }
};
const select = (node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
};
const copy = async (code) => {
  try { await navigator.clipboard.writeText(code.textContent); return true; } catch {
    select(code);
    return document.execCommand('copy');
  }
};
for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const isCopied = await copy(button.nextElementSibling.firstElementChild);
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl-C';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
}
const chapter = document.querySelector('[aria-current]');
if (chapter) chapter.closest('nav > ul').scrollTop = chapter.offsetTop - 50;
addEventListener('hashchange', reveal);
reveal();
`;
