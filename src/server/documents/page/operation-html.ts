/** Renders an operation: its summary, a curl line, its parameters, body and responses. */
import { shellQuote } from '../../../base/text/shell-quote.ts';
import type {
  ResponseView, DocumentView, MediaView, OperationView, ParameterView,
} from './document-view.ts';
import { toAnchor, escapeHtml, renderCode, renderTable, renderText } from './html.ts';
import { buildExample, isAnything, renderRule, renderShape, renderType } from './schema-html.ts';

export type PathOperation = {
  readonly path: string;
  readonly method: string;
  /** The method as the page shows it. */
  readonly label: string;
  readonly operation: OperationView;
};

export function renderOperation(
  pathOperation: PathOperation, baseUri: string, document: DocumentView,
): string {
  const { path, method, label, operation } = pathOperation;
  const { description, parameters = [], responses = {} } = operation;
  const id = toAnchor(operation.operationId ?? `${method}${path}`);
  return `<details><summary id="${id}"><span class="method ${label}">${label.toUpperCase()}</span>`
    + `<code>${escapeHtml(path)}</code><span class="what">${renderText(operation.summary ?? '')}`
    + '</span></summary><div>'
    + `<p class="about">${description === undefined ? '' : `${renderText(description)} `}`
    + `<a href="#${id}">Link to this</a></p>`
    + renderCode(escapeHtml(formatCurlLine(pathOperation, baseUri, document)))
    + renderTable(['parameter', 'type', 'meaning'], parameters.map(parameterRow))
    + renderBody(operation, document)
    + renderTable(['answer', 'body', 'meaning'], Object.entries(responses).map(responseRow))
    + `${renderResponseShape(responses, document)}</div></details>`;
}

function parameterRow({ name = '', description = '', ...rest }: ParameterView): string[] {
  const { schema = {} } = rest;
  const position = `${escapeHtml(rest.in ?? '')}${rest.required === true ? ', required' : ''}`;
  const meaning = [renderText(description), renderRule({ ...schema, description: '' })];
  return [
    `<code>${escapeHtml(name)}</code><br><span class="note">${position}</span>`,
    `<code>${renderType(schema)}</code>`,
    meaning.filter((text) => text !== '').join('<br>'),
  ];
}

function renderBody({ requestBody }: OperationView, document: DocumentView): string {
  const [first] = Object.entries(requestBody?.content ?? {});
  if (first === undefined) return '';
  const types = Object.keys(requestBody?.content ?? {}).map((type) =>
    `<code>${escapeHtml(type)}</code>`).join(' or ');
  const optional = requestBody?.required === false ? ', optional' : '';
  const schema = first[1].schema ?? {};
  return `<h3>Body</h3><p>${renderType(schema)}, as ${types}${optional}</p>`
    + renderShapeBlock(renderShape(schema, document, ({ readOnly }) => readOnly !== true));
}

function responseRow([status, { description = '', headers = {}, content = {} }]: [
  string, ResponseView,
]): string[] {
  const bodies = Object.entries(content).map(([mediaType, { schema = {} }]) => {
    const hasType = !isAnything(schema) && /json$/.test(mediaType);
    return hasType ? `<code>${renderType(schema)}</code>`
      : `<span class="note">${escapeHtml(mediaType)}</span>`;
  });
  const names = Object.entries(headers).map(([name, header]) =>
    `<br><span class="note"><code>${escapeHtml(name)}</code>: ${
      renderText(header.description ?? '')}</span>`);
  return [
    `<code>${escapeHtml(status)}</code>`, bodies.join('<br>'),
    renderText(description) + names.join(''),
  ];
}

function renderResponseShape(
  responses: Readonly<Record<string, ResponseView>>, document: DocumentView,
): string {
  const [success] = Object.entries(responses).filter(([status, { content }]) =>
    status.startsWith('2') && content !== undefined);
  if (success === undefined) return '';
  const [status, { content = {} }] = success;
  const [media]: readonly MediaView[] = Object.values(content);
  const shape = renderShape(media?.schema ?? {}, document);
  if (shape === '') return '';
  return `<h3>Answer ${escapeHtml(status)}</h3><p>${renderType(media?.schema ?? {})}</p>`
    + renderShapeBlock(shape);
}

function renderShapeBlock(shape: string): string {
  return shape === '' ? '' : `<pre class="shape"><code>${shape}</code></pre>`;
}

/** JSON has a line for each member, but in formats with a record on each line. */
function formatCurlLine(
  pathOperation: PathOperation, baseUri: string, document: DocumentView,
): string {
  const { path, method, operation } = pathOperation;
  const [mediaType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}`
    + shellQuote(baseUri + path.replace(/\{(\w+)\.*\}/g, (_, name: string) => name.toUpperCase()))];
  if ((operation.security ?? []).length > 0) {
    lines.push('-H "Authorization: Bearer $HOOKSHELF_API_TOKEN"');
  }
  if (mediaType !== undefined && media !== undefined) {
    const example = media.example ?? buildExample(media.schema ?? {}, document);
    const indent = /json$/.test(mediaType) ? 2 : 0;
    lines.push(`-H ${shellQuote(`Content-Type: ${mediaType}`)}`);
    lines.push(`-d ${shellQuote(JSON.stringify(example, null, indent))}`.replaceAll('\n', '\n  '));
  }
  return lines.join(' \\\n  ');
}
