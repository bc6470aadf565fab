/**
 * The books of the list that are chosen to be changed together: a column of boxes, and a bar that
 * says how many there are.
 */
import { getPage } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { formatCount } from '../../base/format.ts';
import { appendQuery, type Query } from '../../base/screen-address.ts';
import { runExclusively } from '../../parts/buttons.ts';
import type { RowColumn } from '../../parts/lists/virtual-rows.ts';
import { showFailureNotice, showNotice } from '../../parts/notice.ts';
import type { Book } from '../../../books/book.ts';
import { openChangeDialog } from './change-books.ts';

type NamedBook = Pick<Book, 'id' | 'title'>;

/** So many are chosen at once: the page of a list holds no more. */
const BOOKS_MAX = 1000;

export class ChosenBooks {
  readonly element: HTMLElement;
  readonly column: RowColumn<NamedBook> = {
    title: '', kind: 'box', cell: (book) => this.#createBox(book),
  };
  /** The titles by the ids. */
  readonly #titles = new Map<string, string>();
  readonly #list: HTMLElement;
  readonly #readQuery: () => Query;
  readonly #onChanged: () => void;
  readonly #count = h('span.count', { role: 'status' });
  readonly #all = h('input', { type: 'checkbox', onchange: () => {
    if (this.#all.checked) void this.#chooseAll().catch(showFailureNotice);
    else this.clear();
  } });
  readonly #change = h('button', { onclick: () => this.#openDialog() }, 'Change them…');

  /**
   * `list` holds the rows; `readQuery` gives the query of the books that it shows. `onChanged` is
   * called when books were changed.
   */
  constructor(list: HTMLElement, readQuery: () => Query, onChanged: () => void) {
    this.#list = list;
    this.#readQuery = readQuery;
    this.#onChanged = onChanged;
    this.element = h('div.bulk',
      h('label.choice', this.#all, 'Choose all'), this.#count, this.#change);
    this.#show();
  }

  clear(): void {
    this.#titles.clear();
    this.#show();
  }

  #createBox({ id, title }: NamedBook): HTMLElement {
    const box = h('input', { type: 'checkbox', 'aria-label': `Choose ${title}`, onchange: () => {
      if (box.checked) this.#titles.set(id, title);
      else this.#titles.delete(id);
      this.#all.checked = false;
      this.#showCount();
    } });
    box.checked = this.#titles.has(id);
    return box;
  }

  async #chooseAll(): Promise<void> {
    const { items, total } = await getPage<NamedBook>(appendQuery('/api/books',
      { ...this.#readQuery(), limit: String(BOOKS_MAX), fields: 'title' }));
    for (const { id, title } of items) this.#titles.set(id, title);
    if (total !== null && total > items.length) {
      showNotice(`The first ${formatCount(items.length)} of ${formatCount(total)} are chosen.`);
    }
    this.#show();
  }

  #show(): void {
    for (const row of this.#list.querySelectorAll<HTMLElement>('tr[data-key]')) {
      const box = row.querySelector('input');
      if (box !== null) box.checked = this.#titles.has(row.dataset['key'] ?? '');
    }
    if (this.#titles.size === 0) this.#all.checked = false;
    this.#showCount();
  }

  #showCount(): void {
    this.#count.textContent =
      this.#titles.size === 0 ? '' : `${formatCount(this.#titles.size)} chosen`;
    this.#change.disabled = this.#titles.size === 0;
  }

  #openDialog(): void {
    const count = this.#titles.size;
    openChangeDialog(new Map(this.#titles), (work) =>
      runExclusively([this.#change], () => work({
        onProgress: (doneCount) => fill(this.#count,
          `${formatCount(doneCount)} of ${formatCount(count)} done`),
        // The user may have left the screen meanwhile.
        onChanged: () => this.element.isConnected && this.#onChanged(),
      })));
  }
}
