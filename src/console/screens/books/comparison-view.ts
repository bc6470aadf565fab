/** Compares two books of a group of duplicates, and deletes one of them. */
import { ApiError, callApi } from '../../base/api-calls.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { formatQuantity, formatValue, timeElement } from '../../base/format.ts';
import { href, parseAddress, replaceQuery } from '../../base/screen-address.ts';
import { callerSession } from '../../base/caller-session.ts';
import { runExclusively } from '../../parts/async-button.ts';
import { badge } from '../../parts/badge.ts';
import { backLink, heading } from '../../parts/facts.ts';
import { formatLabel } from '../../parts/forms/input-field.ts';
import { emptyState, showFailureNotice } from '../../parts/notice.ts';
import { stackedTable } from '../../parts/plain-table.ts';
import { goIfStillHere, openView } from '../../parts/screen.ts';
import type { Book } from '../../../books/book.ts';
import { memberLabels } from './book-labels.ts';
import { compareBooks, type ComparedMember } from './compare-books.ts';
import { bookPath, deleteBook } from './delete-book.ts';

type StoredBook = { readonly book: Book; readonly etag: string };
/** Where one of the two stands, and the name of its parameter in the address. */
type Side = 'first' | 'second';

export function openComparison(container: HTMLElement, ids: readonly string[]): () => void {
  return openView(container, async (refresh) => {
    // It changes with what is compared.
    const { by = 'isbn', ...sides } = Object.fromEntries(parseAddress().query);
    const books = (await Promise.all(ids.map(fetchBook))).filter((stored) => stored !== null);
    const body = h('div');
    fill(container, backLink(['books', 'duplicates'], 'Duplicates', { by }),
      heading('Compare duplicates'), body);
    new BookComparison(body, books, by, refresh).show(sides);
  });
}

/** Resolves with null for a book that was deleted. */
async function fetchBook(id: string): Promise<StoredBook | null> {
  try {
    const { body, headers } = await callApi<Book>('GET', bookPath(id));
    return { book: body, etag: headers.get('ETag') ?? '' };
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 404) return null;
    throw thrown;
  }
}

class BookComparison {
  readonly #container: HTMLElement;
  readonly #books: readonly StoredBook[];
  readonly #by: string;
  readonly #refresh: () => Promise<void>;

  constructor(
    container: HTMLElement, books: readonly StoredBook[], by: string, refresh: () => Promise<void>,
  ) {
    this.#container = container;
    this.#books = books;
    this.#by = by;
    this.#refresh = refresh;
  }

  /** Compares the books of these ids; without them, the first two of the group. */
  show(ids: { readonly [name in Side]?: string }): void {
    const first = this.#books.find(({ book }) => book.id === ids.first) ?? this.#books[0];
    const others = this.#books.filter((stored) => stored !== first);
    const second = others.find(({ book }) => book.id === ids.second) ?? others[0];
    if (first === undefined || second === undefined) {
      return fill(this.#container,
        emptyState('Of these books one is left at most: there is nothing to compare.', null));
    }
    const members = compareBooks(first.book, second.book);
    fill(this.#container,
      h('div.cards', this.#card('first', first, second), this.#card('second', second, first)),
      h('h2', formatDifferences(members)),
      stackedTable(['Member', 'First book', 'Second book'], members.map(renderMember)));
  }

  #card(side: Side, stored: StoredBook, other: StoredBook): HTMLElement {
    const { book } = stored;
    const remove = h('button.danger', { onclick: () => {
      // Both buttons: nobody who deletes one means to delete the other as well.
      const buttons = this.#container.querySelectorAll('button');
      void runExclusively([...buttons], () => this.#delete(stored)).catch(showFailureNotice);
    } }, `Delete the ${side} book`);
    return h('section.card',
      h('h2', `The ${side} book`),
      h('p', h('a', { href: href(['books', book.id]) }, book.title), h('br'), h('span.hint',
        'Added ', timeElement(book.createdAt), ', changed ', timeElement(book.updatedAt))),
      this.#books.length > 2 ? this.#choice(side, stored, other) : null,
      callerSession.may('write') ? h('div.actions', remove) : null);
  }

  /** Chooses another book of the group in place of this one. */
  #choice(side: Side, { book: { id } }: StoredBook, other: StoredBook): HTMLElement {
    const otherSide = side === 'first' ? 'second' : 'first';
    const select = h('select', { name: side, onchange: () => {
      const ids = { [side]: select.value, [otherSide]: other.book.id };
      replaceQuery({ by: this.#by, ...ids });
      this.show(ids);
      this.#container.querySelector<HTMLElement>(`[name=${side}]`)?.focus();
    } }, ...this.#books.flatMap((stored, index) => stored === other ? [] : [h('option',
      { value: stored.book.id }, `${index + 1}: ${stored.book.title}`)]));
    select.value = id;
    return h('label.filter', h('span', `Compare as the ${side} book`), select);
  }

  async #delete({ book, etag }: StoredBook): Promise<void> {
    if (!await deleteBook(book, etag, this.#refresh)) return;
    const ids = this.#books.map(({ book: { id } }) => id).filter((id) => id !== book.id);
    // One alone is no duplicate any more.
    goIfStillHere(this.#container, ['books', 'duplicates', ...ids.length > 1 ? ids : []],
      { by: this.#by });
  }
}

function formatDifferences(members: readonly ComparedMember[]): string {
  const count = members.filter(({ isDifferent }) => isDifferent).length;
  if (count === 0) return 'They are the same';
  return `${formatQuantity(count, 'member')} ${count === 1 ? 'differs' : 'differ'}`;
}

function renderMember({ path, values, isDifferent }: ComparedMember): Child[] {
  return [
    h('span', formatPath(path), ' ', isDifferent ? badge('differs') : null),
    ...values.map(formatMember),
  ];
}

/** `Authors, 1, born`: positions begin with 1 for people, and metadata has users' names. */
function formatPath(path: ComparedMember['path']): string {
  const words = path.map((step, index) => {
    if (typeof step === 'number') return String(step + 1);
    if (index > 0 && path[0] === 'metadata') return step;
    const names = path.slice(0, index + 1).filter((name) => typeof name === 'string');
    const label = memberLabels[names.join('.')] ?? formatLabel(step);
    return index === 0 ? label : label.toLowerCase();
  });
  return words.join(', ');
}

function formatMember(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : formatValue(value);
}
