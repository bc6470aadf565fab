/**
 * The ids of merged books: when a book takes in another (merge-books.ts), the id of that book and
 * the own ids of its sources stay with the book, but those of sources that are the book's own from
 * then on (merge-metadata.ts). An import leaves a record alone that comes with one of the ids that
 * stay: it is neither added again, nor does it overwrite what was chosen.
 *
 * They are a member of the record, before `metadata`, absent where nothing was merged:
 *
 *     "mergedIds":["<id of a book>","<format>:<own id>",…]
 *
 * An id of a book is a UUID, and a format is a member of `metadata.source`: neither has a colon.
 * Each id stands once, in the order in which they came, at most `MERGED_IDS_MAX`. The service
 * writes them: a PUT or PATCH changes nothing of them, and a book that is merged itself hands them
 * on.
 *
 * They go wherever the record goes: to backups and followers, and to files of our own formats. The
 * import of such a file adds its ids to those that the book has here. Files in formats of other
 * programs do not have them. Where a file of the time before a merge and one of the time after it
 * came together, there is a book under such an id: it is a book like others, and takes what its
 * records say.
 */
import type { JsonObject, JsonValue, MemberSchema } from '../base/schema.ts';

/** Each is some 40 bytes of the record. */
export const MERGED_IDS_MAX = 1000;
/** The length of an id in characters. */
export const MERGED_ID_LENGTH_MAX = 1000;

const NAME = 'mergedIds';

export const mergedIdsMember = {
  schema: {
    kind: 'array', maxItems: MERGED_IDS_MAX, isUnique: true,
    items: { kind: 'string', minLength: 1, maxLength: MERGED_ID_LENGTH_MAX },
  },
  description: 'The ids of the books that were merged into it, and those of their sources, such as '
    + '`goodreads:2767052`. Records with these ids are left alone by imports.',
} as const satisfies MemberSchema;

/** The id of a record in a format of another program, as it stands among merged ids. */
export function formatSourceId(format: string, ownId: string): string {
  return `${format}:${ownId}`;
}

/** The ids in a decoded book. */
export function mergedIdsOf({ [NAME]: ids }: JsonObject): readonly string[] {
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** The book's members with these merged ids, and no others, in the order of the model. */
export function putMergedIds(members: JsonObject, ids: readonly string[]): JsonObject {
  if (ids.length === 0 && members[NAME] === undefined) return members;
  const { [NAME]: _, metadata, ...others } = members;
  const book: Record<string, JsonValue> = others;
  if (ids.length > 0) book[NAME] = ids;
  if (metadata !== undefined) book['metadata'] = metadata;
  return book;
}
