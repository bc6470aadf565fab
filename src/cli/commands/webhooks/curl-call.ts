/**
 * The lines of a POSIX shell that repeat a kept request with curl, byte for byte. What is kept of a
 * secret is `***`: the caller gives it in a variable of the environment, and what is a header's
 * goes to curl through a file descriptor, as other users can read arguments. Pure.
 */
import { isUtf8 } from 'node:buffer';
import { escapeLines } from '../../../base/text/printable.ts';
import { shellQuote } from '../../../base/text/shell-quote.ts';

export type RepeatedRequest = {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** In the order and case received, each character a byte. */
  readonly headers: readonly Header[];
  readonly body: Buffer;
};

type Header = readonly [name: string, value: string];
/** A variable of the environment, and what it stands for. */
type Hidden = { readonly variable: string; readonly what: string };

const MASK = '***';
/** Of the connection or the body, and curl's to say. */
const OWN_HEADERS = new Set([
  'host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer',
  'upgrade', 'expect', 'proxy-connection', 'proxy-authorization',
]);
/** What curl says by itself, unless it is told not to. */
const USUAL_HEADERS = ['Accept', 'User-Agent', 'Content-Type'];
// An argument of Linux is at most 128 KiB.
const ARGUMENT_BYTES_MAX = 96 * 1024;

/** Ends without a line break. */
export function curlCall({ method, url, headers, body }: RepeatedRequest): string {
  const given = headers.filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
  const open = given.filter(([, value]) => !value.includes(MASK));
  const secret = given.filter(([, value]) => value.includes(MASK));
  const { word: target, hidden: parameters } = urlWord(url);
  const call = [
    `curl --silent --show-error --globoff ${methodOption(method)}`,
    ...open.map(headerOption),
    ...unsaidHeaders(headers, body).map((name) => `--header ${shellQuote(`${name}:`)}`),
    ...secret.length === 0 ? [] : ['--header @/dev/fd/3'],
    ...body.length === 0 ? [] : [dataOption(body)],
    target,
  ].join(' \\\n  ');
  const hidden = [...parameters, ...secret.map(([name]) =>
    ({ variable: variableOf(name), what: `the header ${name}` }))];
  return [
    ...hidden.map(needed),
    secret.length === 0 ? piped(call, body) : `${piped(call, body)} 3<<HEADERS`,
    ...secret.map(([name]) => `${unexpanded(name)}: $${variableOf(name)}`),
    ...secret.length === 0 ? [] : ['HEADERS'],
  ].join('\n');
}

/** A name may hold what a shell would run or replace within the lines of a here-document. */
function unexpanded(name: string): string {
  return name.replace(/[\\$`]/g, '\\$&');
}

function methodOption(method: string): string {
  return method === 'HEAD' ? '--head' : `--request ${shellQuote(method)}`;
}

function dataOption(body: Buffer): string {
  return isArgument(body) ? `--data-raw ${shellQuote(body.toString('utf8'))}` : '--data-binary @-';
}

function piped(call: string, body: Buffer): string {
  if (body.length === 0 || isArgument(body)) return call;
  return `printf %s ${shellQuote(body.toString('base64'))} | base64 -d | ${call}`;
}

/** Whether a body can stand in an argument, and be read by a person. */
function isArgument(body: Buffer): boolean {
  if (body.length > ARGUMENT_BYTES_MAX || !isUtf8(body)) return false;
  const text = body.toString('utf8');
  return escapeLines(text) === text;
}

function headerOption([name, value]: Header): string {
  // With a colon curl takes a header without a value for one to leave out.
  const line = value === '' ? `${name};` : `${name}: ${value}`;
  return `--header ${/^[\x20-\x7e]*$/.test(line) ? shellQuote(line) : printedWord(line)}`;
}

/** A word that the shell makes of bytes which a terminal would not show as they are. */
function printedWord(line: string): string {
  const format = Buffer.from(line, 'latin1').toString('latin1')
    .replace(/[^\x20-\x7e]|[%\\']/g, (byte) =>
      `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`).replaceAll('\\045', '%%');
  return `"$(printf '${format}')"`;
}

/** Hidden values of the query become variables. */
function urlWord(url: string): { readonly word: string; readonly hidden: readonly Hidden[] } {
  const pieces = url.split(MASK);
  const hidden = pieces.slice(0, -1).map((piece) => {
    const name = parameterAt(piece);
    return { variable: variableOf(name), what: `the parameter ${name}` };
  });
  const word = pieces.map((piece, index) => {
    const { variable } = hidden[index] ?? {};
    return shellQuote(piece) + (variable === undefined ? '' : `"$${variable}"`);
  }).join('');
  return { word, hidden };
}

/** The name of the parameter in whose value a piece of a URL ends. */
function parameterAt(piece: string): string {
  const start = Math.max(piece.lastIndexOf('?'), piece.lastIndexOf('&')) + 1;
  const equals = piece.indexOf('=', start);
  return equals <= start ? 'query' : piece.slice(start, equals);
}

function needed({ variable, what }: Hidden): string {
  return `: "\${${variable}:?must hold ${what.replace(/[^\w -]/g, '_')}, which is not shown}"`;
}

function unsaidHeaders(headers: readonly Header[], body: Buffer): string[] {
  const said = new Set(headers.map(([name]) => name.toLowerCase()));
  return USUAL_HEADERS.filter((name) => !said.has(name.toLowerCase())
    && (name !== 'Content-Type' || body.length > 0));
}

function variableOf(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '_').replace(/^(?=\d)/, '_');
}
