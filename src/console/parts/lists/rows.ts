/**
 * A table of any length: only the rows in view are in the page. All rows have one height. The page
 * itself scrolls, and keeps its place when rows come in above.
 */
import { h, fill } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';

export type RowColumn<Item> = {
  readonly title: string;
  readonly cell: (item: Item) => Child;
  /** `number`: to the right. `extra`: not on narrow screens. `main`: takes what room there is. */
  readonly kind?: 'main' | 'number' | 'extra';
};

type RowsOptions<Item> = {
  readonly label: string;
  readonly columns: readonly RowColumn<Item>[];
  readonly keyOf: (item: Item) => string;
  /** Where the row leads to; its first cell is the link. */
  readonly hrefOf: (item: Item) => string;
  /** Called when the end of what is known comes into view. */
  readonly onEnd?: () => void;
};

/** Rows made beyond both ends of what is in view. */
const MARGIN = 12;
const ROW_PIXELS = 44;

export class Rows<Item> {
  readonly element: HTMLElement;
  readonly #options: RowsOptions<Item>;
  readonly #body = h('tbody');
  readonly #table: HTMLTableElement;
  #items: Item[] = [];
  #rowPixels = ROW_PIXELS;
  #shown = { start: -1, end: -1 };
  #isAsked = false;
  readonly #onScroll = (): void => this.#askRender();

  constructor(options: RowsOptions<Item>) {
    this.#options = options;
    const head = options.columns.map(({ title, kind = '' }) =>
      h('th', { scope: 'col', class: kind }, title));
    this.#table = h('table', { class: 'rows', 'aria-label': options.label },
      h('thead', {}, h('tr', {}, ...head)), this.#body);
    this.element = h('div', { class: 'rows-place' }, this.#table);
    addEventListener('scroll', this.#onScroll, { passive: true });
    addEventListener('resize', this.#onScroll);
  }

  close(): void {
    removeEventListener('scroll', this.#onScroll);
    removeEventListener('resize', this.#onScroll);
  }

  get size(): number {
    return this.#items.length;
  }

  set(items: readonly Item[]): void {
    this.#items = [...items];
    this.#refresh();
  }

  append(items: readonly Item[]): void {
    this.#items.push(...items);
    this.#refresh();
  }

  /** Puts a row first, or in the place of the one with its key. */
  put(item: Item): void {
    const { keyOf } = this.#options;
    const key = keyOf(item);
    const index = this.#items.findIndex((one) => keyOf(one) === key);
    if (index !== -1) {
      this.#items[index] = item;
    } else {
      this.#items.unshift(item);
      // Who has scrolled down keeps looking at the same rows.
      if (this.#body.getBoundingClientRect().top < 0) scrollBy(0, this.#rowPixels);
    }
    this.#refresh();
  }

  remove(key: string): void {
    this.#items = this.#items.filter((item) => this.#options.keyOf(item) !== key);
    this.#refresh();
  }

  #refresh(): void {
    this.#shown = { start: -1, end: -1 };
    this.#render();
  }

  #askRender(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#render();
    });
  }

  #render(): void {
    const top = this.#body.getBoundingClientRect().top;
    const first = Math.floor(-top / this.#rowPixels) - MARGIN;
    const inView = Math.ceil(innerHeight / this.#rowPixels) + 2 * MARGIN;
    const start = Math.max(0, Math.min(first, this.#items.length - inView));
    const end = Math.min(this.#items.length, start + inView);
    if (end >= this.#items.length - MARGIN) this.#options.onEnd?.();
    if (start === this.#shown.start && end === this.#shown.end) return;
    this.#shown = { start, end };
    const focused = this.#focusedKey();
    this.#table.setAttribute('aria-rowcount', String(this.#items.length + 1));
    const rows = this.#items.slice(start, end).map((item, index) =>
      this.#row(item, start + index));
    fill(this.#body, spacer(start * this.#rowPixels), ...rows,
      spacer((this.#items.length - end) * this.#rowPixels));
    if (focused !== null) this.#focus(focused);
    this.#measure(rows[0]);
  }

  #row(item: Item, index: number): HTMLElement {
    const { columns, hrefOf, keyOf } = this.#options;
    const cells = columns.map(({ cell, title, kind = '' }, at) => h('td', {
      class: kind, 'data-title': title,
    }, at === 0 ? h('a', { href: hrefOf(item), class: 'row-link' }, cell(item)) : cell(item)));
    return h('tr', { 'aria-rowindex': index + 2, 'data-key': keyOf(item) }, ...cells);
  }

  // The height follows from the width of the screen and the size of its letters.
  #measure(row: HTMLElement | undefined): void {
    const pixels = row?.getBoundingClientRect().height ?? 0;
    if (pixels === 0 || Math.abs(pixels - this.#rowPixels) < 0.5) return;
    this.#rowPixels = pixels;
    this.#refresh();
  }

  #focusedKey(): string | null {
    const row = document.activeElement?.closest('tr');
    return row !== null && row !== undefined && this.#body.contains(row)
      ? row.getAttribute('data-key') : null;
  }

  #focus(key: string): void {
    const row = this.#body.querySelector(`tr[data-key="${CSS.escape(key)}"] a`);
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
  }
}

function spacer(pixels: number): HTMLElement {
  const cell = h('td', { class: 'spacer' });
  cell.style.height = `${pixels}px`;
  return h('tr', { 'aria-hidden': 'true', class: 'spacer' }, cell);
}
