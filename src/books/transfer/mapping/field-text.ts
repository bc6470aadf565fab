/** Readers of texts of fields, in forms that many programs write. */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { LIST_ITEMS_MAX } from '../../book.ts';
import { parsePageCount } from './book-text.ts';
import { whole } from './format-table.ts';
import type { FieldRecord, MemberRow, RowValue } from './format-table.ts';

// No member of a book takes more than 30,000 characters. A list of two million, each an object,
// would take hundreds of megabytes before it was refused.
const TEXT_LENGTH_MAX = 128 * 1024;
/** One more than the model takes of a list, so that it tells of those that it refuses. */
const LIST_LENGTH_MAX = LIST_ITEMS_MAX + 1;

/**
 * The text of a field without the white space around it, also of a number of JSON; empty where it
 * has none, or one that is too long for any member, which is kept or left out as it is.
 */
export function textOf(record: FieldRecord, name: string): string {
  const value = record.fields.get(name);
  if (isJsonNumber(value)) return String(value);
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX ? value.trim() : '';
}

/** The first items of a list or of the members of an object, or the one value of the field. */
export function listOf(record: FieldRecord, name: string): readonly JsonValue[] {
  const value = record.fields.get(name);
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.slice(0, LIST_LENGTH_MAX);
  return isJsonObject(value) ? Object.values(value).slice(0, LIST_LENGTH_MAX) : [value];
}

/** A row that takes the text of a field as it is. */
export function makeTextRow(member: MemberRow['member'], name: string): MemberRow {
  return {
    member, from: [name],
    read(record) {
      const text = textOf(record, name);
      return text === '' ? undefined : whole(text);
    },
  };
}

/** A number of pages, as `374` or `374 p.`. */
export function readPages(text: string): RowValue | undefined {
  const count = parsePageCount(text);
  return count === null ? undefined : whole(count);
}

/** Keywords with commas between them. */
export function readKeywords(text: string): RowValue | undefined {
  const keywords = text.split(',').map((keyword) => keyword.trim())
    .filter((keyword) => keyword !== '');
  return keywords.length === 0 ? undefined : whole(keywords);
}
