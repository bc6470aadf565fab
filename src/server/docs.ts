/**
 * `GET /docs`: the OpenAPI document as one HTML page that needs nothing else, no script, font or
 * style from anywhere. Everything that comes from the document is escaped.
 */
import type { IncomingMessage } from 'node:http';
import { shellQuote } from '../base/shell.ts';
import { DOCS_STYLE } from './docs-style.ts';
import type { Route } from './route.ts';

/**
 * `GET /docs`. Without `baseUri` the curl lines name the host that the page was asked from. The
 * page takes milliseconds to render: it is made once, and the host put in afterwards.
 */
export function docsRoute(spec: { readonly document: () => DocumentView }): Route {
  let template = { base: '', page: '' };
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
      const headers = ['Content-Type', 'text/html; charset=utf-8'];
      exchange.send(200, [...headers, 'Content-Security-Policy', DOCS_POLICY], last.bytes);
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

/** What the page reads of an OpenAPI document; all of it may be missing. */
export type DocumentView = {
  readonly info?: { readonly title?: string; readonly version?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, OperationView>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, SchemaView>> };
};

type OperationView = {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterView[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, MediaView>> };
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
  readonly security?: readonly unknown[];
};
type ParameterView = {
  readonly name?: string;
  readonly in?: string;
  readonly description?: string;
  readonly required?: boolean;
};
type MediaView = { readonly schema?: SchemaView; readonly example?: unknown };
type SchemaView = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaView>>;
  readonly items?: SchemaView;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** No script may run and nothing may be loaded, whatever the page says. */
export const DOCS_POLICY = 'default-src \'none\'; style-src \'unsafe-inline\'; '
  + 'base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\'';

/** The page for a server at `baseUri`; its links begin with `base`. No slash ends either. */
export function renderDocs(document: DocumentView, baseUri: string, base = ''): string {
  const title = escapeHtml(document.info?.title ?? 'API');
  const places = groupByPlace(Object.entries(document.paths ?? {}).flatMap(operationsOf));
  const sections = places.map(([place, members]) =>
    `<section><h2 id="${anchor(place)}">${escapeHtml(place)}</h2>${members.map((member) =>
      renderOperation(member, baseUri, document)).join('')}</section>`);
  const links = places.map(([place]) =>
    `<li><a href="#${anchor(place)}">${escapeHtml(place)}</a></li>`);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) =>
    `<details class="model" id="schema-${anchor(name)}"><summary><code>${escapeHtml(name)}</code>`
    + `</summary><div>${renderMembers(schema)}</div></details>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${DOCS_STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p>Version ${escapeHtml(document.info?.version ?? '')} at <code>${escapeHtml(baseUri)}</code>,
also as <a href="${escapeHtml(base)}/openapi.json">OpenAPI 3.1</a>. Each line opens. In its curl
command, words in capitals stand for yours; the token, where one is needed, is taken from
<code>HOOKSHELF_API_TOKEN</code>.</p>
</header>
<div class="columns">
<nav aria-label="Contents"><ul>${links.join('')}<li><a href="#models">Models</a></li></ul></nav>
<main>
${sections.join('\n')}
<section><h2 id="models">Models</h2>${schemas.join('\n')}</section>
</main>
</div>
<footer></footer>
</body>
</html>
`;
}

type Placed = {
  readonly path: string;
  readonly method: string;
  /** What is shown for the method. */
  readonly label: string;
  readonly operation: OperationView;
};

/** What a path answers to; methods that all do the same are one operation, shown by its POST. */
function operationsOf(
  [path, methods]: [string, Readonly<Record<string, OperationView>>],
): Placed[] {
  const placed = METHODS.flatMap((method): Placed[] => {
    const operation = methods[method];
    return operation === undefined ? [] : [{ path, method, label: method, operation }];
  });
  const isAny = placed.length === METHODS.length
    && placed.every(({ operation }) => operation.summary === placed[0]?.operation.summary);
  if (!isAny) return placed;
  return placed.filter(({ method }) => method === 'post').map((one) => ({ ...one, label: 'any' }));
}

/**
 * Operations by the first two segments of their path: `/api/books/{id}` is at `/api/books`. What
 * has but one is about the service itself.
 */
function groupByPlace(operations: readonly Placed[]): readonly [string, readonly Placed[]][] {
  const places = new Map<string, Placed[]>();
  for (const operation of operations) {
    const segments = operation.path.split('/').slice(1, 3);
    const place = segments.length < 2 ? 'Service' : `/${segments.join('/')}`;
    const members = places.get(place);
    if (members === undefined) places.set(place, [operation]);
    else members.push(operation);
  }
  return [...places];
}

function renderOperation(placed: Placed, baseUri: string, document: DocumentView): string {
  const { path, label, operation } = placed;
  const parameters = (operation.parameters ?? []).map((parameter) => [
    `<code>${escapeHtml(parameter.name ?? '')}</code><br><span class="note">${
      escapeHtml(parameter.in ?? '')}${parameter.required === true ? ', required' : ''}</span>`,
    renderText(parameter.description ?? ''),
  ]);
  const answers = Object.entries(operation.responses ?? {}).map(([status, answer]) =>
    [`<code>${escapeHtml(status)}</code>`, renderText(answer.description ?? '')]);
  const curl = curlLine(placed, baseUri, document);
  const { description } = operation;
  return `<details><summary><span class="method ${label}">${label.toUpperCase()}</span>`
    + `<code>${escapeHtml(path)}</code><span class="what">${renderText(operation.summary ?? '')}`
    + '</span></summary><div>'
    + `${description === undefined ? '' : `<p>${renderText(description)}</p>`}`
    + `<pre><code>${escapeHtml(curl)}</code></pre>`
    + `${renderTable(['parameter', 'meaning'], parameters)}`
    + `${renderTable(['answer', 'meaning'], answers)}</div></details>`;
}

function curlLine(placed: Placed, baseUri: string, document: DocumentView): string {
  const { path, method, operation } = placed;
  const [mediaType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}`
    + shellQuote(baseUri + path.replace(/\{(\w+)\.*\}/g, (_, name: string) => name.toUpperCase()))];
  if ((operation.security ?? []).length > 0) {
    lines.push('-H "Authorization: Bearer $HOOKSHELF_API_TOKEN"');
  }
  if (mediaType !== undefined && media !== undefined) {
    const example = media.example ?? exampleOf(media.schema ?? {}, document, 0);
    lines.push(`-H ${shellQuote(`Content-Type: ${mediaType}`)}`);
    lines.push(`-d ${shellQuote(JSON.stringify(example))}`);
  }
  return lines.join(' \\\n  ');
}

/** The smallest value that the schema's required members make. */
function exampleOf(schema: SchemaView, document: DocumentView, depth: number): unknown {
  const known = resolveSchema(schema, document);
  if (known.enum !== undefined) return known.enum[0];
  const type = typeof known.type === 'string' ? known.type : known.type?.[0];
  if (type === 'object' && depth < 4) {
    return Object.fromEntries((known.required ?? []).map((name) =>
      [name, exampleOf(known.properties?.[name] ?? {}, document, depth + 1)]));
  }
  const samples: Readonly<Record<string, unknown>> = {
    array: [], object: {}, integer: known.minimum ?? 1, number: 1, boolean: true,
  };
  return samples[type ?? ''] ?? 'text';
}

function resolveSchema(schema: SchemaView, document: DocumentView): SchemaView {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components?.schemas?.[name] ?? {};
}

function renderMembers(schema: SchemaView): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, member]) => [
    `<code>${escapeHtml(name)}</code><br><span class="note">${typeOf(member)}${
      schema.required?.includes(name) === true ? ', required' : ''}</span>`,
    [
      renderText(member.description ?? ''),
      member.enum === undefined ? '' : escapeHtml(member.enum.join(', ')),
      member.maxLength === undefined ? '' : `at most ${member.maxLength} characters`,
      member.readOnly === true ? 'read-only' : '',
      member.writeOnly === true ? 'write-only' : '',
    ].filter((text) => text !== '').join('; '),
  ]);
  return renderTable(['member', 'rule'], rows);
}

function typeOf(schema: SchemaView): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    return `<a href="#schema-${anchor(name)}">${escapeHtml(name)}</a>`;
  }
  if (schema.items !== undefined) return `${typeOf(schema.items)}[]`;
  return escapeHtml(String(schema.type ?? 'any'));
}

function renderTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map((row) =>
    `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function anchor(text: string): string {
  return encodeURIComponent(text.replace(/^\//, '').replace(/\W+/g, '-'));
}

/** Text of the document, in which `…` is code. */
function renderText(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
