/**
 * Formats lines for a POSIX shell that repeat a stored request with curl, byte for byte. A secret
 * is stored as `***`: the user sets it as an environment variable, and a secret header goes to
 * curl through a file descriptor, as other users can read arguments. Pure. For example:
 *
 *   : "${AUTHORIZATION:?must hold the header Authorization, which is not shown}"
 *   curl --silent --show-error --globoff --request 'POST' \
 *     --header 'Content-Type: application/json' \
 *     --header @/dev/fd/3 \
 *     --data-raw '{}' \
 *     'https://example.com/webhook/in/ci' 3<<HEADERS
 *   Authorization: $AUTHORIZATION
 *   HEADERS
 */
import { MASK } from '../../../base/log.ts';
import { isUtf8 } from 'node:buffer';
import { CONNECTION_HEADERS } from '../../../base/network/connection-headers.ts';
import { escapeLines } from '../../../base/text/printable.ts';
import { shellQuote } from '../../../base/text/shell-quote.ts';

export type RequestToRepeat = {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** The headers in the order and case received, each character a byte. */
  readonly headers: readonly Header[];
  readonly body: Buffer;
};

type Header = readonly [name: string, value: string];
/** An environment variable, and the secret that it holds. */
type SecretVariable = { readonly variable: string; readonly what: string };

// Variables that a shell or a login sets: the requirement would not notice that the user did not.
const COMMON_VARIABLES = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'OLDPWD',
  'IFS', 'TERM', 'LANG', 'HOSTNAME', 'HOST', 'MAIL', 'UID', 'EDITOR', 'DISPLAY', 'TMPDIR']);

/** Headers that curl adds by itself unless it is told not to. */
const CURL_HEADERS = ['Accept', 'User-Agent', 'Content-Type'];
// Linux allows 128 KiB for an argument.
const ARGUMENT_BYTES_MAX = 96 * 1024;

/** Ends without a line break. */
export function formatCurlCall({ method, url, headers, body }: RequestToRepeat): string {
  // curl sets the headers of the connection itself.
  const ownHeaders = headers.filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()));
  const plainHeaders = ownHeaders.filter(([, value]) => !value.includes(MASK));
  const secretHeaders = ownHeaders.filter(([, value]) => value.includes(MASK));
  const { word: target, variables } = formatUrl(url);
  const call = [
    `curl --silent --show-error --globoff ${formatMethod(method)}`,
    ...plainHeaders.map(formatHeader),
    ...listHeadersToSuppress(headers, body).map((name) => `--header ${shellQuote(`${name}:`)}`),
    ...secretHeaders.length === 0 ? [] : ['--header @/dev/fd/3'],
    ...body.length === 0 ? [] : [formatData(body)],
    target,
  ].join(' \\\n  ');
  const secrets = [...variables, ...secretHeaders.map(([name]) =>
    ({ variable: toVariableName(name), what: `the header ${name}` }))];
  return [
    ...secrets.map(formatRequirement),
    secretHeaders.length === 0 ? pipeBody(call, body) : `${pipeBody(call, body)} 3<<HEADERS`,
    ...secretHeaders.map(([name]) => `${escapeExpansion(name)}: $${toVariableName(name)}`),
    ...secretHeaders.length === 0 ? [] : ['HEADERS'],
  ].join('\n');
}

/** A shell would expand `$`, backticks and backslashes of a name in a here-document. */
function escapeExpansion(name: string): string {
  return name.replace(/[\\$`]/g, '\\$&');
}

function formatMethod(method: string): string {
  return method === 'HEAD' ? '--head' : `--request ${shellQuote(method)}`;
}

function formatData(body: Buffer): string {
  return isFitForArgument(body) ? `--data-raw ${shellQuote(body.toString('utf8'))}`
    : '--data-binary @-';
}

function pipeBody(call: string, body: Buffer): string {
  if (body.length === 0 || isFitForArgument(body)) return call;
  return `printf %s ${shellQuote(body.toString('base64'))} | base64 -d | ${call}`;
}

/** Whether the body is short and readable enough for an argument. */
function isFitForArgument(body: Buffer): boolean {
  if (body.length > ARGUMENT_BYTES_MAX || !isUtf8(body)) return false;
  const text = body.toString('utf8');
  return escapeLines(text) === text;
}

function formatHeader([name, value]: Header): string {
  // curl sends an empty header only when it ends with a semicolon; with a colon it omits it.
  const line = value === '' ? `${name};` : `${name}: ${value}`;
  return `--header ${/^[\x20-\x7e]*$/.test(line) ? shellQuote(line) : formatPrintf(line)}`;
}

/** A shell word made by printf, for bytes that a terminal would not show as they are. */
function formatPrintf(line: string): string {
  const format = line.replace(/[^\x20-\x7e]|[%\\']/g, (byte) => byte === '%' ? '%%'
    : `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"$(printf '${format}')"`;
}

/** Quotes the URL; masked values of the query become variables. */
function formatUrl(
  url: string,
): { readonly word: string; readonly variables: readonly SecretVariable[] } {
  const pieces = url.split(MASK);
  const variables = pieces.slice(0, -1).map((piece) => {
    const name = findLastParameter(piece);
    return { variable: toVariableName(name), what: `the parameter ${name}` };
  });
  const word = pieces.map((piece, index) => {
    const { variable } = variables[index] ?? {};
    return shellQuote(piece) + (variable === undefined ? '' : `"$${variable}"`);
  }).join('');
  return { word, variables };
}

/** The name of the parameter whose value begins at the end of `piece`; `query` without one. */
function findLastParameter(piece: string): string {
  const start = Math.max(piece.lastIndexOf('?'), piece.lastIndexOf('&')) + 1;
  const equals = piece.indexOf('=', start);
  return equals <= start ? 'query' : piece.slice(start, equals);
}

function formatRequirement({ variable, what }: SecretVariable): string {
  return `: "\${${variable}:?must hold ${what.replace(/[^\w -]/g, '_')}, which is not shown}"`;
}

function listHeadersToSuppress(headers: readonly Header[], body: Buffer): string[] {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  return CURL_HEADERS.filter((name) => !names.has(name.toLowerCase())
    && (name !== 'Content-Type' || body.length > 0));
}

function toVariableName(name: string): string {
  const variable = name.toUpperCase().replace(/[^A-Z0-9]/g, '_').replace(/^(?=\d)/, '_');
  return COMMON_VARIABLES.has(variable) ? `${variable}_VALUE` : variable;
}
