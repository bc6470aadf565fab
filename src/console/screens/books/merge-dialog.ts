/** Merges one of two duplicates into the other: asks which members it takes over, and what goes. */
import { apiPath } from '../../base/screen-address.ts';
import { callApi, hasStatus, messageOf } from '../../base/api-calls.ts';
import { fill, h, createSelect } from '../../base/dom.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { codeBlock } from '../../parts/code-block.ts';
import { commandDetails, openDialog } from '../../parts/dialog.ts';
import { offerUndo } from '../../parts/deletion.ts';
import { showNotice } from '../../parts/notice.ts';
import { stackedTable } from '../../parts/tables.ts';
import type { Book } from '../../../books/book.ts';
import { listMergeChoices } from './compare-books.ts';
import { formatMember, formatPath } from './member-text.ts';
import { fetchBook, type StoredBook } from './stored-book.ts';

const OTHER = 'other';

/**
 * Resolves with whether the duplicate is merged into the target: both only as they were shown.
 * `targetName` is what the screen calls the target. Where somebody has changed one of them
 * meanwhile, `refresh` shows them again.
 */
export function openMergeDialog(
  targetName: string, target: StoredBook, duplicate: StoredBook, refresh: () => Promise<void>,
): Promise<boolean> {
  const { book: { id: from, title } } = duplicate;
  const choices = listMergeChoices(target.book, duplicate.book).map((choice) => {
    // What the book lacks is no loss.
    const initial = choice.values[0] === undefined ? OTHER : 'own';
    return {
      ...choice, select: createSelect([['own', 'Its own'], [OTHER, 'The other’s']], initial,
        { 'aria-label': `${formatPath(choice.path)} to be kept`, onchange: () => showCommand() }),
    };
  });
  const readMembers = (): readonly string[] =>
    choices.filter(({ select }) => select.value === OTHER).map(({ name }) => name);
  const command = h('div');
  const showCommand = (): void => {
    const members = readMembers();
    fill(command, codeBlock(`hookshelf book:merge ${target.book.id} --from ${from}${
      members.length === 0 ? '' : ` --members ${members.join(',')}`}`));
  };
  showCommand();
  const problem = h('p.problem', { role: 'alert' });
  return new Promise((resolve) => {
    let isAtWork = false;
    const merge = asyncButton('Merge them', async () => {
      isAtWork = true;
      problem.textContent = '';
      try {
        const isMerged = await mergeAsShown(target, duplicate, readMembers());
        resolve(isMerged);
        dialog.close();
        if (isMerged) return offerUndoOfMerge(target.book, duplicate.book);
        showNotice('Somebody else has changed one of them: they stand here as they are now.',
          'bad');
        await refresh();
      } catch (thrown) {
        if (!dialog.open) throw thrown;
        problem.textContent = messageOf(thrown);
      } finally {
        isAtWork = false;
      }
    }, 'danger');
    const dialog = openDialog(`Merge into ${targetName}`, [
      h('p', `“${title}” will be gone from the catalog. Its id, and those of its sources, stay `
        + 'with the book: imports leave records with these ids alone.'),
      choices.length === 0 ? h('p', 'They differ in nothing that could be chosen.')
        : stackedTable(['Member', 'Of the book that stays', 'Of the one that goes', 'To be kept'],
          choices.map(({ path, values, select }) =>
            [formatPath(path), ...values.map(formatMember), select])),
      commandDetails(command), problem,
    ], { asks: true, close: 'Keep things as they are', buttons: [merge] });
    dialog.addEventListener('close', () => {
      if (!isAtWork) resolve(false);
    });
  });
}

/** The server puts both back as they were. */
function offerUndoOfMerge(target: Book, duplicate: Book): void {
  offerUndo({
    name: duplicate.title, path: apiPath('books', duplicate.id),
    address: ['books', 'duplicates', target.id, duplicate.id],
    notice: `Merged two books into ${target.title}.`,
  });
}

/** Resolves with false where one of them is not as it was shown. Throws ApiError. */
async function mergeAsShown(
  target: StoredBook, duplicate: StoredBook, members: readonly string[],
): Promise<boolean> {
  const current = await fetchBook(duplicate.book.id);
  if (current?.etag !== duplicate.etag) return false;
  try {
    await callApi('POST', apiPath('books', target.book.id, 'merge'), {
      body: { from: duplicate.book.id, members }, headers: { 'If-Match': target.etag },
    });
    return true;
  } catch (thrown) {
    if (hasStatus(thrown, 412)) return false;
    throw thrown;
  }
}
