/**
 * What a source said of a book at its last import: by it a later import tells what the source has
 * changed since from what was edited here, and leaves the latter as it is.
 *
 * Stored in the metadata of the book, as digests and not as a copy:
 *
 *     "metadata":{"x-hookshelf":{"<format>":"<digests>"}}
 *
 * A digest is 7 characters, the CRC-32 of `<name>:<value as JSON>` in base 36, and there is one for
 * each member that the record said, one behind the other in any order: 105 bytes at most. Metadata
 * are one member. A member whose digest is among them was not changed in the source.
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
import { DIGESTS_MEMBER } from '../mapping/metadata-source.ts';
import { isSaid } from './merge-record.ts';

const DIGEST_LENGTH = 7;

/** The digests of the members that a record says. */
export function digestRecord(record: JsonObject): string {
  return Object.keys(record).filter((name) => isSaid(record, name))
    .map((name) => digestMember(record, name)).join('');
}

/** The digests that a book has of the format; empty where it has none. */
export function findDigests({ metadata }: JsonObject, format: string | null): string {
  const formats = isJsonObject(metadata) ? metadata[DIGESTS_MEMBER] : undefined;
  const digests = isJsonObject(formats) && format !== null ? formats[format] : undefined;
  return typeof digests === 'string' ? digests : '';
}

/** The record without the members that it said before. */
export function omitSaidBefore(record: JsonObject, digests: string): JsonObject {
  const said = new Set<string>();
  for (let start = 0; start < digests.length; start += DIGEST_LENGTH) {
    said.add(digests.slice(start, start + DIGEST_LENGTH));
  }
  return Object.fromEntries(Object.entries(record)
    .filter(([name]) => !said.has(digestMember(record, name))));
}

/**
 * The book with these digests of the format, where there is room; with none if they are empty. As
 * it is where `format` is null, or where a caller has something else in their place.
 */
export function putDigests(book: JsonObject, format: string | null, digests: string): JsonObject {
  const { metadata = {}, ...members } = book;
  if (!isJsonObject(metadata) || format === null) return book;
  const { [DIGESTS_MEMBER]: formats = {}, ...others } = metadata;
  if (!isJsonObject(formats)) return book;
  const { [format]: _, ...otherFormats } = formats;
  const changedFormats = digests === '' ? otherFormats : { ...otherFormats, [format]: digests };
  const isEmpty = Object.keys(changedFormats).length === 0;
  const changed = isEmpty ? others : { ...others, [DIGESTS_MEMBER]: changedFormats };
  if (Object.keys(changed).length === 0) return members;
  const hasRoom = digests === '' || Buffer.byteLength(encodeJson(changed)) <= METADATA_BYTES_MAX;
  return hasRoom ? { ...members, metadata: changed } : putDigests(book, format, '');
}

function digestMember(record: JsonObject, name: string): string {
  return crc32(`${name}:${encodeJson(record[name])}`).toString(36).padStart(DIGEST_LENGTH, '0');
}
