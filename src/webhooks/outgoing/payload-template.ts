/**
 * Payload templates: JSON text with `{{ path.to.value }}` inside its strings. Pure.
 *
 * The template's text is kept as it is but for the strings that hold a placeholder, so numbers,
 * order and white space survive. What is put in is always encoded as JSON, so the result
 * is valid JSON whatever the payload; it is never scanned again, so values are not expanded twice.
 * Nothing is evaluated, and only own members and array elements are read.
 */
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJson } from '../../base/json/parse.ts';
import { findOwnMember, parsePath, findValueAt, type JsonPath } from '../../base/json/path.ts';
import type { JsonValue } from '../../base/schema.ts';

export type Template = readonly Part[];

/** Text kept as it is, a whole string that is one value, or a string with values in its text. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: JsonPath }
  | { readonly kind: 'string'; readonly pieces: readonly Piece[] };
/** The path from the payload on; empty is all of it. */
type Piece = string | JsonPath;

/** A filled template may repeat the payload; this bounds how often. */
const FILLED_LENGTH_MAX = 8 * 1024 * 1024;

const WHOLE_PAYLOAD = 'payload';

/** Throws `malformed` with line and column: not JSON, an open, empty or malformed placeholder. */
export function parseTemplate(source: string): Template {
  // A byte order mark is accepted, as in every JSON text, and is no part of it (RFC 8259 §8.1).
  const text = source.replace(/^\ufeff/, '');
  if (text.trim() === '') throw new AppError('malformed', 'is empty; it must be JSON');
  parseTemplateJson(Buffer.from(text, 'utf8'));
  const parts: Part[] = [];
  let copiedEnd = 0;
  let index = text.indexOf('"');
  while (index !== -1) {
    const end = findStringEnd(text, index);
    const raw = text.slice(index, end);
    // Most strings hold no brace at all, written out or as \u007b.
    if (!isMemberName(text, end) && (raw.includes('{') || raw.includes('\\u'))) {
      const part = parseString(text, index, raw);
      if (part !== null) {
        parts.push({ kind: 'text', text: text.slice(copiedEnd, index) }, part);
        copiedEnd = end;
      }
    }
    index = text.indexOf('"', end);
  }
  parts.push({ kind: 'text', text: text.slice(copiedEnd) });
  return parts;
}

/** The template as JSON, as `parseJson`; a placeholder that lacks its quotes is named as such. */
export function parseTemplateJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    const open = findUnquotedPlaceholder(text);
    if (open === -1) throw thrown;
    throw malformedTemplateError(text, open,
      'put the placeholder in quotes, as in "{{ path.to.value }}": alone '
      + 'in its string it becomes the value itself');
  }
}

/** JSON text. Throws `too_large` when the result would pass `FILLED_LENGTH_MAX`. */
export function fillTemplate(template: Template, payload: JsonValue): string {
  let filled = '';
  for (const part of template) {
    filled += fillPart(part, payload);
    if (filled.length > FILLED_LENGTH_MAX) {
      throw new AppError('too_large', `The filled template passes ${FILLED_LENGTH_MAX} characters`);
    }
  }
  return filled;
}

function fillPart(part: Part, payload: JsonValue): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'value') return encodeJson(readValue(payload, part.path) ?? null);
  let text = '';
  for (const piece of part.pieces) {
    text += typeof piece === 'string' ? piece : formatValue(readValue(payload, piece));
    if (text.length > FILLED_LENGTH_MAX) break;
  }
  return JSON.stringify(text);
}

function formatValue(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : encodeJson(value);
}

/** `payload` may come first, where the payload has no member of that name. */
function readValue(payload: JsonValue, path: JsonPath): JsonValue | undefined {
  const isPrefixed = path[0] === WHOLE_PAYLOAD
    && findOwnMember(payload, WHOLE_PAYLOAD) === undefined;
  return findValueAt(payload, isPrefixed ? path.slice(1) : path);
}

/** The index after the closing quote of the string that opens at `start`, in valid JSON. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}

/** Where `{{` stands outside all strings, which no JSON has; -1 for nowhere. */
function findUnquotedPlaceholder(text: string): number {
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') isInString = !isInString;
    else if (isInString && character === '\\') index += 1;
    else if (!isInString && character === '{' && text[index + 1] === '{') return index;
  }
  return -1;
}

function isMemberName(text: string, end: number): boolean {
  let index = end;
  while (' \t\n\r'.includes(text[index] ?? '!')) index += 1;
  return text[index] === ':';
}

/** null: the string holds neither a placeholder nor an escaped `{{`, and stands as it is. */
function parseString(text: string, start: number, raw: string): Part | null {
  const decoded = String(JSON.parse(raw));
  const fail = (index: number, problem: string): never => {
    throw malformedTemplateError(text, start + toRawIndex(raw, index), problem);
  };
  const pieces: Piece[] = [];
  let literal = '';
  let index = 0;
  while (index < decoded.length) {
    const open = decoded.indexOf('{{', index);
    if (open === -1) break;
    if (decoded[open - 1] === '\\' && open > index) {
      literal += `${decoded.slice(index, open - 1)}{{`;
      index = open + 2;
      continue;
    }
    const close = decoded.indexOf('}}', open + 2);
    if (close === -1) fail(open, 'a placeholder is opened with {{ and not closed with }}');
    const path = parsePlaceholder(decoded.slice(open + 2, close));
    if (path === null) fail(open, 'a placeholder needs a path such as {{ path.to.value }}');
    literal += decoded.slice(index, open);
    if (literal !== '') pieces.push(literal);
    literal = '';
    pieces.push(path ?? []);
    index = close + 2;
  }
  if (index === 0) return null;
  literal += decoded.slice(index);
  if (literal !== '') pieces.push(literal);
  const [only] = pieces;
  const isValueAlone = pieces.length === 1 && typeof only === 'object';
  return isValueAlone ? { kind: 'value', path: only } : { kind: 'string', pieces };
}

function parsePlaceholder(source: string): JsonPath | null {
  const trimmed = source.trim();
  if (trimmed === WHOLE_PAYLOAD) return [];
  const path = trimmed.split('.').map((step) => step.trim()).join('.');
  return path.includes('{') ? null : parsePath(path);
}

/** Where the decoded string's `decodedIndex` stands in its raw text, quotes and escapes counted. */
function toRawIndex(raw: string, decodedIndex: number): number {
  let index = 1;
  for (let count = 0; count < decodedIndex; count += 1) {
    if (raw[index] !== '\\') index += 1;
    else index += raw[index + 1] === 'u' ? 6 : 2;
  }
  return index;
}

function malformedTemplateError(text: string, index: number, problem: string): AppError {
  const before = text.slice(0, index).split('\n');
  const column = [...before.at(-1) ?? ''].length + 1;
  return new AppError('malformed', `${problem} (line ${before.length}, column ${column})`);
}
