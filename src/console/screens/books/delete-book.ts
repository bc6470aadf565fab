/** Deletes a book, as its own view and that of duplicates do, and puts it back. */
import { ApiError, callApi } from '../../base/api-calls.ts';
import { encodeJson } from '../../base/json-text.ts';
import { goToScreen } from '../../base/screen-address.ts';
import { asyncButton } from '../../parts/async-button.ts';
import { askToConfirm } from '../../parts/dialog.ts';
import { showNotice } from '../../parts/notice.ts';
import type { Book } from '../../../books/book.ts';
import { formatProblems, parseOutcome, type ImportOutcome } from './import-outcome.ts';

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
    if (!(thrown instanceof ApiError) || thrown.status !== 412) throw thrown;
    showNotice('Somebody else has changed it. It stands here as it is now.', 'bad');
    await refresh();
    return false;
  }
  const undo = asyncButton('Undo', async () => {
    await putBack(book);
    undo.parentElement?.remove();
  });
  showNotice(`Deleted ${title}.`, 'good', undo);
  return true;
}

/** An import keeps the id and the times of a book, so that it is again what it was. */
async function putBack(book: Book): Promise<void> {
  const { body } = await callApi<string>('POST', '/api/books/import?onMatch=skip', {
    raw: encodeJson(book),
    headers: { 'Content-Type': 'application/x-ndjson', Prefer: 'return=minimal' },
  });
  const outcome = parseOutcome(body);
  if (outcome.count?.imported !== 1) {
    return showNotice(`It is not put back: ${explainRefusal(outcome)}.`, 'bad');
  }
  showNotice(`${book.title} is back.`);
  goToScreen(['books', book.id]);
}

function explainRefusal({ skippedRecords: [refused], count }: ImportOutcome): string {
  if (count?.existing === 1) return 'another book has taken its place';
  if (refused !== undefined) return formatProblems(refused);
  return count?.error ?? 'the answer was cut short';
}

export function bookPath(id: string): string {
  return `/api/books/${encodeURIComponent(id)}`;
}
