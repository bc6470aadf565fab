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

type MergedMetadata = {
  readonly metadata: JsonObject | undefined;
  readonly leftOut: readonly string[];
};

function mergeMetadata(
  stored: JsonValue | undefined, added: JsonValue | undefined, ownIdFields: readonly string[],
): MergedMetadata {
  if (!isJsonObject(stored) || !isJsonObject(added)) {
    return { metadata: isJsonObject(added) ? added : asObject(stored), leftOut: [] };
  }
  const merge = new MetadataMerge(stored);
  const { source, ...others } = added;
  if (!isJsonObject(source)) {
    merge.addOthers(added);
    return merge;
  }
  merge.addOthers(others);
  for (const [format, fields] of Object.entries(source)) {
    if (isJsonObject(fields)) merge.addSource(format, fields, ownIdFields);
  }
  return merge;
}

/** The metadata of a book, to which a record adds what has room. */
class MetadataMerge {
  metadata: JsonObject;
  readonly leftOut: string[] = [];

  constructor(stored: JsonObject) {
    this.metadata = stored;
  }

  /** Adds members beside `source`, or a `source` that is no object. */
  addOthers(members: JsonObject): void {
    const { metadata } = this;
    const rest = Object.entries(metadata).filter(([name]) => !Object.hasOwn(members, name));
    const room = METADATA_BYTES_MAX - bytesOf(Object.fromEntries(rest));
    this.#add(members, [], room, (fields) => ({ ...metadata, ...fields }));
  }

  /** Adds what a source says, in the place of what the same source has said before. */
  addSource(format: string, members: JsonObject, ownIdFields: readonly string[]): void {
    const { metadata, metadata: { source = {} } } = this;
    if (!isJsonObject(source)) {
      // It is the caller's own.
      this.leftOut.push(...Object.keys(members));
      return;
    }
    const place = (fields: JsonObject): JsonObject =>
      ({ ...metadata, source: { ...source, [format]: fields } });
    // No comma follows the last one.
    const room = METADATA_BYTES_MAX - bytesOf(place({})) + 1;
    this.#add(members, ownIdFields, room, place);
  }

  #add(
    members: JsonObject, ownIdFields: readonly string[], bytesMax: number,
    place: (fields: JsonObject) => JsonObject,
  ): void {
    const { kept, leftOut } =
      fitFields(new Map(Object.entries(members)), ownIdFields, { bytesMax, depthMax: Infinity });
    this.leftOut.push(...leftOut);
    if (kept.size > 0) this.metadata = place(Object.fromEntries(kept));
  }
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function bytesOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}
