/**
 * Reads a record that may come from an export of ours, in a format of other programs.
 *
 * - Our export has the id of the book: in the place of the record's own id, unless the book came
 *   with one, or in a field beside it. By it an import knows the book again, whatever has been
 *   edited meanwhile. It says nothing of another program, so that very book does not store it, and
 *   later exports have the same id. An own id beside it is not stored either where our export made
 *   it; one that was given elsewhere is.
 * - A format may say less than the book has: RIS makes one blank of a paragraph's end, and other
 *   programs drop our rest field. What a record says as our export of the book says it was not
 *   edited, and is no change.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { isUuid } from '../../../base/uuid.ts';
import { joinMembers, separateMembers } from '../../book-members.ts';
import { TITLE_MEMBERS } from '../../merge-choice.ts';
import { findOwnId, findSource, putSource } from '../mapping/metadata-source.ts';
import type { SourceFormat } from './book-import.ts';

/** The id of a book that a record has, perhaps of none that is there, or null. */
export function findBookId(record: JsonObject, source: SourceFormat): string | null {
  const { format, bookIdFields, bookIdPrefix } = source;
  const fields = findSource(format, record['metadata']);
  if (fields === null || bookIdPrefix === null) return null;
  const text = findOwnId(fields, bookIdFields)?.toLowerCase() ?? '';
  const id = text.slice(bookIdPrefix.length);
  return text.startsWith(bookIdPrefix) && isUuid(id) ? id : null;
}

/**
 * The record without the id of the book. In the place of an own id that our export made is the one
 * that the book has from the same format, by which files of the other program go on to match.
 * `bytes` is the stored book, `book` its members.
 */
export function omitBookId(
  record: JsonObject, book: JsonObject, id: string, bytes: Buffer, source: SourceFormat,
): JsonObject {
  if (findBookId(record, source) !== id) return record;
  const recordSource = splitSource(record, source);
  const bookIds = splitSource(book, source).ownIds;
  const ownIds = Object.fromEntries(Object.entries(recordSource.ownIds)
    .filter(([name]) => !source.bookIdFields.includes(name)));
  const ownId = findOwnId(ownIds, source.ownIdFields);
  const isMade = ownId === null
    || (Object.keys(bookIds).length === 0 && source.isMadeOwnId(bytes, ownId));
  return putSource(record, source.format, { ...isMade ? bookIds : ownIds, ...recordSource.fields });
}

/**
 * The record with what the book has in the place of what was not edited. `exported` is what an
 * import reads of our export of the book.
 */
export function omitUnedited(
  record: JsonObject, book: JsonObject, exported: JsonObject, source: SourceFormat,
): JsonObject {
  const members = separateMembers(record);
  const exportedMembers = separateMembers(exported);
  const storedMembers = separateMembers(book);
  const editedMembers: Record<string, JsonValue> = { ...members };
  const isEdited = (name: string): boolean =>
    !isDeepStrictEqual(members[name], exportedMembers[name]);
  const isTitleEdited = TITLE_MEMBERS.some(isEdited);
  for (const name of Object.keys(members)) {
    if (name === 'metadata' || (TITLE_MEMBERS.includes(name) ? isTitleEdited : isEdited(name))) {
      continue;
    }
    const storedValue = storedMembers[name];
    if (storedValue === undefined) Reflect.deleteProperty(editedMembers, name);
    else editedMembers[name] = storedValue;
  }
  const changes = joinMembers(editedMembers);
  const recordSource = splitSource(record, source);
  if (!isDeepStrictEqual(recordSource.fields, splitSource(exported, source).fields)) return changes;
  const { fields } = splitSource(book, source);
  return putSource(changes, source.format, { ...recordSource.ownIds, ...fields });
}

type SourceFields = { readonly ownIds: JsonObject; readonly fields: JsonObject };

/** The fields of the format in the metadata: own ids with the id of a book, and the others. */
function splitSource(
  { metadata }: JsonObject, { format, ownIdFields, bookIdFields }: SourceFormat,
): SourceFields {
  const entries = Object.entries(findSource(format, metadata) ?? {});
  const isOwnId = ([name]: readonly [string, JsonValue]): boolean =>
    ownIdFields.includes(name) || bookIdFields.includes(name);
  return {
    ownIds: Object.fromEntries(entries.filter(isOwnId)),
    fields: Object.fromEntries(entries.filter((entry) => !isOwnId(entry))),
  };
}
