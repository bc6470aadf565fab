/**
 * Parses bodies of the type multipart/form-data (RFC 7578, in the framing of RFC 2046 §5.1). Pure.
 *
 *     preamble, which is ignored
 *     --boundary
 *     Content-Disposition: form-data; name="report"; filename="a.txt"
 *     Content-Type: text/plain
 *
 *     the content, whose last line break belongs to the next delimiter
 *     --boundary--
 *     epilogue, which is ignored
 *
 * Lines end with CR and LF. The boundary, of 1 to 70 characters, is a parameter of the request's
 * Content-Type. A delimiter is a whole line: `--boundary`, or `--boundary--` for the last one, with
 * spaces and tabs behind it at most. A longer line that begins so is content, so that a boundary
 * may begin with another one. A part with a file name is a file, any other is a field of text, in
 * the charset that its Content-Type declares, else the request's. Where none does it is UTF-8, and
 * other bytes become U+FFFD, as in a form.
 *
 * The body is valid if it has its last delimiter, at most 100 parts, and each part a header of at
 * most 16 KiB whose Content-Disposition is form-data with a name, and text in a charset that is
 * known. Anything else, a body that was cut above all, gives null: a part of a form is never taken
 * for the whole.
 *
 * Senders write the quotes within a name in two ways. Browsers, curl and Node write %22, and %0D
 * and %0A for line breaks; RFC 2045 and older programs put a backslash before a quote or another
 * backslash. Both are read. In a header that makes no sense so, as with `filename="C:\"`,
 * backslashes stand for themselves. `filename*` (RFC 8187) wins over `filename`.
 *
 * The time is linear in the body: each byte is looked at a fixed number of times, whatever the
 * boundary is. Memory is that of the body once more, and a third of it for base64.
 */
import { decodeCharset } from '../../../base/text/charset.ts';
import { parseMediaType, readHexByte, resolveCharset } from '../../../base/text/parse-form.ts';

/** A file of a multipart body, as the payload has it. */
type MultipartFile = {
  readonly filename: string;
  /** `text/plain` if its part says none (RFC 7578 §4.4). */
  readonly contentType: string;
  readonly base64: string;
};

/** Names in the order of their first part, each with its values. */
export type MultipartFields = ReadonlyMap<string, readonly (string | MultipartFile)[]>;

export const MULTIPART_TYPE = 'multipart/form-data';
export const PARTS_MAX = 100;

const HEAD_BYTES_MAX = 16 * 1024;
const BOUNDARY = /^[ -~]{1,70}$/;

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const SPACE = 0x20;
const TAB = 0x09;

/** The fields and files; null: the body is not valid, or `contentType` names no boundary. */
export function parseMultipart(
  body: Buffer, contentType: string | undefined,
): MultipartFields | null {
  const { parts, isClosed } = cutParts(body, contentType);
  if (!isClosed || parts.length > PARTS_MAX) return null;
  const requestCharset = resolveCharset(contentType);
  const fields = new Map<string, (string | MultipartFile)[]>();
  for (const bytes of parts) {
    const part = parsePart(bytes);
    const value = part === null ? null : readValue(part, requestCharset);
    if (part === null || value === null) return null;
    const values = fields.get(part.name);
    if (values === undefined) fields.set(part.name, [value]);
    else values.push(value);
  }
  return fields;
}

/** Names the first field that is not in its charset, or in an unknown one; null: there is none. */
export function findUndecodedField(body: Buffer, contentType: string | undefined): string | null {
  const requestCharset = resolveCharset(contentType);
  for (const bytes of cutParts(body, contentType).parts) {
    const part = parsePart(bytes);
    if (part !== null && readValue(part, requestCharset) === null) return part.name;
  }
  return null;
}

/** Whether a body has more than 100 parts, valid or not. */
export function hasTooManyParts(body: Buffer, contentType: string | undefined): boolean {
  return cutParts(body, contentType).parts.length > PARTS_MAX;
}

export function isMultipartType(contentType: string | undefined): boolean {
  return parseMediaType(contentType) === MULTIPART_TYPE;
}

type Parts = {
  /** The header and the content of each part; at most one part more than may be. */
  readonly parts: readonly Buffer[];
  /** Whether the last delimiter is there. */
  readonly isClosed: boolean;
};

function cutParts(body: Buffer, contentType: string | undefined): Parts {
  const boundary = findBoundary(contentType);
  if (boundary === null) return { parts: [], isClosed: false };
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  const parts: Buffer[] = [];
  let delimiter = findDelimiter(body, mark, 0);
  while (delimiter !== null && !delimiter.isLast && parts.length <= PARTS_MAX) {
    const next = findDelimiter(body, mark, delimiter.end);
    // A part that is cut counts as a part.
    parts.push(body.subarray(delimiter.end, next?.start ?? body.length));
    delimiter = next;
  }
  return { parts, isClosed: delimiter?.isLast === true };
}

/** The boundary that a Content-Type names; null: it names none, or a boundary that is too long. */
function findBoundary(contentType = ''): string | null {
  const boundary = parseParameters(contentType)?.get('boundary')?.trimEnd();
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : null;
}

type Delimiter = {
  /** The line break before it, which belongs to it; without one the begin of the body. */
  readonly start: number;
  readonly end: number;
  readonly isLast: boolean;
};

/** The first delimiter from `from` on, where a line begins; null: there is none. */
function findDelimiter(body: Buffer, mark: Buffer, from: number): Delimiter | null {
  let lineStart = from;
  while (lineStart !== -1) {
    const delimiter = readDelimiter(body, mark, lineStart);
    if (delimiter !== null) return delimiter;
    lineStart = findNextLine(body, lineStart);
  }
  return null;
}

// Byte by byte: a search by the platform costs a call, and a body may be nothing but line breaks.
function findNextLine(body: Buffer, from: number): number {
  for (let index = from + 1; index < body.length; index += 1) {
    if (body[index] === LF && body[index - 1] === CR) return index + 1;
  }
  return -1;
}

/** null: the line is no delimiter. */
function readDelimiter(body: Buffer, mark: Buffer, lineStart: number): Delimiter | null {
  for (let index = 0; index < mark.length; index += 1) {
    if (body[lineStart + index] !== mark[index]) return null;
  }
  let end = lineStart + mark.length;
  const isLast = body[end] === DASH && body[end + 1] === DASH;
  if (isLast) end += '--'.length;
  while (body[end] === SPACE || body[end] === TAB) end += 1;
  const isLineEnd = body[end] === CR && body[end + 1] === LF;
  if (!isLineEnd && !(isLast && end === body.length)) return null;
  return { start: Math.max(lineStart - '\r\n'.length, 0), end: end + '\r\n'.length, isLast };
}

type MultipartPart = {
  readonly name: string;
  /** null: the part is no file. */
  readonly filename: string | null;
  readonly contentType: string | undefined;
  readonly content: Buffer;
};

/** null: the part is not valid. */
function parsePart(part: Buffer): MultipartPart | null {
  const { head, content } = cutHead(part);
  const headers = head === null ? null : parseHeaders(head);
  const disposition = headers?.get('content-disposition');
  if (headers === null || disposition === undefined) return null;
  const parameters = parseParameters(disposition);
  const name = parameters?.get('name');
  if (parameters === null || name === undefined || !/^form-data(?:[;\s]|$)/i.test(disposition)) {
    return null;
  }
  return {
    name: decodeName(name), filename: findFilename(parameters),
    contentType: headers.get('content-type'),
    content: decodeTransfer(content, headers.get('content-transfer-encoding')),
  };
}

/** null: the text is not in its charset, or the charset is unknown. */
function readValue(
  { filename, contentType, content }: MultipartPart, requestCharset: string | null,
): string | MultipartFile | null {
  if (filename !== null) {
    const base64 = content.toString('base64');
    return { filename, contentType: contentType ?? 'text/plain', base64 };
  }
  const charset = resolveCharset(contentType) ?? requestCharset;
  if (charset === null) return content.toString('utf8');
  return charset === 'unknown' ? null : decodeCharset(content, charset);
}

/** Cuts a part at its empty line; one that ends there has no content. `head` is null without it. */
function cutHead(part: Buffer): { readonly head: string | null; readonly content: Buffer } {
  const end = part.subarray(0, HEAD_BYTES_MAX).indexOf('\r\n\r\n');
  if (end !== -1) {
    return { head: part.toString('utf8', 0, end), content: part.subarray(end + 4) };
  }
  const isHeadAlone = part.length <= HEAD_BYTES_MAX && part.subarray(-2).equals(LINE_BREAK);
  return { head: isHeadAlone ? part.toString('utf8') : null, content: part.subarray(0, 0) };
}

const LINE_BREAK = Buffer.from('\r\n');

/** The headers by name in lower case; null: a line is none. The first of a name counts. */
function parseHeaders(head: string): ReadonlyMap<string, string> | null {
  const headers = new Map<string, string>();
  // A line that begins with a space goes on with the line before it (RFC 5322 §2.2.3).
  for (const line of head.trimEnd().replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 1 || /\s/.test(name)) return null;
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

// `; name=value` or `; name="value"`; or a `;` alone. The second pattern knows no backslashes.
const PARAMETER = /;[ \t]*(?:([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^";]*)))?[ \t]*/y;
const PLAIN_PARAMETER = /;[ \t]*(?:([^\s=;"]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^";]*)))?[ \t]*/y;

/** The parameters of a header's value by name in lower case; null: they make no sense. */
function parseParameters(value: string): ReadonlyMap<string, string> | null {
  return matchParameters(value, PARAMETER, (text) => text.replace(/\\(["\\])/g, '$1'))
    ?? matchParameters(value, PLAIN_PARAMETER, (text) => text);
}

function matchParameters(
  value: string, pattern: RegExp, unescape: (quoted: string) => string,
): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  let position = value.indexOf(';');
  while (position !== -1 && position < value.length) {
    pattern.lastIndex = position;
    const match = pattern.exec(value);
    if (match === null) return null;
    const [whole, name, quoted, token = ''] = match;
    const text = quoted === undefined ? token.trim() : unescape(quoted);
    const key = name?.toLowerCase();
    if (key !== undefined && !parameters.has(key)) parameters.set(key, text);
    position += whole.length;
  }
  return parameters;
}

/** null: the part is no file. */
function findFilename(parameters: ReadonlyMap<string, string>): string | null {
  const extendedName = parameters.get('filename*');
  const plainName = parameters.get('filename');
  const decodedName = extendedName === undefined ? null : decodeExtended(extendedName);
  if (decodedName !== null) return decodedName;
  return plainName === undefined ? extendedName ?? null : decodeName(plainName);
}

function decodeName(name: string): string {
  return name.replace(/%(22|0D|0A)/gi, (code) => decodeURIComponent(code));
}

/** Decodes a value such as `UTF-8''na%C3%AFve.txt` (RFC 8187 §3.2); null: it is none. */
function decodeExtended(value: string): string | null {
  const [, charset = '', text = ''] = /^([\w-]+)'[\w-]*'([^'"\s]*)$/.exec(value) ?? [];
  try {
    switch (charset.toLowerCase()) {
      case 'utf-8': return decodeURIComponent(text);
      case 'iso-8859-1': return text.replace(/%([0-9a-f]{2})/gi,
        (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
      default: return null;
    }
  } catch {
    return null;
  }
}

/** Decodes a content of an older program (RFC 2045 §6); RFC 7578 §4.7 advises against it. */
function decodeTransfer(content: Buffer, encoding = ''): Buffer {
  switch (encoding.toLowerCase()) {
    case 'base64': return Buffer.from(content.toString('latin1'), 'base64');
    case 'quoted-printable': return decodeQuotedPrintable(content);
    default: return content;
  }
}

const EQUALS_SIGN = 0x3d;

/** Byte by byte: a pattern's function for each code took 0.1 s of a megabyte of them. */
function decodeQuotedPrintable(content: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(content.length);
  let length = 0;
  for (let index = 0; index < content.length; index += 1) {
    const byte = content[index] ?? 0;
    const code = byte === EQUALS_SIGN ? readHexByte(content, index + 1) : -1;
    const breakEnd = byte === EQUALS_SIGN && code < 0 ? findSoftBreakEnd(content, index + 1) : -1;
    if (breakEnd !== -1) {
      index = breakEnd - 1;
      continue;
    }
    bytes[length] = code < 0 ? byte : code;
    length += 1;
    if (code >= 0) index += 2;
  }
  return bytes.subarray(0, length);
}

/** Finds the end of a line break that is no part of the content; -1: there is none. */
function findSoftBreakEnd(content: Buffer, start: number): number {
  let index = start;
  while (content[index] === 0x20 || content[index] === 0x09) index += 1;
  return content[index] === 0x0d && content[index + 1] === 0x0a ? index + 2 : -1;
}

