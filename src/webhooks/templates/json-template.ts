/**
 * Parses and fills templates of JSON bodies: JSON text with `{{ path.to.value }}` in its strings.
 * Pure.
 *
 * Only strings with a placeholder are changed, so that numbers, the order of members and white
 * space stay as they are. Values are encoded as JSON, so that the result is valid JSON for any
 * values. The result is not scanned again: a value with `{{` in it is not expanded. Names of
 * members are never filled.
 *
 * Placeholders, and how `\{{` escapes one, are those of base/json/placeholders.ts.
 */
import { AppError } from '../../base/errors.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJson } from '../../base/json/parse.ts';
import type { JsonPath } from '../../base/json/path.ts';
import { formatPlaceholderValue, splitPlaceholders } from '../../base/json/placeholders.ts';
import {
  createTemplateError, createTooLongError, type ParsePlaceholder, type ReadValue,
} from './placeholder.ts';

type JsonTemplate = {
  readonly parts: readonly Part[];
  /** The paths of its placeholders. */
  readonly paths: readonly JsonPath[];
};

/**
 * `text`: JSON text to copy. `value`: a string that is one placeholder, and becomes the value.
 * `string`: a string that has placeholders in its text, or an escaped `{{`.
 */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: JsonPath }
  | { readonly kind: 'string'; readonly pieces: readonly Piece[] };
/** Text, or the path of a value. */
type Piece = string | JsonPath;

/**
 * Throws `malformed`, with line and column, for a text that is not JSON, and for a placeholder that
 * is not closed or has no valid path.
 */
export function parseJsonTemplate(
  source: string, parsePlaceholder: ParsePlaceholder,
): JsonTemplate {
  // A byte order mark is accepted, as in every JSON text, and is no part of it (RFC 8259 §8.1).
  const text = source.replace(/^\ufeff/, '');
  if (text.trim() === '') throw new AppError('malformed', 'is empty; it must be JSON');
  // For its error alone: the text is filled, not the value.
  parseTemplateJson(Buffer.from(text, 'utf8'));
  const parts: Part[] = [];
  let copiedEnd = 0;
  let index = text.indexOf('"');
  while (index !== -1) {
    const end = findStringEnd(text, index);
    const raw = text.slice(index, end);
    // Most strings have no brace, neither plain nor as \u007b: they need not be decoded.
    if (!isMemberName(text, end) && (raw.includes('{') || raw.includes('\\u'))) {
      const part = parseString(text, index, raw, parsePlaceholder);
      if (part !== null) {
        parts.push({ kind: 'text', text: text.slice(copiedEnd, index) }, part);
        copiedEnd = end;
      }
    }
    index = text.indexOf('"', end);
  }
  parts.push({ kind: 'text', text: text.slice(copiedEnd) });
  return { parts, paths: parts.flatMap(listPaths) };
}

/** Parses a template like `parseJson`, but says of a placeholder without quotes what is missing. */
export function parseTemplateJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    const index = findUnquotedPlaceholder(text);
    if (index === -1) throw thrown;
    throw createTemplateError(text, index,
      'put the placeholder in quotes, as in "{{ path.to.value }}": alone '
      + 'in its string it becomes the value itself');
  }
}

/** The filled template as JSON text. Throws `too_large` if it passes `lengthMax`. */
export function fillJsonTemplate(
  parts: JsonTemplate['parts'], readValue: ReadValue, lengthMax: number,
): string {
  let json = '';
  for (const part of parts) {
    json += fillPart(part, readValue, lengthMax);
    if (json.length > lengthMax) throw createTooLongError(lengthMax);
  }
  return json;
}

function fillPart(part: Part, readValue: ReadValue, lengthMax: number): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'value') {
    const value = readValue(part.path) ?? null;
    if (typeof value === 'string' && value.length > lengthMax) throw createTooLongError(lengthMax);
    return encodeJson(value);
  }
  let text = '';
  for (const piece of part.pieces) {
    text += typeof piece === 'string' ? piece : formatPlaceholderValue(readValue(piece));
    // Before it is escaped, which takes long and never shortens it.
    if (text.length > lengthMax) throw createTooLongError(lengthMax);
  }
  return JSON.stringify(text);
}

function listPaths(part: Part): readonly JsonPath[] {
  if (part.kind === 'text') return [];
  return part.kind === 'value' ? [part.path]
    : part.pieces.filter((piece) => typeof piece === 'object');
}

/** The index after the closing quote of the string that opens at `start`, in valid JSON. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}

/** The index of the first `{{` outside of strings, which is never valid JSON; -1: there is none. */
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

/** Whether the string that ends before `end` is the name of a member: a colon follows it. */
function isMemberName(text: string, end: number): boolean {
  let index = end;
  while (' \t\n\r'.includes(text[index] ?? '!')) index += 1;
  return text[index] === ':';
}

/**
 * Parses a string of the template. `raw` is its JSON text, `start` the index of that in `text`.
 * null: the string has neither a placeholder nor an escaped `{{`, and stays as it is.
 */
function parseString(
  text: string, start: number, raw: string, parsePlaceholder: ParsePlaceholder,
): Part | null {
  const content = String(JSON.parse(raw));
  const createError = (contentIndex: number, problem: string): AppError =>
    createTemplateError(text, start + toRawIndex(raw, contentIndex), problem);
  const pieces = splitPlaceholders(content, { parsePath: parsePlaceholder, createError });
  if (pieces === null) return null;
  const [only] = pieces;
  const isValueAlone = pieces.length === 1 && typeof only === 'object';
  return isValueAlone ? { kind: 'value', path: only } : { kind: 'string', pieces };
}

/** Converts an index of a string's content to that in its JSON text, with quotes and escapes. */
function toRawIndex(raw: string, contentIndex: number): number {
  let index = 1;
  for (let count = 0; count < contentIndex; count += 1) {
    if (raw[index] !== '\\') index += 1;
    else index += raw[index + 1] === 'u' ? 6 : 2;
  }
  return index;
}
