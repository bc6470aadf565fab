/** Texts of fields: how values hold them, and readers of forms that many programs write. */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { LIST_ITEMS_MAX } from '../../book.ts';
import { part, whole } from './format-table.ts';
import type { FieldRecord, RowValue } from './format-table.ts';

/** The texts of a field, and whether they are all that the field says. */
export type FieldTexts = { readonly texts: readonly string[]; readonly isWhole: boolean };

export type TextReader = (text: string) => RowValue | undefined;

// No member of a book takes more than 100,000 characters, of two units at most. A list of two
// million, each an object, would take hundreds of megabytes before it was refused.
export const TEXT_LENGTH_MAX: number = 256 * 1024;
/** One more than the model takes of a list, so that it tells of those that it refuses. */
export const LIST_LENGTH_MAX: number = LIST_ITEMS_MAX + 1;

/** More than the model takes of any list, and read in a few milliseconds. */
const LIST_PIECES_MAX = 1000;

const NUMBERS = /^[0-9]+$/;

/**
 * The first items of a list, or the one value of a field. An object whose members are numbered is a
 * list too: PHP writes one with gaps so.
 */
export function listItems({ fields }: FieldRecord, name: string): readonly JsonValue[] {
  const value = fields.get(name) ?? null;
  if (value === null) return [];
  if (Array.isArray(value)) return value.slice(0, LIST_LENGTH_MAX);
  const isNumbered = isJsonObject(value) && Object.keys(value).every((key) => NUMBERS.test(key));
  return isNumbered ? Object.values(value).slice(0, LIST_LENGTH_MAX) : [value];
}

/**
 * The texts and numbers of a field as they stand, but for empty ones; one that is too long for any
 * member is kept or left out as it is.
 */
export function listTexts(record: FieldRecord, name: string): FieldTexts {
  return readTexts(record, name, (text) => text);
}

/** The texts of a field without the white space around them. */
export function listTrimmedTexts(record: FieldRecord, name: string): FieldTexts {
  return readTexts(record, name, (text) => text.trim());
}

const NO_TEXTS: FieldTexts = { texts: [], isWhole: true };

function readTexts(
  record: FieldRecord, name: string, clean: (text: string) => string,
): FieldTexts {
  // Most rows read fields that the record does not have.
  if (!record.fields.has(name)) return NO_TEXTS;
  const items = listItems(record, name);
  const texts: string[] = [];
  let isWhole = items.length < LIST_LENGTH_MAX;
  for (const item of items) {
    const isText = typeof item === 'string' ? item.length <= TEXT_LENGTH_MAX : isJsonNumber(item);
    const text = isText ? clean(String(item)) : '';
    if (text !== '') texts.push(text);
    isWhole &&= isText;
  }
  return { texts, isWhole };
}

/** The first text of a field without the white space around it; empty where it has none. */
export function textOf(record: FieldRecord, name: string): string {
  return listTrimmedTexts(record, name).texts[0] ?? '';
}

/** The value of the first text that has one; part where the field says more. */
export function readFirst(
  { texts, isWhole }: FieldTexts, read: TextReader = whole,
): RowValue | undefined {
  for (const text of texts) {
    const value = read(text);
    if (value !== undefined) return isWhole && texts.length === 1 ? value : part(value.value);
  }
  return undefined;
}

/** The value that texts say in several ways; part where one of them says another or none. */
export function readAlike(texts: readonly string[], read: TextReader): RowValue | undefined {
  const values = texts.map(read);
  const first = values.find((value) => value !== undefined);
  if (first === undefined) return undefined;
  const areAlike = values.every((value) => value?.isWhole === true && value.value === first.value);
  return areAlike ? first : part(first.value);
}

const PAGE_COUNT = /^([0-9]{1,6})(?: ?(?:pp?|pg|pages)\.?)?$/i;

/**
 * A number of pages, as `374` or `374 p.`; 0 is what programs write that know none: the member is
 * absent, and the field stays in `metadata.source`.
 */
export function readPages(text: string): RowValue | undefined {
  const [, digits] = PAGE_COUNT.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const count = Number(digits);
  return count === 0 ? part(null) : whole(count);
}

/** The pieces of a list; of too many the text alone, which the model refuses: it is too long. */
export function splitPieces(text: string, separator: string): readonly string[] {
  const pieces = text.split(separator, LIST_PIECES_MAX + 1);
  return pieces.length > LIST_PIECES_MAX ? [text] : pieces;
}

/** Keywords with commas between them, or semicolons where there is no comma. */
export function readKeywords(text: string): RowValue | undefined {
  return readWords(splitPieces(text, text.includes(',') ? ',' : ';'));
}

/** The texts of a list, each of which is a keyword. */
export function readWords(texts: readonly string[]): RowValue | undefined {
  const words = texts.map((word) => word.trim()).filter((word) => word !== '');
  return words.length === 0 ? undefined : whole(words);
}

/** Authors that are known by their names alone. */
export function toAuthors(names: Iterable<string>): RowValue | undefined {
  const authors = Array.from(names, (name) => ({ name }));
  return authors.length === 0 ? undefined : whole(authors);
}

const SUBTITLE_SEPARATOR = ': ';

/**
 * Title and subtitle of a text that may say both, `Animal Farm: A Fairy Story`; nothing where it is
 * blank.
 */
export function splitTitle(text: string): readonly string[] {
  const end = text.indexOf(SUBTITLE_SEPARATOR);
  const title = end < 0 ? '' : text.slice(0, end).trim();
  const subtitle = end < 0 ? '' : text.slice(end + SUBTITLE_SEPARATOR.length).trim();
  if (title !== '' && subtitle !== '') return [title, subtitle];
  return text.trim() === '' ? [] : [text];
}

/** The text of both, as `splitTitle` takes it apart. */
export function joinTitle(title: string, subtitle = ''): string {
  return [title, subtitle].map((text) => text.trim()).filter((text) => text !== '')
    .join(SUBTITLE_SEPARATOR);
}
