/**
 * What an update makes of a stored book and a record that matches it: the members that the record
 * has, and of the book's members the others. Metadata are merged member by member, and what sources
 * say format by format. Where the 16 KiB of metadata have no room for all of it, what the book has
 * stays, and of what the record brings the longest is left out.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { METADATA_BYTES_MAX, bookSchema } from '../../book.ts';
import { fitFields } from '../mapping/fit-fields.ts';

type MergedRecord = {
  /** The book's members without its id and dates, in the order in which they are stored. */
  readonly members: JsonObject;
  /** The fields that have no room, by name. */
  readonly leftOut: readonly string[];
};

/** `ownIdFields` are the last of a source's fields to be left out. */
export function mergeRecord(
  book: JsonObject, record: JsonObject, ownIdFields: readonly string[],
): MergedRecord {
  const { metadata, leftOut } = mergeMetadata(book['metadata'], record['metadata'], ownIdFields);
  const members: Record<string, JsonValue> = {};
  for (const name of Object.keys(bookSchema.members)) {
    const value = isSaid(record, name) ? record[name] : book[name];
    if (value !== undefined) members[name] = value;
  }
  return { members: metadata === undefined ? members : { ...members, metadata }, leftOut };
}

/** Whether the record says the member of its own accord. */
function isSaid(record: JsonObject, name: string): boolean {
  const value = record[name];
  // An import gives each record a list of authors.
  if (name === 'authors') return Array.isArray(value) && value.length > 0;
  // A list of ISBNs knows no titles.
  if (name === 'title') return value !== createStandInTitle(String(record['isbn']));
  return value !== undefined;
}

/** What stands for the title of a book of which the ISBN alone is known. */
function createStandInTitle(isbn: string): string {
  return `ISBN ${isbn}`;
}

type MergedMetadata<Metadata extends JsonObject | undefined = JsonObject> = {
  readonly metadata: Metadata;
  readonly leftOut: readonly string[];
};

function mergeMetadata(
  stored: JsonValue | undefined, added: JsonValue | undefined, ownIdFields: readonly string[],
): MergedMetadata<JsonObject | undefined> {
  if (!isJsonObject(stored) || !isJsonObject(added)) {
    return { metadata: isJsonObject(added) ? added : asObject(stored), leftOut: [] };
  }
  const { source, ...others } = added;
  if (!isJsonObject(source)) return addMembers(stored, added);
  let { metadata, leftOut } = addMembers(stored, others);
  for (const [format, fields] of Object.entries(source)) {
    if (!isJsonObject(fields)) continue;
    const merged = addSource(metadata, format, fields, ownIdFields);
    metadata = merged.metadata;
    leftOut = [...leftOut, ...merged.leftOut];
  }
  return { metadata, leftOut };
}

/** Adds members beside `source`, or a `source` that is no object. */
function addMembers(stored: JsonObject, members: JsonObject): MergedMetadata {
  // No comma follows the last member of all.
  const bytesMax = METADATA_BYTES_MAX - bytesOf(stored) + (isEmpty(stored) ? 1 : 0);
  const { kept, leftOut } = fitFields(
    new Map(Object.entries(members)), [], { bytesMax, depthMax: Infinity, stored });
  return { metadata: { ...stored, ...Object.fromEntries(kept) }, leftOut };
}

/** Adds what a source says, in the place of what the same source has said before. */
function addSource(
  metadata: JsonObject, format: string, fields: JsonObject, ownIdFields: readonly string[],
): MergedMetadata {
  const { source = {} } = metadata;
  // It is the caller's own.
  if (!isJsonObject(source)) return { metadata, leftOut: Object.keys(fields) };
  const place = (placed: JsonObject): JsonObject =>
    ({ ...metadata, source: { ...source, [format]: placed } });
  // No comma follows the last one.
  const bytesMax = METADATA_BYTES_MAX - bytesOf(place({})) + 1;
  const { kept, leftOut } = fitFields(
    new Map(Object.entries(fields)), ownIdFields, { bytesMax, depthMax: Infinity });
  if (kept.size === 0) return { metadata, leftOut };
  return { metadata: place(Object.fromEntries(kept)), leftOut };
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}

function bytesOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}
