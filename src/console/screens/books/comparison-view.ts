/** Compares two books of a group of duplicates, and merges or deletes one of them. */
import { callApi, hasStatus, messageOf } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { createSelect, fill, h, type Child } from '../../base/dom.ts';
import { formatPlace } from '../../base/field-problem.ts';
import { formatQuantity, timeElement } from '../../base/format.ts';
import { apiPath, href, parseAddress, replaceQuery } from '../../base/screen-address.ts';
import { badge } from '../../parts/badge.ts';
import { asyncButton, runExclusively } from '../../parts/buttons.ts';
import { codeBlock } from '../../parts/code-block.ts';
import { offerUndo } from '../../parts/deletion.ts';
import { commandDetails, openDialog } from '../../parts/dialog.ts';
import { emptyState, showFailureNotice, showNotice } from '../../parts/notice.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import { stackedTable } from '../../parts/tables.ts';
import type { Book } from '../../../books/book.ts';
import type { MergeChoice } from '../../../books/merge-choice.ts';
import { compareBooks, listMergeChoices, type ComparedMember } from './compare-books.ts';
import { formatMember, isForPeople } from './member-text.ts';
import { deleteBook, fetchBook, type StoredBook } from './stored-book.ts';

type SelectChoice = readonly [value: MergeChoice, text: string];

const ONE_OF_TWO: readonly SelectChoice[] = [['own', 'Its own'], ['other', 'The other’s']];
const BOTH: SelectChoice = ['both', 'Both'];

/** The members that become as the other book has them, and those that are united. */
type MergedNames = { readonly members: readonly string[]; readonly combine: readonly string[] };

/** The place of a book, and the name of its parameter in the address. */
type Side = 'first' | 'second';

export function openComparison(container: HTMLElement, ids: readonly string[]): () => void {
  return openView(container, async (refresh) => {
    // It changes with what is compared.
    const { by = 'isbn', ...sides } = Object.fromEntries(parseAddress().query);
    const books = (await Promise.all(ids.map(fetchBook))).filter((stored) => stored !== null);
    const body = h('div');
    fill(container, backLink(['books', 'duplicates'], 'Duplicates', { by }),
      heading('Compare duplicates'), body);
    showComparison({ container: body, books, by, refresh }, sides);
  });
}

type BookGroup = {
  readonly container: HTMLElement;
  readonly books: readonly StoredBook[];
  /** The member by which the books are found to be duplicates. */
  readonly by: string;
  readonly refresh: () => Promise<void>;
};

/** Compares the books of these ids; without them, the first two of the group. */
function showComparison(group: BookGroup, ids: { readonly [name in Side]?: string }): void {
  const { container, books } = group;
  const first = books.find(({ book }) => book.id === ids.first) ?? books[0];
  const others = books.filter((stored) => stored !== first);
  const second = others.find(({ book }) => book.id === ids.second) ?? others[0];
  if (first === undefined || second === undefined) {
    return fill(container,
      emptyState('Of these books one is left at most: there is nothing to compare.', null));
  }
  const members = compareBooks(first.book, second.book).filter(({ path }) => isForPeople(path))
    .sort((left, right) => Number(right.isDifferent) - Number(left.isDifferent));
  fill(container,
    h('div.cards', createCard(group, 'first', first, second),
      createCard(group, 'second', second, first)),
    h('h2', formatDifferences(members)),
    stackedTable(['Member', 'First book', 'Second book'], members.map(renderMember)));
}

function createCard(
  group: BookGroup, side: Side, stored: StoredBook, other: StoredBook,
): HTMLElement {
  const { container, books, refresh } = group;
  const { book } = stored;
  const createButton = (text: string, style: string, action: () => Promise<void>): HTMLElement =>
    h('button', { class: style, onclick: () => {
      // All buttons: nobody who deletes one book means to delete the other as well.
      void runExclusively([...container.querySelectorAll('button')], action)
        .catch(showFailureNotice);
    } }, text);
  const merge = createButton(`Merge into the ${side} book`, '', async () => {
    if (await openMergeDialog(`the ${side} book`, stored, other, refresh)) {
      goOnWithout(group, other);
    }
  });
  const remove = createButton(`Delete the ${side} book`, 'danger', async () => {
    if (await deleteBook(stored, refresh)) goOnWithout(group, stored);
  });
  return h('section.card',
    h('h2', `The ${side} book`),
    h('p', h('a', { href: href(['books', book.id]) }, book.title), h('br'), h('span.hint',
      'Added ', timeElement(book.createdAt), ', changed ', timeElement(book.updatedAt))),
    books.length > 2 ? createChoice(group, side, stored, other) : null,
    callerSession.may('write') ? h('div.actions', merge, remove) : null);
}

/** Chooses another book of the group in place of this one. */
function createChoice(
  group: BookGroup, side: Side, { book: { id } }: StoredBook, other: StoredBook,
): HTMLElement {
  const otherSide = side === 'first' ? 'second' : 'first';
  const choices = group.books.flatMap((stored, index) => stored === other ? []
    : [[stored.book.id, `${index + 1}: ${stored.book.title}`] as const]);
  const select = createSelect(choices, id, { name: side, onchange: () => {
    const ids = { [side]: select.value, [otherSide]: other.book.id };
    replaceQuery({ by: group.by, ...ids });
    showComparison(group, ids);
    group.container.querySelector<HTMLElement>(`[name=${side}]`)?.focus();
  } });
  return h('label.filter', h('span', `Compare as the ${side} book`), select);
}

function goOnWithout({ container, books, by }: BookGroup, removed: StoredBook): void {
  const ids = books.filter((stored) => stored !== removed).map(({ book: { id } }) => id);
  // One alone is no duplicate any more.
  goIfStillHere(container, ['books', 'duplicates', ...ids.length > 1 ? ids : []], { by });
}

function formatDifferences(members: readonly ComparedMember[]): string {
  const count = members.filter(({ isDifferent }) => isDifferent).length;
  if (count === 0) return 'They are the same';
  return `${formatQuantity(count, 'member')} ${count === 1 ? 'differs' : 'differ'}`;
}

function renderMember({ path, values, isDifferent }: ComparedMember): Child[] {
  return [
    h('span', formatPlace(path), ' ', isDifferent ? badge('differs') : null),
    ...values.map((value) => formatMember(path, value)),
  ];
}

/**
 * Resolves with whether the duplicate is merged into the target: both only as they were shown.
 * `targetName` is what the screen calls the target. Where somebody has changed one of them
 * meanwhile, `refresh` shows them again.
 */
function openMergeDialog(
  targetName: string, target: StoredBook, duplicate: StoredBook, refresh: () => Promise<void>,
): Promise<boolean> {
  const { book: { id: from, title } } = duplicate;
  const choices = listMergeChoices(target.book, duplicate.book).map((choice) => ({
    ...choice, select: createSelect(choice.canCombine ? [...ONE_OF_TWO, BOTH] : ONE_OF_TWO,
      choice.initial,
      { 'aria-label': `${formatPlace(choice.path)} to be kept`, onchange: () => showCommand() }),
  }));
  const listNames = (value: MergeChoice): readonly string[] =>
    choices.filter(({ select }) => select.value === value).map(({ name }) => name);
  const readNames = (): MergedNames =>
    ({ members: listNames('other'), combine: listNames('both') });
  const command = h('div');
  const showCommand = (): void => {
    const options = Object.entries(readNames()).filter(([, names]) => names.length > 0)
      .map(([option, names]) => ` --${option} ${names.join(',')}`);
    fill(command,
      codeBlock(`hookshelf book:merge ${target.book.id} --from ${from}${options.join('')}`));
  };
  showCommand();
  const problem = h('p.problem', { role: 'alert' });
  return new Promise((resolve) => {
    let isAtWork = false;
    const merge = asyncButton('Merge them', async () => {
      isAtWork = true;
      problem.textContent = '';
      try {
        const outcome = await mergeAsShown(target, duplicate, readNames());
        resolve(outcome !== null);
        dialog.close();
        if (outcome !== null) return offerUndoOfMerge(target.book, duplicate.book, outcome);
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
        + 'with the book: imports leave records with these ids alone. Where both have “Other '
        + 'data”, what is not chosen is kept there, and later imports of a file that only the '
        + 'other came from go on changing the book.'),
      choices.length === 0 ? h('p', 'They differ in nothing that could be chosen.')
        : stackedTable(['Member', 'Of the book that stays', 'Of the one that goes', 'To be kept'],
          choices.map(({ path, values, select }) =>
            [formatPlace(path), ...values.map((value) => formatMember(path, value)), select])),
      commandDetails(command), problem,
    ], { asks: true, close: 'Keep things as they are', buttons: [merge] });
    dialog.addEventListener('close', () => {
      if (!isAtWork) resolve(false);
    });
  });
}

/** The server puts both back as they were. */
function offerUndoOfMerge(target: Book, duplicate: Book, { lostNames }: MergeOutcome): void {
  const loss = lostNames.length === 0 ? ''
    : ` Gone with the other: ${lostNames.map((name) => formatPlace(name.split('.'))).join('; ')}.`;
  offerUndo({
    name: duplicate.title, path: apiPath('books', duplicate.id),
    address: ['books', 'duplicates', target.id, duplicate.id],
    notice: `Merged two books into ${target.title}.${loss}`,
  });
}

/** The members of the duplicate whose values are nowhere in the book. */
type MergeOutcome = { readonly lostNames: readonly string[] };

/** Resolves with null where one of them is not as it was shown. Throws ApiError. */
async function mergeAsShown(
  target: StoredBook, duplicate: StoredBook, names: MergedNames,
): Promise<MergeOutcome | null> {
  const current = await fetchBook(duplicate.book.id);
  if (current?.etag !== duplicate.etag) return null;
  try {
    const { headers } = await callApi('POST', apiPath('books', target.book.id, 'merge'), {
      body: { from: duplicate.book.id, ...names }, headers: { 'If-Match': target.etag },
    });
    return { lostNames: headers.get('X-Merge-Lost')?.split(', ') ?? [] };
  } catch (thrown) {
    if (hasStatus(thrown, 412)) return null;
    throw thrown;
  }
}
