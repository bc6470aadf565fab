/**
 * The head of an answer: its status, its headers, and how its body is framed (RFC 9112 §6.3). As
 * strict as node:http's own parser, and with its error codes: what two programs could read in two
 * ways is refused, as answers can be smuggled through it.
 *
 *     HTTP/1.1 200 OK␍␊
 *     Content-Length: 2␍␊
 *     ␍␊
 */
import type { IncomingHttpHeaders } from 'node:http';

/** Bytes of the body to come; or it is in chunks; or it ends with the connection. */
type Framing = number | 'chunked' | 'close';

export type AnswerHead = {
  readonly statusCode: number;
  /** Lower-case names and values in turn. */
  readonly fields: readonly string[];
  readonly framing: Framing;
  /** Whether the server says nothing against a further request on the connection. */
  readonly isKeptAlive: boolean;
};

const STATUS_LINE_PATTERN = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const TOKEN_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// A value's bytes, and line ends: anything else is a control character.
const CONTROL_PATTERN = /[^\t\r\n\x20-\x7e\x80-\xff]/;
const NAMES_MAX = 1000;
// The same few names come with every answer. Holds names alone, so sharing it is no shared state.
const lowerNames = new Map<string, string>();

/**
 * Reads a head without its empty line, as Latin-1. `hasNoBody`: the request was a HEAD. Throws an
 * error with a code `HPE_…` for what is not HTTP.
 */
export function parseAnswerHead(text: string, hasNoBody: boolean): AnswerHead {
  const lineEnd = text.indexOf('\r\n');
  const statusLine = lineEnd === -1 ? text : text.slice(0, lineEnd);
  const status = STATUS_LINE_PATTERN.exec(statusLine);
  if (status === null || CONTROL_PATTERN.test(text)) {
    throw syntaxError(status === null ? 'HPE_INVALID_CONSTANT' : 'HPE_INVALID_HEADER_TOKEN');
  }
  const fields = lineEnd === -1 ? [] : parseFields(text, lineEnd + 2);
  const statusCode = Number(status[2]);
  return {
    statusCode,
    fields,
    framing: framingOf(statusCode, fields, hasNoBody),
    isKeptAlive: isKeptAlive(status[1] === '1', fields),
  };
}

export function syntaxError(code: string): Error {
  return Object.assign(new Error('the answer is not valid HTTP'), { code });
}

/** As node:http gives headers: lists joined, what comes once taken once, cookies in an array. */
export function headersOf(fields: readonly string[]): IncomingHttpHeaders {
  const headers = new Map<string, string | string[]>();
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const value = fields[index + 1] ?? '';
    const before = headers.get(name);
    if (name === 'set-cookie') headers.set(name, [...before ?? [], value]);
    else if (before === undefined) headers.set(name, value);
    else if (!SINGLE.has(name)) headers.set(name, `${String(before)}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** The first value of a header; its name in lower case. */
export function fieldOf(fields: readonly string[], name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === name) return fields[index + 1];
  }
  return undefined;
}

/** Headers of which node:http takes the first and no other. */
const SINGLE: ReadonlySet<string> = new Set([
  'age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host',
  'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards',
  'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent',
]);

function parseFields(text: string, start: number): string[] {
  const fields: string[] = [];
  for (let at = start; at < text.length;) {
    const found = text.indexOf('\r\n', at);
    const end = found === -1 ? text.length : found;
    const line = text.slice(at, end);
    // A line break of either half alone, or a value that goes on in the next line.
    if (line.includes('\n') || line.includes('\r')) throw syntaxError('HPE_CR_EXPECTED');
    const colon = line.indexOf(':');
    if (colon === -1) throw syntaxError('HPE_INVALID_HEADER_TOKEN');
    fields.push(lowerName(line.slice(0, colon)), trimmed(line, colon + 1));
    at = end + 2;
  }
  return fields;
}

function lowerName(name: string): string {
  const known = lowerNames.get(name);
  if (known !== undefined) return known;
  if (!TOKEN_PATTERN.test(name)) throw syntaxError('HPE_INVALID_HEADER_TOKEN');
  if (lowerNames.size >= NAMES_MAX) lowerNames.clear();
  const lower = name.toLowerCase();
  lowerNames.set(name, lower);
  return lower;
}

/** Without spaces and tabs at its ends; `trim` would take a no-break space as well. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function framingOf(
  statusCode: number, fields: readonly string[], hasNoBody: boolean,
): Framing {
  let length: number | null = null;
  let coding: string | null = null;
  for (let index = 0; index < fields.length; index += 2) {
    const value = fields[index + 1] ?? '';
    if (fields[index] === 'content-length') {
      if (length !== null) throw syntaxError('HPE_UNEXPECTED_CONTENT_LENGTH');
      if (!/^\d{1,15}$/.test(value)) throw syntaxError('HPE_INVALID_CONTENT_LENGTH');
      length = Number(value);
    } else if (fields[index] === 'transfer-encoding') {
      coding = coding === null ? value : `${coding}, ${value}`;
    }
  }
  if (coding !== null && length !== null) throw syntaxError('HPE_UNEXPECTED_CONTENT_LENGTH');
  if (hasNoBody || statusCode < 200 || statusCode === 204 || statusCode === 304) return 0;
  if (coding === null) return length ?? 'close';
  return /(?:^|,)[ \t]*chunked$/i.test(coding) ? 'chunked' : 'close';
}

function isKeptAlive(isVersion11: boolean, fields: readonly string[]): boolean {
  let isKept = isVersion11;
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] !== 'connection') continue;
    const value = fields[index + 1]?.toLowerCase() ?? '';
    if (value === 'keep-alive') isKept = true;
    else if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/.test(value)) return false;
  }
  return isKept;
}
