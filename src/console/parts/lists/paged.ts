/** A list that reads its next page when its end comes into view. */
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

export class PagedList<Item> {
  readonly element = h('div', { class: 'paged' });
  readonly #options: PagedOptions<Item>;
  readonly #rows: Rows<Item>;
  readonly #count = h('p', { class: 'count', role: 'status' });
  readonly #place = h('div');
  #next: string | null = null;
  #total: number | null = null;
  #controller = new AbortController();
  #isReading = false;

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
    this.#controller = new AbortController();
    this.#next = null;
    this.#isReading = true;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const { items, next, total } = await page<Item>(path, this.#controller.signal);
      this.#next = next;
      this.#total = total;
      this.#show(items);
    } catch (thrown) {
      showFailure(this.#place, thrown, () => void this.read(path));
    } finally {
      this.#isReading = false;
      this.element.removeAttribute('aria-busy');
    }
  }

  /** A new row, or a row that has changed. */
  put(item: Item): void {
    const before = this.#rows.size;
    if (before === 0) this.#show([item]);
    else this.#rows.put(item);
    if (this.#rows.size > before && this.#total !== null) this.#total += before === 0 ? 0 : 1;
    this.#tellCount();
  }

  remove(key: string): void {
    const before = this.#rows.size;
    this.#rows.remove(key);
    if (this.#rows.size < before && this.#total !== null) this.#total -= 1;
    if (this.#rows.size === 0 && before > 0) this.#show([]);
    this.#tellCount();
  }

  #show(items: readonly Item[]): void {
    if (items.length === 0) {
      fill(this.#place, this.#options.empty());
    } else {
      fill(this.#place, this.#rows.element);
    }
    this.#rows.set(items);
    this.#tellCount();
  }

  async #readMore(): Promise<void> {
    if (this.#next === null || this.#isReading) return;
    this.#isReading = true;
    try {
      const { items, next } = await page<Item>(this.#next, this.#controller.signal);
      this.#next = next;
      this.#isReading = false;
      this.#rows.append(items);
    } catch (thrown) {
      this.#isReading = false;
      tellFailure(thrown);
    }
  }

  #tellCount(): void {
    const [one, several] = this.#options.nouns;
    this.#count.textContent = this.#rows.size === 0 ? ''
      : counted(this.#total ?? this.#rows.size, one, several);
  }
}
