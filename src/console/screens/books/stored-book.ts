/** A book with the tag of its version, for changes of what the user sees and of nothing newer. */
import { callApi, hasStatus } from '../../base/api-calls.ts';
import type { Book } from '../../../books/book.ts';
import { bookPath } from './delete-book.ts';

export type StoredBook = { readonly book: Book; readonly etag: string };

/** Resolves with null for a book that was deleted. */
export async function fetchBook(id: string): Promise<StoredBook | null> {
  try {
    const { body, headers } = await callApi<Book>('GET', bookPath(id));
    return { book: body, etag: headers.get('ETag') ?? '' };
  } catch (thrown) {
    if (hasStatus(thrown, 404)) return null;
    throw thrown;
  }
}
