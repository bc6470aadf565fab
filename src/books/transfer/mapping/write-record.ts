/**
 * Makes the fields of a book by the table of a format: what its rows write, then what
 * `metadata.source` still has from a record of this format, then in the rest field the members that
 * a reader of these fields would not get back. A field of the source that still says what the book
 * has is written as it stood.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Book } from '../../book.ts';
import type { Fields, FormatTable } from './format-table.ts';
import { isSameValue, mapRecord, writeMembers } from './map-record.ts';
import { findOwnId, findSource } from './metadata-source.ts';

type WrittenRecord = {
  /** The own id of the record that the book came from; null where it came from none. */
  readonly key: string | null;
  /** That, else the id of the book as the format has it: by it an import knows the book again. */
  readonly ownId: string;
  readonly fields: Fields;
  /** Whether the book has metadata that the format does not hold. */
  readonly leavesOut: boolean;
};

export function writeRecord(table: FormatTable, book: Book): WrittenRecord {
  const { id, createdAt, updatedAt, metadata, ...others } = book;
  const members = others as unknown as JsonObject;
  const fields = new Map(writeMembers(table, members));
  const source = findSource(table.name, metadata) ?? {};
  // What the source had in fields that the rows write too, such as `c1965` for a year that they
  // write as `1965`. It is written where no less of the book is read from it, so that what a person
  // has changed here since is not undone.
  const original = new Map<string, JsonValue>();
  let hasRefused = false;
  for (const [name, value] of Object.entries(source)) {
    if (table.ownIdFields.includes(name)) continue;
    if (table.mayHold?.(name, value) === false) hasRefused = true;
    else if (fields.has(name)) original.set(name, value);
    else fields.set(name, value);
  }
  const isAllSaid = table.restField === null && original.size === 0;
  let rest = isAllSaid ? null : findRest(table, members, fields);
  if (original.size > 0) {
    const originalRest = findRest(table, members, new Map([...fields, ...original]));
    if (isWithin(originalRest ?? {}, rest ?? {})) {
      for (const [name, value] of original) fields.set(name, value);
      rest = originalRest;
    }
  }
  if (rest !== null && table.restField !== null) fields.set(table.restField, JSON.stringify(rest));
  const key = findOwnId(source, table.ownIdFields);
  const ownId = key ?? `${table.bookIdPrefix ?? ''}${id}`;
  return { key, ownId, fields, leavesOut: hasRefused || leavesOut(table, metadata) };
}

/** Whether the one object has nothing that the other does not have too. */
function isWithin(inner: JsonObject, outer: JsonObject): boolean {
  return Object.entries(inner).every(([name, value]) =>
    Object.hasOwn(outer, name) && isDeepStrictEqual(value, outer[name]));
}

function leavesOut(table: FormatTable, metadata: JsonObject | undefined): boolean {
  if (metadata === undefined) return false;
  const { source, ...others } = metadata;
  if (Object.keys(others).length > 0) return true;
  return isJsonObject(source)
    ? Object.keys(source).some((name) => name !== table.name) : source !== undefined;
}

/**
 * The members that are not read back from the fields as they are, and as null those that are read
 * though the book has none; null: the fields say it all.
 */
function findRest(table: FormatTable, members: JsonObject, fields: Fields): JsonObject | null {
  const { metadata, ...body } = mapRecord(table, { line: 1, key: null, type: '', fields }).body;
  const rest = new Map<string, JsonValue>();
  for (const name of Object.keys(body)) {
    if (members[name] === undefined || isNobody(name, members[name])) rest.set(name, null);
  }
  for (const [name, value] of Object.entries(members)) {
    if (!isNobody(name, value) && !isSameValue(table, value, body[name])) rest.set(name, value);
  }
  return rest.size === 0 ? null : Object.fromEntries(rest);
}

/** Whether it is the list of authors of a book that has none: an import fills it in. */
function isNobody(member: string, value: JsonValue): boolean {
  return member === 'authors' && Array.isArray(value) && value.length === 0;
}
