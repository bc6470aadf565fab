/**
 * Makes a book of a field record by the table of its format. Nothing is lost in silence: each field
 * that no row reads whole, and each whose value the model refuses, goes as it stood to
 * `metadata.source` under the format's name, as does the record's own id, while it fits; what does
 * not fit goes, the longest first, and is named in `leftOut`.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJsonRecord } from '../../../base/json/parse.ts';
import type { JsonObject, JsonValue, ObjectSchema } from '../../../base/schema.ts';
import { bookSchema } from '../../book.ts';
import type { Book } from '../../book.ts';
import {
  acceptMember, acceptReadingMember, explainRefusal, hasContradiction,
} from './accept-member.ts';
import { fitFields } from './fit-fields.ts';
import { findReadingName } from './format-table.ts';
import type { FieldRecord, Fields, FormatTable } from './format-table.ts';

type MappedRecord = {
  /** A book as an import takes it, perhaps without a title. */
  readonly body: JsonObject;
  /** Why it has no title, in the source's words; absent: it has one. */
  readonly titleProblem?: string;
  /** The fields that did not fit into `metadata`, by their names. */
  readonly leftOut: readonly string[];
  /** The members whose values are in doubt, or refused by the model; absent: none. */
  readonly putAside?: readonly string[];
};

// `metadata` holds 16 KiB and 8 levels, of which `{"source":{"<format>":…}}` takes two and the rest
// is room for a second source.
const SOURCE_ROOM = { bytesMax: 16_000, depthMax: 5 };

/** `heldMembers`: the book has them already, so no row reads them, and the body has them too. */
export function mapRecord(
  table: FormatTable, record: FieldRecord, heldMembers: JsonObject = {},
): MappedRecord {
  const { body, unread, refused } = readMembers(table, record, heldMembers);
  const bookId = table.restField === undefined ? null : addRest(table, record, body, unread);
  const source = new Map<string, JsonValue>();
  const [ownIdField] = table.ownIdFields;
  if (record.key !== null && ownIdField !== undefined
    && !table.ownIdFields.some((name) => record.fields.has(name))) {
    source.set(ownIdField, record.key);
  }
  if (bookId !== null && table.bookIdField !== undefined) source.set(table.bookIdField, bookId);
  for (const [name, value] of record.fields) {
    if (unread.has(name) && !isEmpty(value)) source.set(name, value);
  }
  const { kept, leftOut } = fitFields(source, table.ownIdFields, SOURCE_ROOM);
  const metadata = { source: { [table.name]: Object.fromEntries(kept) } };
  const result = {
    body: kept.size === 0 ? body : { ...body, metadata }, leftOut,
    ...refused.size === 0 ? {} : { putAside: [...refused] },
  };
  if (body['title'] !== undefined) return result;
  return { ...result, titleProblem: explainMissingTitle(table, record) };
}

/** Names the fields that a title is read from, or says what is wrong with the one in them. */
function explainMissingTitle(table: FormatTable, record: FieldRecord): string {
  const rows = table.rows.filter(({ member }) => member === 'title');
  for (const { from: [name = ''], read } of rows) {
    const value = read(record)?.value;
    const refusal = value === undefined ? null : explainRefusal('title', value);
    if (refusal !== null) return `is required: that in \`${name}\` ${refusal}`;
  }
  const names = rows.flatMap(({ from }) => from).map((name) => `\`${name}\``);
  const last = names.pop() ?? '';
  const list = names.length === 0 ? last : `${names.join(', ')} or ${last}`;
  return `is required: the record has no text in ${list}`;
}

type ReadMembers = {
  readonly body: Record<string, JsonValue>;
  /** The fields that no row says whole. */
  readonly unread: Set<string>;
  /** The members whose values are in doubt, or refused by the model, at least in part. */
  readonly refused: ReadonlySet<string>;
};

function readMembers(
  table: FormatTable, record: FieldRecord, heldMembers: JsonObject,
): ReadMembers {
  const body: Record<string, JsonValue> = { ...heldMembers };
  const reading: Record<string, JsonValue> =
    isJsonObject(body['reading']) ? { ...body['reading'] } : {};
  const unread = new Set(record.fields.keys());
  const refused = new Set<string>();
  for (const row of table.rows) {
    const readingName = findReadingName(row.member);
    const value = readingName === null ? body[row.member] : reading[readingName];
    if (value !== undefined && row.isRepetition !== true) continue;
    const read = row.read(record);
    if (read === undefined) continue;
    const isTaken = value === undefined
      ? read.value === null || addMember(body, reading, row.member, read.value)
      : read.value === value;
    // A later row may read another field for the member.
    if (isTaken && read.isDoubtful !== true) refused.delete(row.member);
    else if (value === undefined) refused.add(row.member);
    for (const name of row.from) {
      if (isTaken && read.isWhole && !table.ownIdFields.includes(name)) unread.delete(name);
    }
  }
  if (Object.keys(reading).length > 0) body['reading'] = reading;
  return { body, unread, refused };
}

/** Adds what the model takes of the value; returns whether that is all of it. */
export function addMember(
  body: Record<string, JsonValue>, reading: Record<string, JsonValue>, member: string,
  value: JsonValue, schema: ObjectSchema = bookSchema,
): boolean {
  const readingName = findReadingName(member);
  if (readingName === null) {
    const acceptance = acceptMember(member, value, schema);
    if (acceptance !== null) body[member] = acceptance.value;
    return acceptance?.isWhole === true;
  }
  const acceptance = acceptReadingMember(readingName, value);
  if (acceptance === null) return false;
  reading[readingName] = acceptance.value;
  // To copy the members for each that is added would take 1 µs more.
  if (!hasContradiction(reading)) return acceptance.isWhole;
  Reflect.deleteProperty(reading, readingName);
  return false;
}

/**
 * Adds the members of the rest field; null is one that the book does not have. One is ignored whose
 * fields have been changed since they were written, by a person or another program: what can be
 * seen counts. Returns the id of the book that the field has, or null.
 */
function addRest(
  table: FormatTable, record: FieldRecord, body: Record<string, JsonValue>, unread: Set<string>,
): string | null {
  const rest = parseRest(record.fields.get(table.restField ?? ''));
  if (rest === null) return null;
  const { id, ...others } = rest;
  const bookId = typeof id === 'string' ? id : null;
  unread.delete(table.restField ?? '');
  const members = new Map<string, JsonValue | null>();
  for (const [member, value] of Object.entries(others)) {
    if (value === null) {
      members.set(member, value);
      continue;
    }
    const acceptance = acceptMember(member, value);
    if (acceptance !== null) members.set(member, acceptance.value);
  }
  // Together first: a title and a subtitle, which one field says, can only change together.
  if (addUnseen(table, record.fields, body, [...members])) return bookId;
  for (const entry of members) addUnseen(table, record.fields, body, [entry]);
  return bookId;
}

/**
 * Adds the members of a rest to the body, and says whether it did. It does not where a field shows
 * that the book was changed after the rest was written. Each field that is written of the book with
 * the members has to be the field that is written without them, or the one that the record has:
 * a rest with `title` `Dune` is not added to a record whose `TI` is now `Dune Messiah`.
 */
function addUnseen(
  table: FormatTable, fields: Fields, body: Record<string, JsonValue>,
  members: readonly (readonly [member: string, value: JsonValue | null])[],
): boolean {
  const newBody = new Map(Object.entries(body));
  for (const [member, value] of members) {
    if (value === null) newBody.delete(member);
    else newBody.set(member, value);
  }
  const newFields = writeMembers(table, Object.fromEntries(newBody));
  const oldFields = writeMembers(table, body);
  const isUnseen = [...new Set([...newFields.keys(), ...oldFields.keys()])].every((name) =>
    isSameValue(table, newFields.get(name), oldFields.get(name))
    || isSameValue(table, newFields.get(name), fields.get(name)));
  if (!isUnseen) return false;
  for (const [member, value] of members) {
    if (value === null) Reflect.deleteProperty(body, member);
    else body[member] = value;
  }
  return true;
}

/** The members that a rest field holds; null where it is none that we wrote. */
export function parseRest(value: JsonValue | undefined): JsonObject | null {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const record = parseJsonRecord(Buffer.from(value));
    return isJsonObject(record) ? record : null;
  } catch (thrown) {
    if (thrown instanceof AppError) return null;
    throw thrown;
  }
}

/** The fields that the rows of a table write of a book, in their order. */
export function writeMembers(table: FormatTable, body: JsonObject): Fields {
  // A broken record may have no title.
  const book = { title: '', authors: [], ...body } as unknown as Book;
  const fields = new Map<string, JsonValue>();
  for (const row of table.rows) {
    for (const [name, value] of row.write?.(book) ?? []) {
      if (!fields.has(name)) fields.set(name, value);
    }
  }
  return fields;
}

/** Whether two values are the same to a format, which may make a run of white space a blank. */
export function isSameValue(
  { keepsSpace = false }: FormatTable, left: JsonValue | undefined, right: JsonValue | undefined,
): boolean {
  if (keepsSpace) return isDeepStrictEqual(left, right);
  return isDeepStrictEqual(foldSpace(left), foldSpace(right));
}

function foldSpace(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return foldBlanks(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => foldSpace(item) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value)
    .map(([name, item]) => [name, foldSpace(item) ?? null]));
}

function isEmpty(value: JsonValue): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.every(isEmpty))
    || (isJsonObject(value) && Object.keys(value).length === 0);
}
