/**
 * Merges the metadata of two books. A merge of the members that a caller names takes from the other
 * book only the fields in `metadata.source` of formats that the book has not. United metadata have
 * more:
 *
 * - The names that the book has not, and the digests (last-import.ts) of formats that are new to
 *   it, so that it goes on hearing the imports of these.
 * - All that either book says otherwise, kept beside as an import keeps it (kept-values.ts):
 *   the values of the other book under its id,
 *
 *       "source":{"<id>":{"members":{"reading.review":"Great.","metadata.Lent to":"Anna"}}}
 *
 *   and each value of the book under the source that said it, or under `here`.
 *
 * The merge is refused where the 16 KiB of metadata have no room for the fields of a format. Where
 * the rest has no room, shorter values come before longer ones.
 */
import { invalid, isJsonObject } from '../base/fields.ts';
import { countJsonBytes } from '../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import { METADATA_BYTES_MAX } from './book.ts';
import { METADATA } from './merge-choice.ts';
import { listDroppedValues } from './merge-losses.ts';
import { DIGESTS_MEMBER, asObject } from './transfer/mapping/metadata-source.ts';
import { addMembers } from './transfer/matching/merge-record.ts';
import { ValueKeeper, findSources } from './transfer/matching/kept-values.ts';

/**
 * The metadata with what the other's `source` has of formats that theirs has not. Throws `invalid`
 * where they have no room for that.
 */
export function addSources(
  metadata: JsonValue | undefined, otherMetadata: JsonValue | undefined,
): JsonValue | undefined {
  const { source = {}, ...others } = asObject(metadata);
  // A source that is no object is the caller's own, and stays.
  if (!isJsonObject(source)) return metadata;
  const newSources = Object.entries(asObject(asObject(otherMetadata)['source']))
    .filter(([format]) => !Object.hasOwn(source, format));
  if (newSources.length === 0) return metadata;
  const result = { ...others, source: { ...source, ...Object.fromEntries(newSources) } };
  checkMetadata(result);
  return result;
}

/** A caller who names no member is told why the metadata grow. */
function checkMetadata(metadata: JsonObject): void {
  const bytes = countJsonBytes(metadata);
  if (bytes <= METADATA_BYTES_MAX) return;
  throw invalid([{
    pointer: `/${METADATA}`,
    detail: 'has no room for what `metadata.source` of the other book has of other formats: '
      + `${bytes} bytes of JSON, and ${METADATA_BYTES_MAX} are the most; take something out of `
      + 'either before, or name `metadata` to have those of the other book',
  }]);
}

/** Whether nothing in the book's metadata is of the format, and they may have what is. */
export function isNewFormat({ [METADATA]: metadata }: JsonObject, format: string): boolean {
  const { source = {}, [DIGESTS_MEMBER]: digests } = asObject(metadata);
  return isJsonObject(source) && !Object.hasOwn(source, format)
    && !Object.hasOwn(asObject(digests), format);
}

/** The united metadata of both books, without what is kept beside. Throws as `addSources`. */
export function uniteMetadata(book: JsonObject, other: JsonObject): JsonValue | undefined {
  const otherMetadata = asObject(other[METADATA]);
  const metadata = asObject(addSources(book[METADATA], otherMetadata));
  const newMembers = Object.fromEntries(Object.entries(otherMetadata)
    .filter(([name]) => name !== DIGESTS_MEMBER && !Object.hasOwn(metadata, name)));
  const united = addDigests(addMembers(metadata, newMembers).metadata, book, otherMetadata);
  return Object.keys(united).length === 0 ? book[METADATA] : united;
}

/** Unchanged metadata where a caller has something else in the place of digests, or no room is. */
function addDigests(
  metadata: JsonObject, book: JsonObject, otherMetadata: JsonObject,
): JsonObject {
  const { [DIGESTS_MEMBER]: digests = {} } = metadata;
  const newDigests = Object.entries(asObject(otherMetadata[DIGESTS_MEMBER]))
    .filter(([format]) => isNewFormat(book, format));
  if (newDigests.length === 0 || !isJsonObject(digests)) return metadata;
  const result =
    { ...metadata, [DIGESTS_MEMBER]: { ...digests, ...Object.fromEntries(newDigests) } };
  return countJsonBytes(result) <= METADATA_BYTES_MAX ? result : metadata;
}

/** The merged book with the values that it drops of both, as far as its metadata have room. */
export function keepDroppedValues(
  mergedBook: JsonObject, book: JsonObject, other: JsonObject,
): JsonObject {
  const otherId = String(other['id']);
  const findBookSources = findSources(book, otherId);
  const keeper = new ValueKeeper(mergedBook, otherId, []);
  for (const [name, value] of listShortestFirst(book, mergedBook)) {
    keeper.keep(findBookSources(name), name, value);
  }
  for (const [name, value] of listShortestFirst(other, mergedBook)) {
    keeper.keep([otherId], name, value);
  }
  return keeper.members;
}

/** The dropped values, the shortest first. */
function listShortestFirst(
  book: JsonObject, mergedBook: JsonObject,
): readonly (readonly [name: string, value: JsonValue])[] {
  return listDroppedValues(book, mergedBook)
    .map(({ name, value }) => [name, value] as const)
    .sort(([, left], [, right]) => countJsonBytes(left) - countJsonBytes(right));
}
