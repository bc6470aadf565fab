/**
 * Digests of what a source said of a book at its last import. By them a later import tells what
 * the source has changed since from what was edited here, and leaves the latter as it is.
 *
 * They are stored in the metadata of the book:
 *
 *     "metadata":{"x-hookshelf":{"<format>":"<digests>"}}
 *
 * A digest is 7 characters, the CRC-32 of `<name>:<value as JSON>` in base 36, and there is one for
 * each single member that the record said (`reading.rating`), one behind the other in any order:
 * 168 bytes at most. Metadata are one member. A member whose digest is among them was not changed
 * in the source.
 *
 * Where there are none, all that a record says counts as changed. There are none in a book that was
 * made here, that no file of the format has made or changed, or whose metadata were replaced since;
 * and where the 16 KiB of metadata have no room for them.
 */
import { crc32 } from 'node:zlib';
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { METADATA_BYTES_MAX } from '../../book.ts';
import { joinMembers, separateMembers } from '../../book-members.ts';
import { DIGESTS_MEMBER, putObject } from '../mapping/metadata-source.ts';
import { isSaid } from './merge-record.ts';

const DIGEST_LENGTH = 7;

/**
 * The book with digests of what the record says, where there is room. As it is where `format` is
 * null, or where a caller has something else in their place.
 */
export function putDigests(
  book: JsonObject, record: JsonObject, format: string | null,
): JsonObject {
  if (format === null) return book;
  const said = separateMembers(record);
  const digests = Object.keys(said).filter((name) => isSaid(said, name))
    .map((name) => digestMember(said, name)).join('');
  const changed = replaceDigests(book, format, digests);
  const hasRoom = Buffer.byteLength(encodeJson(changed['metadata'])) <= METADATA_BYTES_MAX;
  return hasRoom ? changed : omitDigests(book, format);
}

/** The book without digests of the format. */
export function omitDigests(book: JsonObject, format: string | null): JsonObject {
  return format === null ? book : replaceDigests(book, format, null);
}

/** The fields without those of which the record says what it said before, by the book's digests. */
export function omitSaidBefore(
  fields: JsonObject, record: JsonObject, { metadata }: JsonObject, format: string | null,
): JsonObject {
  const formats = isJsonObject(metadata) ? metadata[DIGESTS_MEMBER] : undefined;
  const digests = isJsonObject(formats) && format !== null ? formats[format] : undefined;
  if (typeof digests !== 'string') return fields;
  const said = new Set<string>();
  for (let start = 0; start < digests.length; start += DIGEST_LENGTH) {
    said.add(digests.slice(start, start + DIGEST_LENGTH));
  }
  const members = separateMembers(record);
  return joinMembers(Object.fromEntries(Object.entries(separateMembers(fields))
    .filter(([name]) => !said.has(digestMember(members, name)))));
}

/** `digests` is null for none. */
function replaceDigests(book: JsonObject, format: string, digests: string | null): JsonObject {
  const { metadata = {} } = book;
  if (!isJsonObject(metadata)) return book;
  const { [DIGESTS_MEMBER]: formats = {} } = metadata;
  if (!isJsonObject(formats)) return book;
  const { [format]: _, ...others } = formats;
  const changed = digests === null ? others : { ...others, [format]: digests };
  return putObject(book, 'metadata', putObject(metadata, DIGESTS_MEMBER, changed));
}

function digestMember(record: JsonObject, name: string): string {
  return crc32(`${name}:${encodeJson(record[name])}`).toString(36).padStart(DIGEST_LENGTH, '0');
}
