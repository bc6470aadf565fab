/** A book with the tag of its version: what changes or deletes it, changes nothing newer. */
import { apiPath } from '../../base/screen-address.ts';
import { callApi, hasStatus } from '../../base/api-calls.ts';
import { offerUndo } from '../../parts/deletion.ts';
import { askToConfirm } from '../../parts/dialog.ts';
import { showNotice } from '../../parts/notice.ts';
import type { Book } from '../../../books/book.ts';

export type NamedBook = Pick<Book, 'id' | 'title'>;
export type StoredBook = { readonly book: Book; readonly etag: string };

/** Resolves with null for a book that was deleted. */
export async function fetchBook(id: string): Promise<StoredBook | null> {
  try {
    const { body: book, etag } = await callApi<Book>('GET', apiPath('books', id));
    return { book, etag };
  } catch (thrown) {
    if (hasStatus(thrown, 404)) return null;
    throw thrown;
  }
}

/**
 * Asks first. Resolves with whether the book was deleted: where somebody has changed it meanwhile,
 * `refresh` shows it again. Throws ApiError.
 */
export async function deleteBook(
  { book: { id, title }, etag }: StoredBook, refresh: () => Promise<void>,
): Promise<boolean> {
  const isSure = await askToConfirm({
    title: 'Delete the book?', text: `“${title}” will be gone from the catalog.`,
    action: 'Delete it', isDestructive: true, command: `hookshelf book:delete --id ${id}`,
  });
  if (!isSure) return false;
  const isDeleted = await changeIfCurrent(() =>
    callApi('DELETE', apiPath('books', id), { headers: { 'If-Match': etag } }));
  if (isDeleted) offerUndo({ name: title, path: apiPath('books', id), address: ['books', id] });
  else await refresh();
  return isDeleted;
}

/**
 * Runs `change`, which names the version that it changes. Resolves with false where the server
 * refuses that as an older one, and says so. Throws what else `change` throws.
 */
export async function changeIfCurrent(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (thrown) {
    if (!hasStatus(thrown, 412)) throw thrown;
    showNotice('Somebody else has changed it. It stands here as it is now.', 'bad');
    return false;
  }
}
