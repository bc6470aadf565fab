/** A list that reads its next pages when they come into view. */
import { page } from '../../base/api.ts';
import { h, fill } from '../../base/dom.ts';
import { counted } from '../../base/format.ts';
import { showFailure, tellFailure } from '../notice.ts';
import { Rows } from './rows.ts';
import type { RowColumn } from './rows.ts';

type PagedOptions<Item> = {
  readonly label: string;
  /** What one is called, and several. */
  readonly nouns: readonly [string, string];
  readonly columns: readonly RowColumn<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly hrefOf: (item: Item) => string;
  /** Stands in the place of a list without rows. */
  readonly empty: () => HTMLElement;
};

/** Of the pages after the first, whose size is the caller's. */
const PAGE = 1000;
const RETRY_MS = 2000;
/** Rows are counted anew at most so often. */
const COUNT_MS = 1000;

export class PagedList<Item> {
  readonly element = h('div', { 'aria-busy': 'true' });
  readonly #options: PagedOptions<Item>;
  readonly #rows: Rows<Item>;
  readonly #count = h('p', { class: 'count', role: 'status' }, 'Loading…');
  readonly #place = h('div');
  #next: string | null = null;
  #total = 0;
  #controller = new AbortController();
  #isReading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What came while the first page was read: it may be older. */
  #early: (() => void)[] | null = null;

  constructor(options: PagedOptions<Item>) {
    this.#options = options;
    const { label, columns, keyOf, hrefOf } = options;
    this.#rows = new Rows({ label, columns, keyOf, hrefOf, onEnd: () => void this.#readMore() });
    this.element.append(this.#count, this.#place);
  }

  close(): void {
    this.#controller.abort();
    this.#rows.close();
  }

  /** Reads the list of that path anew. */
  async read(path: string): Promise<void> {
    this.#controller.abort();
    const controller = new AbortController();
    this.#controller = controller;
    this.#next = null;
    this.#early = [];
    this.#isReading = true;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const { items, next, total } = await page<Item>(path, controller.signal);
      this.#next = next;
      this.#show(items, total);
    } catch (thrown) {
      if (controller.signal.aborted) return;
      showFailure(this.#place, thrown, () => void this.read(path));
      this.#count.textContent = '';
    }
    this.#isReading = false;
    this.element.removeAttribute('aria-busy');
    const early = this.#early;
    this.#early = null;
    for (const work of early) work();
  }

  has(key: string): boolean {
    return this.#find(key).isKnown;
  }

  /** A new row, or one that has changed, of a list whose keys fall from row to row. */
  put(item: Item): void {
    if (this.#early !== null) return void this.#early.push(() => this.put(item));
    if (this.#rows.items.length === 0) return this.#show([item], this.#total);
    const { index, isKnown, isUnread } = this.#find(this.#options.keyOf(item));
    if (isUnread) return this.#countSoon();
    this.#rows.replace(index, isKnown ? 1 : 0, item);
    this.#tellCount(isKnown ? 0 : 1);
  }

  remove(key: string): void {
    if (this.#early !== null) return void this.#early.push(() => this.remove(key));
    const { index, isKnown, isUnread } = this.#find(key);
    if (isUnread) return this.#countSoon();
    if (!isKnown) return;
    if (this.#rows.items.length === 1) return this.#show([], this.#total - 1);
    this.#rows.replace(index, 1);
    this.#tellCount(-1);
  }

  /** Where the row of that key is, or would be; `isUnread`: on a page that is not read yet. */
  #find(key: string): {
    readonly index: number; readonly isKnown: boolean; readonly isUnread: boolean;
  } {
    const keyAt = (index: number): string => {
      const item = this.#rows.items[index];
      return item === undefined ? '' : this.#options.keyOf(item);
    };
    let low = 0;
    let high = this.#rows.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keyAt(middle) > key) low = middle + 1;
      else high = middle;
    }
    const isUnread = low === this.#rows.items.length && this.#next !== null;
    return { index: low, isKnown: keyAt(low) === key, isUnread };
  }

  /** Whether a row that is not read yet came or went, the server alone knows. */
  #countSoon(): void {
    this.#timer ??= setTimeout(() => void this.#countAnew(), COUNT_MS);
  }

  async #countAnew(): Promise<void> {
    this.#timer = undefined;
    const { signal } = this.#controller;
    if (this.#next === null || signal.aborted) return;
    try {
      const { total } = await page<Item>(limited(this.#next, 1), signal);
      this.#show(this.#rows.items, total);
    } catch (thrown) {
      if (!signal.aborted) tellFailure(thrown);
    }
  }

  /** `total` is what the server counted, if it did; once all rows are read, they are counted. */
  #show(items: readonly Item[], total: number | null): void {
    this.#total = this.#next === null ? items.length : Math.max(total ?? 0, items.length);
    const shown = this.#total === 0 ? this.#options.empty() : this.#rows.element;
    if (shown.parentElement !== this.#place) fill(this.#place, shown);
    this.#rows.set(items, this.#total);
    this.#tellCount(0);
  }

  async #readMore(): Promise<void> {
    const { signal } = this.#controller;
    if (this.#next === null || this.#isReading || signal.aborted) return;
    this.#isReading = true;
    try {
      const { items, next, total } = await page<Item>(limited(this.#next, PAGE), signal);
      this.#next = next;
      this.#isReading = false;
      this.#show([...this.#rows.items, ...items], total);
    } catch (thrown) {
      if (signal.aborted) return;
      tellFailure(thrown);
      setTimeout(() => {
        this.#isReading = false;
        void this.#readMore();
      }, RETRY_MS);
    }
  }

  #tellCount(grown: number): void {
    this.#total += grown;
    this.#count.textContent = this.#total === 0 ? '' : counted(this.#total, ...this.#options.nouns);
  }
}

function limited(path: string, limit: number): string {
  return path.replace(/\blimit=\d+/, `limit=${limit}`);
}
