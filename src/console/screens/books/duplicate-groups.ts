/** Reads groups of duplicates from the answer of the API while it comes. */
import { parseJson } from '../../base/json-text.ts';
import { fetchResponse } from '../../base/api-calls.ts';
import { readLines } from '../../base/file-transfer.ts';
import { appendQuery } from '../../base/screen-address.ts';
import type { Book } from '../../../books/book.ts';

/** The members of a duplicate that the API sends. */
type DuplicateBook = Pick<Book,
  'id' | 'title' | 'authors' | 'isbn' | 'bookEdition' | 'updatedAt'>;
export type DuplicateGroup = { readonly books: readonly DuplicateBook[] };

type GroupsStart = {
  readonly groups: readonly DuplicateGroup[];
  /** Whether there are more than were read. */
  readonly hasMore: boolean;
};

/**
 * The first groups, `countMax` at most: where a large file was imported twice, all of them are more
 * than a browser can hold. Throws ApiError.
 */
export async function fetchGroups(
  by: string, countMax: number, signal: AbortSignal,
): Promise<GroupsStart> {
  const groups: DuplicateGroup[] = [];
  const path = appendQuery('/api/books/duplicates', { by });
  await readLines(await fetchResponse('GET', path, { signal }), (line) => {
    // A group whose books were deleted meanwhile may have too few left.
    groups.push(...parseGroups(line).filter(({ books }) => books.length > 1));
    return groups.length <= countMax;
  });
  return { groups: groups.slice(0, countMax), hasMore: groups.length > countMax };
}

/** The groups in a line of the array: there is no line break within a group. */
function parseGroups(line: string): readonly DuplicateGroup[] {
  const items = line.trim().replace(/^\[/, '').replace(/[\],]$/, '');
  return parseJson(`[${items}]`);
}
