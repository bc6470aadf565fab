/**
 * Makes the fields of a book by the table of a format: what its rows write, then what
 * `metadata.source` still has from a record of this format, then in the rest field the members that
 * a reader of these fields would not get back, and the id of the book where the format has it
 * there. A field of the source that still says what the book has is written as it stood.
 */
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Book } from '../../book.ts';
import { separateMembers } from '../../book-members.ts';
import type { Fields, FormatTable } from './format-table.ts';
import { isSameValue, mapRecord, writeMembers } from './map-record.ts';
import { DIGESTS_MEMBER, SOURCE_MEMBERS, findOwnId, findSource } from './metadata-source.ts';

export type WrittenRecord = {
  /** The own id of the record that the book came from; null where it came from none. */
  readonly key: string | null;
  /** `key`, else the id of the book as the format has it: by it an import knows the book again. */
  readonly ownId: string;
  readonly fields: Fields;
  /** The members of the book of which the format does not hold all, by name. */
  readonly leftOut: readonly string[];
};

export function writeRecord(table: FormatTable, book: Book): WrittenRecord {
  const { id, createdAt, updatedAt, mergedIds, metadata, ...others } = book;
  const members = others as unknown as JsonObject;
  const memberFields = writeMembers(table, members);
  const fields = new Map(memberFields);
  const source = findSource(table.name, metadata) ?? {};
  const original = new Map<string, JsonValue>();
  let hasRefused = false;
  for (const [name, value] of Object.entries(source)) {
    if (table.ownIdFields.includes(name) || name === table.bookIdField) continue;
    if (name === SOURCE_MEMBERS || table.mayHold?.(name, value) === false) {
      hasRefused = true;
    } else {
      original.set(name, value);
      if (!fields.has(name)) fields.set(name, value);
    }
  }
  const changes = listChanges(table, memberFields, original);
  const body = restoreFields(table, members, fields, changes);
  if (table.restField !== undefined) {
    const restId = table.bookIdField === undefined
      ? {} : { id: findOwnId(source, [table.bookIdField]) ?? id };
    const rest = { ...restId, ...findRest(table, members, body) };
    if (Object.keys(rest).length > 0) fields.set(table.restField, encodeJson(rest));
  }
  const key = findOwnId(source, table.ownIdFields);
  const ownId = key ?? `${table.bookIdPrefix ?? ''}${id}`;
  const leftOut = table.restField === undefined ? listLostMembers(table, members, body) : [];
  if (hasRefused || leavesOut(table, metadata)) leftOut.push('metadata');
  return { key, ownId, fields, leftOut };
}

/** Fields that stood otherwise in the source than a row writes them; undefined: not at all. */
type FieldChanges = ReadonlyMap<string, JsonValue | undefined>;

/**
 * The fields that the source had in place of those that the rows write, such as `c1965` for a year
 * that they write as `1965`, or `date` alone for `date` and `year`, row by row. A row that has read
 * a field in part has left all its fields in the source: one that is not there the record did not
 * have.
 */
function listChanges(
  { rows, ownIdFields }: FormatTable, written: Fields, original: Fields,
): readonly FieldChanges[] {
  const rowNames = rows.map(({ from }) => from.filter((name) => !ownIdFields.includes(name)));
  const otherNames = [...original.keys()]
    .filter((name) => !rowNames.some((names) => names.includes(name)));
  const namesOfChanges = [...rowNames, ...otherNames.map((name) => [name])]
    .filter((names) => names.some((name) => original.has(name)));
  return namesOfChanges.map((names) => new Map(names.filter((name) => written.has(name))
    .map((name) => [name, original.get(name)] as const)))
    .filter(({ size }) => size > 0);
}

/**
 * Changes the fields to what the source had, where each member that is read of them is then as the
 * book has it, or no other than before: what a person has changed here since is not undone.
 * Returns the members that are read of the fields then.
 */
function restoreFields(
  table: FormatTable, members: JsonObject, fields: Map<string, JsonValue>,
  changes: readonly FieldChanges[],
): JsonObject {
  const bodyBefore = readBody(table, fields);
  if (changes.length === 0) return bodyBefore;
  let restoredBody = bodyBefore;
  const restore = (change: FieldChanges): boolean => {
    const restoredFields = new Map(fields);
    setFields(restoredFields, change);
    const body = readBody(table, restoredFields);
    const names = new Set([...Object.keys(bodyBefore), ...Object.keys(body)]);
    const isKept = [...names].every((name) => isSameValue(table, body[name], members[name])
      || isSameValue(table, body[name], bodyBefore[name]));
    if (!isKept) return false;
    setFields(fields, change);
    restoredBody = body;
    return true;
  };
  // Together first: most books are as they came.
  const areAllRestored = restore(new Map(changes.flatMap((change) => [...change])));
  if (!areAllRestored && changes.length > 1) changes.forEach(restore);
  return restoredBody;
}

function setFields(fields: Map<string, JsonValue>, changes: FieldChanges): void {
  for (const [name, value] of changes) {
    if (value === undefined) fields.delete(name);
    else fields.set(name, value);
  }
}

/** The members that are read otherwise than the book has them; of `reading` any of its own. */
function listLostMembers(table: FormatTable, members: JsonObject, body: JsonObject): string[] {
  const readMembers = separateMembers(body);
  const lost = Object.entries(separateMembers(members)).filter(([name, value]) =>
    !isNobody(name, value) && !isSameValue(table, value, readMembers[name]));
  return [...new Set(lost.flatMap(([name]) => name.split('.', 1)))];
}

function leavesOut(table: FormatTable, metadata: JsonObject | undefined): boolean {
  if (metadata === undefined) return false;
  const { source, [DIGESTS_MEMBER]: _, ...others } = metadata;
  if (Object.keys(others).length > 0) return true;
  return isJsonObject(source)
    ? Object.keys(source).some((name) => name !== table.name) : source !== undefined;
}

/** The members of the book that is read of the fields. */
function readBody(table: FormatTable, fields: Fields): JsonObject {
  const { metadata, ...body } = mapRecord(table, { line: 1, key: null, type: '', fields }).body;
  return body;
}

/**
 * The members that are read otherwise than the book has them, and as null those that are read
 * though the book has none; none where the fields say it all.
 */
function findRest(table: FormatTable, members: JsonObject, body: JsonObject): JsonObject {
  const rest = new Map<string, JsonValue>();
  for (const name of Object.keys(body)) {
    if (members[name] === undefined || isNobody(name, members[name])) rest.set(name, null);
  }
  for (const [name, value] of Object.entries(members)) {
    if (!isNobody(name, value) && !isSameValue(table, value, body[name])) rest.set(name, value);
  }
  return Object.fromEntries(rest);
}

/** Whether it is the list of authors of a book that has none: an import fills it in. */
function isNobody(member: string, value: JsonValue): boolean {
  return member === 'authors' && Array.isArray(value) && value.length === 0;
}
