/**
 * A template of a body: a text with placeholders, `{{ path.to.value }}`. For a JSON type it is JSON
 * text with placeholders in its strings; for any other it is the text itself, in which values are
 * escaped as the type asks. Pure.
 *
 * In JSON, only strings with a placeholder are changed, so that numbers, the order of members and
 * white space stay as they are. Values are encoded as JSON, so that the result is valid JSON for
 * any values. Names of members are never filled.
 *
 * The result is not scanned again, and nothing is evaluated. Placeholders, and how `\{{` escapes
 * them, are those of base/json/placeholders.ts.
 */
import { AppError } from '../../../base/errors.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { parseJson } from '../../../base/json/parse.ts';
import type { JsonPath } from '../../../base/json/path.ts';
import {
  fillPieces, formatPlaceholderValue, rememberPaths, splitPlaceholders,
} from '../../../base/json/placeholders.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { findStringEnd, isMemberName } from '../../../base/text/json-value-end.ts';
import { isJsonType } from './content-type.ts';
import { chooseEscape } from './escape-value.ts';

export type BodyTemplate = {
  readonly paths: readonly JsonPath[];
  /** The body as text. Throws `too_large` if it passes `lengthMax` characters. */
  readonly fill: (readValue: ReadValue, lengthMax?: number) => string;
};

/**
 * Parses the text of a placeholder; null: it is no path. Throws `malformed` for a path that says
 * more of what is wrong.
 */
type ParsePlaceholder = (text: string) => JsonPath | null;

/** Reads the value at a path; undefined: there is none. */
export type ReadValue = (path: JsonPath) => JsonValue | undefined;

/** A value's place. `isAlone`: it is all of a JSON string, which becomes the value. */
type Slot = { readonly path: JsonPath; readonly isAlone: boolean };
/** The text to copy, and the places of values in it. */
type Pieces = readonly (string | Slot)[];

/** A template may repeat a value many times. So much takes 5 ms of CPU, 20 if it is escaped. */
export const FILLED_LENGTH_MAX = 2 * 1024 * 1024;

/**
 * Throws `malformed`, with line and column, for a placeholder that is not closed or has no valid
 * path, and for a JSON type for a text that is not JSON.
 */
export function parseBodyTemplate(
  source: string, contentType: string, parsePlaceholder: ParsePlaceholder,
): BodyTemplate {
  const parsers = {
    parseSlot: rememberPaths((path) => createSlot(parsePlaceholder(path), false)),
    parseAlone: rememberPaths((path) => createSlot(parsePlaceholder(path), true)),
  };
  const isJson = isJsonType(contentType);
  const pieces = isJson ? parseJsonPieces(source, parsers) : parsePieces(source, parsers);
  const escape = isJson ? escapeText : chooseEscape(contentType);
  return {
    paths: pieces.flatMap((piece) => typeof piece === 'string' ? [] : [piece.path]),
    fill(readValue, lengthMax = FILLED_LENGTH_MAX) {
      const createTooLong = (): AppError =>
        new AppError('too_large', `The filled template passes ${lengthMax} characters`);
      return fillPieces(pieces, ({ path, isAlone }) => {
        const value = readValue(path) ?? null;
        if (isAlone && typeof value !== 'string') return encodeJson(value);
        const text = formatPlaceholderValue(value);
        // Before it is escaped, which takes long and never shortens it.
        if (text.length > lengthMax) throw createTooLong();
        return isAlone ? encodeJson(text) : escape(text);
      }, lengthMax, createTooLong);
    },
  };
}

/** Read the place of a value, with the same result for the same path. */
type SlotParsers = Readonly<Record<'parseSlot' | 'parseAlone', (path: string) => Slot | null>>;

function createSlot(path: JsonPath | null, isAlone: boolean): Slot | null {
  return path === null ? null : { path, isAlone };
}

function parsePieces(text: string, { parseSlot }: SlotParsers): Pieces {
  return splitPlaceholders(text, {
    parsePath: parseSlot,
    createError: (index, problem) => createTemplateError(text, index, problem),
  }) ?? [text];
}

function parseJsonPieces(source: string, parsers: SlotParsers): Pieces {
  // A byte order mark is accepted, as in every JSON text, and is no part of it (RFC 8259 §8.1).
  const text = source.replace(/^\ufeff/, '');
  if (text.trim() === '') throw new AppError('malformed', 'is empty; it must be JSON');
  // For its error alone: the text is filled, not the value.
  parseTemplateJson(Buffer.from(text, 'utf8'));
  const pieces: (string | Slot)[] = [];
  let copiedEnd = 0;
  let index = text.indexOf('"');
  while (index !== -1) {
    const end = findStringEnd(text, index);
    const raw = text.slice(index, end);
    // Most strings have no brace, neither plain nor as \u007b: they need not be decoded.
    if (!isMemberName(text, end) && (raw.includes('{') || raw.includes('\\u'))) {
      const stringPieces = parseString(text, index, raw, parsers);
      if (stringPieces !== null) {
        pieces.push(text.slice(copiedEnd, index), ...stringPieces);
        copiedEnd = end;
      }
    }
    index = text.indexOf('"', end);
  }
  pieces.push(text.slice(copiedEnd));
  return pieces;
}

/** Parses a template like `parseJson`, but says of a placeholder without quotes what is missing. */
export function parseTemplateJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    const index = findUnquotedPlaceholder(text);
    // A text that begins otherwise is no JSON with or without the quotes.
    if (index === -1 || !/^\s*[[{"]/.test(text)) throw thrown;
    throw createTemplateError(text, index,
      'put the placeholder in quotes, as in "{{ path.to.value }}": alone '
      + 'in its string it becomes the value itself');
  }
}

/** A text as it stands between the quotes of a JSON string. */
function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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

/**
 * Parses a string of the template. `raw` is its JSON text, `start` the index of that in `text`.
 * null: the string has neither a placeholder nor an escaped `{{`, and stays as it is.
 */
function parseString(
  text: string, start: number, raw: string, { parseSlot, parseAlone }: SlotParsers,
): Pieces | null {
  const content = String(JSON.parse(raw));
  const createError = (contentIndex: number, problem: string): AppError =>
    createTemplateError(text, start + toRawIndex(raw, contentIndex), problem);
  const pieces = splitPlaceholders(content, { parsePath: parseSlot, createError });
  if (pieces === null) return null;
  const isValueAlone = pieces.length === 1 && typeof pieces[0] === 'object';
  if (isValueAlone) return splitPlaceholders(content, { parsePath: parseAlone, createError });
  return ['"', ...pieces.map((piece) => typeof piece === 'string' ? escapeText(piece) : piece),
    '"'];
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

function createTemplateError(text: string, index: number, problem: string): AppError {
  const lines = text.slice(0, index).split('\n');
  // Columns count characters, not code units.
  const column = [...lines.at(-1) ?? ''].length + 1;
  return new AppError('malformed', `${problem} (line ${lines.length}, column ${column})`);
}
