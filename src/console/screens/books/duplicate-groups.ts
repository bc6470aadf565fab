/** Reads groups of duplicates from the answer of the API while it comes. */
import { parseJson } from '../../base/json-text.ts';
import { fetchBody } from '../../base/file-transfer.ts';
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
  const { body } = await fetchBody(appendQuery('/api/books/duplicates', { by }), signal);
  const groups: DuplicateGroup[] = [];
  if (body === null) return { groups, hasMore: false };
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  while (groups.length <= countMax) {
    const { done, value = '' } = await reader.read();
    const lines = (rest + value).split('\n');
    rest = done ? '' : lines.pop() ?? '';
    // A group whose books were deleted meanwhile may have too few left.
    groups.push(...lines.flatMap(parseGroups).filter(({ books }) => books.length > 1));
    if (done) break;
  }
  await reader.cancel();
  return { groups: groups.slice(0, countMax), hasMore: groups.length > countMax };
}

/** The groups in a line of the array: there is no line break within a group. */
function parseGroups(line: string): readonly DuplicateGroup[] {
  const items = line.trim().replace(/^\[/, '').replace(/[\],]$/, '');
  return parseJson(`[${items}]`);
}
