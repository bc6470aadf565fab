/**
 * Makes the fields of a book by the table of a format: what its rows write, then what
 * `metadata.source` still has from a record of this format, then in the rest field the members that
 * a reader of these fields would not get back.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Book } from '../../book.ts';
import type { FieldRecord, Fields, FormatTable } from './format-table.ts';
import { isSameValue, mapRecord, writeMembers } from './map-record.ts';

export type WrittenRecord = {
  /** The own id of the record that the book came from; null where it came from none. */
  readonly key: string | null;
  readonly fields: Fields;
  /** Whether the book has metadata that the format does not hold. */
  readonly leavesOut: boolean;
};

export function writeRecord(table: FormatTable, book: Book): WrittenRecord {
  const { id, createdAt, updatedAt, metadata, ...members } = book;
  const fields = new Map(writeMembers(table, members as unknown as JsonObject));
  const source = findSource(table, metadata);
  let key: string | null = null;
  for (const [name, value] of Object.entries(source ?? {})) {
    if (table.ownIdFields.includes(name)) key ??= String(value);
    else if (!fields.has(name)) fields.set(name, value);
  }
  if (table.restField !== null) {
    const rest = findRest(table, members as unknown as JsonObject, { key, fields });
    if (rest !== null) fields.set(table.restField, JSON.stringify(rest));
  }
  return { key, fields, leavesOut: leavesOut(table, metadata) };
}

function findSource(table: FormatTable, metadata: JsonObject | undefined): JsonObject | null {
  const source = metadata?.['source'];
  const own = isJsonObject(source) ? source[table.name] : undefined;
  return isJsonObject(own) ? own : null;
}

function leavesOut(table: FormatTable, metadata: JsonObject | undefined): boolean {
  if (metadata === undefined) return false;
  const { source, ...others } = metadata;
  if (Object.keys(others).length > 0) return true;
  return isJsonObject(source)
    ? Object.keys(source).some((name) => name !== table.name) : source !== undefined;
}

/** The members that are not read back from the fields as they are; null: there are none. */
function findRest(
  table: FormatTable, members: JsonObject, { key, fields }: Pick<FieldRecord, 'key' | 'fields'>,
): JsonObject | null {
  const { body } = mapRecord(table, { line: 1, key, type: '', fields });
  const rest = Object.entries(members).filter(([name, value]) =>
    !isSameValue(value, body[name]) && !(name === 'authors' && isNone(value)));
  return rest.length === 0 ? null : Object.fromEntries(rest);
}

function isNone(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
}
