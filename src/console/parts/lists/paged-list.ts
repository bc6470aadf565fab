/**
 * A list that fetches its next page when the user scrolls near its end. A search, whose pages may
 * hold few items or none, goes on by itself until it has found enough for a while.
 */
import { LatestCall, getPage } from '../../base/api-calls.ts';
import { h, fill, type Child } from '../../base/dom.ts';
import { formatQuantity, formatTimestamp } from '../../base/format.ts';
import { href } from '../../base/screen-address.ts';
import { loadingLine, showFailureIn, showFailureNotice } from '../notice.ts';
import { VirtualRows, type RowColumn } from './virtual-rows.ts';

type PagedListOptions<Item> = {
  readonly label: string;
  /** Singular and plural. */
  readonly nouns: readonly [string, string];
  readonly columns: readonly RowColumn<Item>[];
  readonly getKey: (item: Item) => string;
  /** The name of the screen that shows an item by its key. */
  readonly screen: string;
  /** Creates the content in place of rows. */
  readonly empty: () => HTMLElement;
  /** Called when the user sorts the list, with the new value of the API's `sort`. */
  readonly onSort?: (sort: string) => void;
  /** Called with the headers of a first page; what it creates is shown above the rows. */
  readonly renderNote?: (headers: Headers) => Child;
  /** Such a note that has to be fetched, together with the first page. */
  readonly readNote?: () => Promise<Child>;
};

/** The size of all pages but the first, whose size the path says. */
const PAGE_SIZE = 1000;
const RETRY_MS = 2000;
/** A search pauses when it has found so many items, until the user scrolls near the last. */
const SEARCHED_ITEMS = 100;
/** The server is asked for the number of rows at most so often. */
const COUNT_MS = 1000;

export class PagedList<Item> {
  readonly element = h('div', { 'aria-busy': 'true' });
  readonly #options: PagedListOptions<Item>;
  readonly #rows: VirtualRows<Item>;
  readonly #count = loadingLine();
  readonly #note = h('div', { role: 'status' });
  readonly #container = h('div');
  #next: string | null = null;
  /** The key of the last row that was fetched: the row itself may be gone. null: there was none. */
  #lastFetchedKey: string | null = null;
  #total = 0;
  /** The time that a search has come back to; null: nothing is left to be searched. */
  #searchedUntil: string | null = null;
  readonly #call = new LatestCall();
  #isReading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Changes that arrived during a read, whose response may be older; null: no read is running. */
  #earlyChanges: (() => void)[] | null = null;

  constructor(options: PagedListOptions<Item>) {
    this.#options = options;
    const { label, columns, getKey, screen, onSort = () => {} } = options;
    this.#rows = new VirtualRows({
      label, columns, getKey, getHref: (item) => href([screen, getKey(item)]), onSort,
      onEnd: () => void this.#readMore(),
    });
    this.element.append(this.#note, this.#count, this.#container);
  }

  close(): void {
    this.#call.abort();
    this.#rows.close();
  }

  /** Shows in the heads of the columns how the list is sorted: the value of the API's `sort`. */
  showSort(sort: string): void {
    this.#rows.showSort(sort);
  }

  /** Fetches the list at `path` from its first page. */
  async read(path: string): Promise<void> {
    const signal = this.#call.begin();
    this.#next = null;
    this.#earlyChanges = [];
    this.#isReading = true;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const [page, note] = await Promise.all([
        getPage<Item>(path, signal), this.#options.readNote?.(),
      ]);
      if (signal.aborted) return;
      const { items, next, total, searchedUntil, headers } = page;
      this.#next = next;
      this.#searchedUntil = searchedUntil;
      this.#lastFetchedKey = this.#findLastKey(items);
      fill(this.#note, note ?? this.#options.renderNote?.(headers) ?? null);
      this.#show(items, total);
    } catch (thrown) {
      if (signal.aborted) return;
      fill(this.#note);
      showFailureIn(this.#container, thrown, () => void this.read(path));
      this.#count.textContent = '';
    }
    this.#isReading = false;
    this.element.removeAttribute('aria-busy');
    const changes = this.#earlyChanges;
    this.#earlyChanges = null;
    for (const applyChange of changes) applyChange();
    if (this.#searchedUntil !== null) void this.#searchOn();
  }

  has(key: string): boolean {
    return this.#find(key).isKnown;
  }

  /** Inserts or updates a row. The rows are in descending order of their keys. */
  put(item: Item): void {
    if (this.#earlyChanges !== null) return void this.#earlyChanges.push(() => this.put(item));
    const { index, isKnown, isUnread } = this.#find(this.#options.getKey(item));
    if (isUnread) return this.#recountSoon();
    if (this.#rows.items.length === 0) return this.#show([item], this.#total + 1);
    this.#rows.replace(index, isKnown ? 1 : 0, item);
    this.#updateCount(isKnown ? 0 : 1);
  }

  remove(key: string): void {
    if (this.#earlyChanges !== null) return void this.#earlyChanges.push(() => this.remove(key));
    const { index, isKnown, isUnread } = this.#find(key);
    if (isUnread) return this.#recountSoon();
    if (!isKnown) return;
    if (this.#rows.items.length === 1) return this.#show([], this.#total - 1);
    this.#rows.replace(index, 1);
    this.#updateCount(-1);
  }

  /** The index of the row, or where it belongs; `isUnread`: on a page that was not fetched yet. */
  #find(key: string): {
    readonly index: number; readonly isKnown: boolean; readonly isUnread: boolean;
  } {
    const keyAt = (index: number): string => {
      const item = this.#rows.items[index];
      return item === undefined ? '' : this.#options.getKey(item);
    };
    let low = 0;
    let high = this.#rows.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keyAt(middle) > key) low = middle + 1;
      else high = middle;
    }
    const isUnread = this.#next !== null
      && (this.#lastFetchedKey === null || key < this.#lastFetchedKey);
    return { index: low, isKnown: keyAt(low) === key, isUnread };
  }

  #findLastKey(items: readonly Item[]): string | null {
    const item = items.at(-1);
    return item === undefined ? null : this.#options.getKey(item);
  }

  /** Only the server knows the number of rows on pages that were not fetched. */
  #recountSoon(): void {
    if (this.#searchedUntil !== null) return;
    this.#timer ??= setTimeout(() => void this.#recount(), COUNT_MS);
  }

  async #recount(): Promise<void> {
    this.#timer = undefined;
    const { signal } = this.#call;
    if (this.#next === null || signal.aborted) return;
    try {
      const { total } = await getPage<Item>(withLimit(this.#next, 1), signal);
      this.#show(this.#rows.items, total);
    } catch (thrown) {
      if (!signal.aborted) showFailureNotice(thrown);
    }
  }

  /** `total` is the server's count, if there is one; it is ignored once all pages are fetched. */
  #show(items: readonly Item[], total: number | null): void {
    this.#total = this.#next === null ? items.length : Math.max(total ?? 0, items.length);
    const isEmpty = this.#total === 0 && this.#searchedUntil === null;
    const content = isEmpty ? this.#options.empty() : this.#rows.element;
    if (content.parentElement !== this.#container) fill(this.#container, content);
    this.#rows.set(items, this.#total);
    this.#updateCount(0);
  }

  /** Searches until there are enough more items, or the user has left. */
  async #searchOn(): Promise<void> {
    const { signal } = this.#call;
    const countMax = this.#rows.items.length + SEARCHED_ITEMS;
    while (this.#searchedUntil !== null && this.#rows.items.length < countMax) {
      const next = this.#next;
      await this.#readPage();
      // Another call reads it, or it is read again after a failure.
      if (signal.aborted || this.#next === next) return;
    }
  }

  async #readMore(): Promise<void> {
    await (this.#searchedUntil === null ? this.#readPage() : this.#searchOn());
  }

  async #readPage(): Promise<void> {
    const { signal } = this.#call;
    if (this.#next === null || this.#isReading || signal.aborted) return;
    this.#isReading = true;
    try {
      const limit = this.#searchedUntil === null ? PAGE_SIZE : SEARCHED_ITEMS;
      const page = await getPage<Item>(withLimit(this.#next, limit), signal);
      this.#next = page.next;
      this.#searchedUntil = page.searchedUntil;
      this.#isReading = false;
      this.#lastFetchedKey = this.#findLastKey(page.items) ?? this.#lastFetchedKey;
      this.#show([...this.#rows.items, ...page.items], page.total);
    } catch (thrown) {
      if (signal.aborted) return;
      showFailureNotice(thrown);
      setTimeout(() => {
        // Another list is read by now.
        if (signal.aborted) return;
        this.#isReading = false;
        void this.#readMore();
      }, RETRY_MS);
    }
  }

  #updateCount(addedCount: number): void {
    this.#total += addedCount;
    const quantity = formatQuantity(this.#total, ...this.#options.nouns);
    if (this.#searchedUntil !== null) {
      const until = formatTimestamp(this.#searchedUntil);
      this.#count.textContent = `${quantity} found, searched back to ${until} …`;
    } else this.#count.textContent = this.#total === 0 ? '' : quantity;
  }
}

function withLimit(path: string, limit: number): string {
  return path.replace(/\blimit=\d+/, `limit=${limit}`);
}
