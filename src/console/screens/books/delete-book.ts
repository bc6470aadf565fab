/** Deletes a book, as its own view and that of duplicates do. */
import { callApi, hasStatus } from '../../base/api-calls.ts';
import { offerUndo } from '../../parts/deletion.ts';
import { askToConfirm } from '../../parts/dialog.ts';
import { showNotice } from '../../parts/notice.ts';
import type { Book } from '../../../books/book.ts';

/**
 * Asks first. Resolves with whether the book was deleted: it is only as it was shown, with that
 * `etag`. Where somebody has changed it meanwhile, `refresh` shows it again. Throws ApiError.
 */
export async function deleteBook(
  book: Book, etag: string, refresh: () => Promise<void>,
): Promise<boolean> {
  const { id, title } = book;
  const isSure = await askToConfirm({
    title: 'Delete the book?', text: `“${title}” will be gone from the catalog.`,
    action: 'Delete it', isDestructive: true, command: `hookshelf book:delete --id ${id}`,
  });
  if (!isSure) return false;
  try {
    await callApi('DELETE', bookPath(id), { headers: { 'If-Match': etag } });
  } catch (thrown) {
    if (!hasStatus(thrown, 412)) throw thrown;
    showNotice('Somebody else has changed it. It stands here as it is now.', 'bad');
    await refresh();
    return false;
  }
  offerUndo({ name: title, path: bookPath(id), address: ['books', id] });
  return true;
}

export function bookPath(id: string): string {
  return `/api/books/${encodeURIComponent(id)}`;
}
