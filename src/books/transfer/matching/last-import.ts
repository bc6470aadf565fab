/**
 * Digests of what a source said of a book at its last import. By them a later import tells what
 * the source has changed since from what was edited here, and leaves the latter as it is.
 *
 * They are stored in the metadata of the book:
 *
 *     "metadata":{"x-hookshelf":{"<format>":"<digests>"}}
 *
 * A digest is 7 characters, the CRC-32 of `<name>:<value as JSON>` in base 36, and there is one for
 * each single member that the record said (`reading.rating`), and for each that the book still has
 * as an earlier record said it, one behind the other in any order: 364 bytes at most. Metadata are
 * one member, and each name in them beside `source`, a column of a reader's own table, is another
 * (`metadata.Lent to`), with 7 bytes more; those of another export of the program have a digest of
 * their own. A member whose digest is among them was not changed in the source.
 *
 * Without digests all that a record says counts as changed. A book has none if it was made here, if
 * no file of the format has made or changed it, if its metadata were replaced since, or if the
 * 16 KiB of metadata have no room for them.
 */
import { crc32 } from 'node:zlib';
import { isJsonObject } from '../../../base/fields.ts';
import { countJsonBytes, encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { METADATA_BYTES_MAX } from '../../book.ts';
import { METADATA_PREFIX, joinMembers, separateMembers } from '../../book-members.ts';
import {
  DIGESTS_MEMBER, asObject, findOwnId, findSource, putObject,
} from '../mapping/metadata-source.ts';
import type { MatchMode, SourceFormat } from './book-import.ts';
import { isSaid, selectOtherExports } from './merge-record.ts';

const DIGEST_LENGTH = 7;
const METADATA = 'metadata';

/**
 * The book with digests of what the record says, where there is room. The book stays as it is where
 * `digestFormat` is null, or where a caller has something else in their place. `stored` is the book
 * before the import. What a source has changed, and a book that is filled does not take, has none:
 * a later import takes it. So has what a table of one's own says otherwise than such a book: that
 * stands in the file alone.
 */
export function putDigests(
  book: JsonObject, record: JsonObject,
  { digestFormat: format, source, onMatch }: Pick<MatchMode, 'digestFormat' | 'source' | 'onMatch'>,
  stored: JsonObject,
): JsonObject {
  if (format === null) return book;
  const said = createDigests(nameMembers(record));
  const before = findDigests(stored, format) ?? [];
  const isTaken = onMatch === 'fill' && (source === null || before.length > 0)
    ? createTakenCheck(book, format, before) : () => true;
  const digests = new Set(said.filter(isTaken));
  const earlierDigests = before.filter((digest) => !digests.has(digest));
  if (earlierDigests.length > 0) {
    const staying = new Set(createStayingDigests(book, record, source, stored));
    for (const digest of earlierDigests) if (staying.has(digest)) digests.add(digest);
  }
  return writeDigests(book, format, [...digests], stored);
}

/** Whether the source said it before, or the book has it now, its own metadata as a whole. */
function createTakenCheck(
  book: JsonObject, format: string, before: readonly string[],
): (digest: string) => boolean {
  const { source, ...others } = asObject(book[METADATA]);
  const fields = findSource(format, book[METADATA]);
  const metadata = { ...others, ...fields === null ? {} : { source: { [format]: fields } } };
  const taken = new Set([
    ...before, ...createDigests(nameMembers(book)),
    digestMember(omitDigests({ metadata }, format), METADATA),
  ]);
  return (digest) => taken.has(digest);
}

/**
 * The digests of what the book still has of earlier records: each value, and the metadata from
 * other exports of the program. Without them it would be taken for set here. The values of a book
 * without an own id have none: its next record is known by its wording.
 */
function createStayingDigests(
  book: JsonObject, record: JsonObject, source: SourceFormat | null, stored: JsonObject,
): readonly string[] {
  const values = createDigests(nameMembers(book));
  if (source === null) return values;
  const { format, ownIdFields } = source;
  const fields = findSource(format, record[METADATA]) ?? {};
  const others = selectOtherExports(findSource(format, stored[METADATA]) ?? {}, fields, source);
  return [
    ...findOwnId(fields, ownIdFields) === null ? [] : values,
    ...Object.keys(others).length === 0 ? [] : [digestSource(format, others)],
  ];
}

/** A source that is read again without its file: see reread-sources.ts. */
export type RereadSource = {
  readonly format: string;
  /** Its record, as far as the book tells: single members, also those that stay. */
  readonly record: JsonObject;
  /** The single members that were read just now. */
  readonly readNames: readonly string[];
  /** The fields of the source before. */
  readonly fieldsBefore: JsonObject;
};

/**
 * The book with the digests that its source has now: of the last import all but its metadata, and
 * those of the members that were read again. Without digests of a last import all that the record
 * says counts.
 */
export function updateDigests(
  book: JsonObject, { format, record, readNames, fieldsBefore }: RereadSource, stored: JsonObject,
): JsonObject {
  const digestsBefore = findDigests(stored, format);
  const isRead = ([name]: readonly [string, JsonValue]): boolean =>
    digestsBefore === null || name === METADATA || readNames.includes(name);
  const before = new Set(digestsBefore);
  before.delete(digestSource(format, fieldsBefore));
  const digests = createDigests(Object.fromEntries(Object.entries(record).filter(isRead)));
  return writeDigests(book, format, [...before, ...digests], stored);
}

/** All that a record says, as one text that another record has only if it says the same. */
export function createWording(record: JsonObject): string {
  return [...new Set(createDigests(nameMembers(record)))].sort().join('');
}

/** The wording of the last record of the format for the book; null where it is not remembered. */
export function findWording(book: JsonObject, format: string): string | null {
  return findDigests(book, format)?.toSorted().join('') ?? null;
}

function createDigests(said: JsonObject): readonly string[] {
  return Object.keys(said).filter((name) => isSaid(said, name))
    .map((name) => digestMember(said, name));
}

/** Keeps the order of the digests in `stored` if they are the same in another order. */
function writeDigests(
  book: JsonObject, format: string, digests: readonly string[], stored: JsonObject,
): JsonObject {
  const before = findDigests(stored, format);
  const newDigests = new Set(digests);
  // To compare two sets deeply would take 10 µs, of 100 a record.
  const isSame = before !== null && new Set(before).size === newDigests.size
    && before.every((digest) => newDigests.has(digest));
  const newBook = replaceDigests(book, format, isSame ? before : [...newDigests]);
  const hasRoom = countJsonBytes(newBook[METADATA]) <= METADATA_BYTES_MAX;
  return hasRoom ? newBook : omitDigests(book, format);
}

/** The book without digests of the format. */
export function omitDigests(book: JsonObject, format: string | null): JsonObject {
  return format === null ? book : replaceDigests(book, format, null);
}

/** The fields without those of which the record says what it said before, by the book's digests. */
export function omitSaidBefore(
  fields: JsonObject, record: JsonObject, book: JsonObject, format: string | null,
): JsonObject {
  if (format === null || findDigests(book, format) === null) return fields;
  const isSaidBySource = createSaidCheck(book, format);
  const members = separateMembers(record);
  return joinMembers(Object.fromEntries(Object.entries(separateMembers(fields))
    .filter(([name]) => !isSaidBySource(members, name))));
}

/** The single members, and each of the metadata beside sources and digests: `metadata.Lent to`. */
export function nameMembers(book: JsonObject): JsonObject {
  const { source, [DIGESTS_MEMBER]: _, ...others } = asObject(book[METADATA]);
  // A source that is no object is the caller's own.
  const metadata = source === undefined || isJsonObject(source) ? others : { ...others, source };
  return {
    ...separateMembers(book),
    ...Object.fromEntries(Object.entries(metadata)
      .map(([name, value]) => [METADATA_PREFIX + name, value])),
  };
}

/** Whether a source said the value of a single member, by the digests of a book. */
export type SaidCheck = (members: JsonObject, name: string) => boolean;

export function createSaidCheck(book: JsonObject, format: string): SaidCheck {
  const digests = new Set(findDigests(book, format));
  return (members, name) => digests.has(digestMember(members, name));
}

/** Whether all that the record says, its source said before, by the digests of the book. */
export function isSaidBefore(
  record: JsonObject, book: JsonObject, format: string | null,
): boolean {
  if (format === null) return false;
  const digests = new Set(findDigests(book, format));
  return createDigests(nameMembers(record)).every((digest) => digests.has(digest));
}

/** The formats that have said something of the book. */
export function listDigestFormats({ [METADATA]: metadata }: JsonObject): readonly string[] {
  return Object.keys(asObject(asObject(metadata)[DIGESTS_MEMBER]));
}

function findDigests(
  { [METADATA]: metadata }: JsonObject, format: string,
): readonly string[] | null {
  const text = asObject(asObject(metadata)[DIGESTS_MEMBER])[format];
  if (typeof text !== 'string') return null;
  return Array.from({ length: Math.ceil(text.length / DIGEST_LENGTH) }, (_, index) =>
    text.slice(index * DIGEST_LENGTH, (index + 1) * DIGEST_LENGTH));
}

/** `digests` is null for none. */
function replaceDigests(
  book: JsonObject, format: string, digests: readonly string[] | null,
): JsonObject {
  const { [METADATA]: metadata = {} } = book;
  if (!isJsonObject(metadata)) return book;
  const { [DIGESTS_MEMBER]: formats = {} } = metadata;
  if (!isJsonObject(formats)) return book;
  const { [format]: _, ...others } = formats;
  const newFormats = digests === null ? others : { ...others, [format]: digests.join('') };
  return putObject(book, METADATA, putObject(metadata, DIGESTS_MEMBER, newFormats));
}

/** The digest of metadata that have fields of the format alone, as those of a record do. */
function digestSource(format: string, fields: JsonObject): string {
  return digestMember({ [METADATA]: { source: { [format]: fields } } }, METADATA);
}

function digestMember(record: JsonObject, name: string): string {
  return crc32(`${name}:${encodeJson(record[name])}`).toString(36).padStart(DIGEST_LENGTH, '0');
}
