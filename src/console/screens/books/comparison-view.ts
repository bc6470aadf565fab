/** Compares two books of a group of duplicates, and merges or deletes one of them. */
import { fill, h, createSelect, type Child } from '../../base/dom.ts';
import { formatQuantity, timeElement } from '../../base/format.ts';
import { href, parseAddress, replaceQuery } from '../../base/screen-address.ts';
import { callerSession } from '../../base/caller-session.ts';
import { runExclusively } from '../../parts/buttons.ts';
import { badge } from '../../parts/badge.ts';
import { emptyState, showFailureNotice } from '../../parts/notice.ts';
import { stackedTable } from '../../parts/tables.ts';
import { backLink, goIfStillHere, heading, openView } from '../../parts/screen.ts';
import { compareBooks, type ComparedMember } from './compare-books.ts';
import { formatMember, formatPath } from './member-text.ts';
import { openMergeDialog } from './merge-dialog.ts';
import { deleteBook, fetchBook, type StoredBook } from './stored-book.ts';

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
    const merge = this.#button(`Merge into the ${side} book`, '', () =>
      this.#merge(`the ${side} book`, stored, other));
    const remove = this.#button(`Delete the ${side} book`, 'danger', () => this.#delete(stored));
    return h('section.card',
      h('h2', `The ${side} book`),
      h('p', h('a', { href: href(['books', book.id]) }, book.title), h('br'), h('span.hint',
        'Added ', timeElement(book.createdAt), ', changed ', timeElement(book.updatedAt))),
      this.#books.length > 2 ? this.#choice(side, stored, other) : null,
      callerSession.may('write') ? h('div.actions', merge, remove) : null);
  }

  /** Chooses another book of the group in place of this one. */
  #choice(side: Side, { book: { id } }: StoredBook, other: StoredBook): HTMLElement {
    const otherSide = side === 'first' ? 'second' : 'first';
    const choices = this.#books.flatMap((stored, index) => stored === other ? []
      : [[stored.book.id, `${index + 1}: ${stored.book.title}`] as const]);
    const select = createSelect(choices, id, { name: side, onchange: () => {
      const ids = { [side]: select.value, [otherSide]: other.book.id };
      replaceQuery({ by: this.#by, ...ids });
      this.show(ids);
      this.#container.querySelector<HTMLElement>(`[name=${side}]`)?.focus();
    } });
    return h('label.filter', h('span', `Compare as the ${side} book`), select);
  }

  #button(text: string, style: string, action: () => Promise<void>): HTMLButtonElement {
    return h('button', { class: style, onclick: () => {
      // All buttons: nobody who deletes one book means to delete the other as well.
      const buttons = this.#container.querySelectorAll('button');
      void runExclusively([...buttons], action).catch(showFailureNotice);
    } }, text);
  }

  async #delete(removed: StoredBook): Promise<void> {
    if (await deleteBook(removed, this.#refresh)) this.#goOnWithout(removed);
  }

  async #merge(targetName: string, target: StoredBook, duplicate: StoredBook): Promise<void> {
    if (await openMergeDialog(targetName, target, duplicate, this.#refresh)) {
      this.#goOnWithout(duplicate);
    }
  }

  #goOnWithout(removed: StoredBook): void {
    const ids = this.#books.filter((stored) => stored !== removed).map(({ book: { id } }) => id);
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
