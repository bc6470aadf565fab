/**
 * A table of any length: only the rows in view are in the page, and room is kept for those that are
 * not read yet. All rows have one height. The page itself scrolls, and keeps its place when rows
 * come in above.
 */
import { h } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';

export type RowColumn<Item> = {
  readonly title: string;
  readonly cell: (item: Item) => Child;
  /**
   * `number`: to the right, and on narrow screens behind its title. `extra`: not on narrow screens.
   * `main`, `wide`: takes more room.
   */
  readonly kind?: 'main' | 'wide' | 'number' | 'number extra' | 'extra';
};

type RowsOptions<Item> = {
  readonly label: string;
  readonly columns: readonly RowColumn<Item>[];
  readonly keyOf: (item: Item) => string;
  /** Where the row leads to; its first cell is the link. */
  readonly hrefOf: (item: Item) => string;
  /** Called when rows that are not read yet come near what is in view. */
  readonly onEnd?: () => void;
};

/** Browsers end a page at 17 to 33 million pixels: so many rows fit, also on a narrow screen. */
const ROWS_MAX = 300_000;
/** Rows made beyond both ends of what is in view. */
const MARGIN = 12;
const ROW_PIXELS = 44;

export class Rows<Item> {
  readonly element: HTMLElement;
  readonly #options: RowsOptions<Item>;
  readonly #body = h('tbody');
  readonly #table: HTMLTableElement;
  readonly #cellClasses: readonly string[];
  #items: Item[] = [];
  #total = 0;
  #rowPixels = ROW_PIXELS;
  #shown = { start: -1, end: -1 };
  /** The rows that are made, by what they show: an item that was read anew is another object. */
  #made: ReadonlyMap<string, HTMLElement> = new Map();
  /** Pixels that came in above what is in view, and that the page has not scrolled by yet. */
  #above = 0;
  #isAsked = false;
  /** Where the page was when one left the list by a row of it, and comes back. */
  #place = placeIn(history.state);
  readonly #onScroll = (): void => this.#askRender();

  constructor(options: RowsOptions<Item>) {
    this.#options = options;
    const head = options.columns.map(({ title, kind = '' }) =>
      h('th', { scope: 'col', class: kind }, title));
    this.#cellClasses = cellClasses(options.columns);
    this.#table = h('table', { class: 'rows', 'aria-label': options.label },
      h('thead', {}, h('tr', {}, ...head)), this.#body);
    this.element = h('div', { tabindex: -1 }, this.#table);
    this.#body.addEventListener('click', () => {
      history.replaceState({ y: scrollY }, '');
    });
    this.#body.addEventListener('keydown', (event) => this.#onKey(event));
    addEventListener('scroll', this.#onScroll, { passive: true });
    addEventListener('resize', this.#onScroll);
  }

  close(): void {
    removeEventListener('scroll', this.#onScroll);
    removeEventListener('resize', this.#onScroll);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** `total` counts those that are not read yet, too. */
  set(items: readonly Item[], total = items.length): void {
    this.#items = items.slice(0, ROWS_MAX);
    this.#total = Math.min(total, ROWS_MAX);
    this.#change();
  }

  /** Takes out so many rows from `index` on and puts in others. */
  replace(index: number, removed: number, ...added: readonly Item[]): void {
    this.#items.splice(index, removed, ...added);
    const grown = added.length - removed;
    this.#total += grown;
    // Who has scrolled down keeps looking at the same rows.
    const top = this.#body.getBoundingClientRect().top - this.#above;
    if (top + index * this.#rowPixels < 0) this.#above += grown * this.#rowPixels;
    this.#change();
  }

  #change(): void {
    this.#shown = { start: -1, end: -1 };
    this.#askRender();
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
    const top = this.#body.getBoundingClientRect().top - this.#above;
    const first = Math.floor(-top / this.#rowPixels) - MARGIN;
    const inView = Math.ceil(innerHeight / this.#rowPixels) + 2 * MARGIN;
    const start = Math.max(0, Math.min(first, this.#total - inView));
    const end = Math.min(this.#total, start + inView);
    if (Math.min(end + MARGIN, ROWS_MAX) > this.#items.length) this.#options.onEnd?.();
    if (start === this.#shown.start && end === this.#shown.end) return;
    this.#shown = { start, end };
    const focused = this.#focusedKey();
    this.#table.setAttribute('aria-rowcount', String(this.#total + 1));
    const items = this.#items.slice(start, end);
    this.#made = new Map(items.map((item, index) => {
      const shown = JSON.stringify(item);
      return [shown, this.#row(item, start + index, this.#made.get(shown))];
    }));
    const rows = [...this.#made.values(), ...Array.from(
      { length: end - start - items.length }, () => this.#unreadRow())];
    replaceRows(this.#body, [spacer(start * this.#rowPixels), ...rows,
      spacer((this.#total - end) * this.#rowPixels)]);
    if (this.#above !== 0) scrollBy(0, this.#above);
    this.#above = 0;
    if (focused !== null) this.#focus(focused);
    this.#measure(rows[0]);
    if (this.#place > 0 && this.#total > 0) scrollTo(0, this.#place);
    if (this.#total > 0) this.#place = 0;
  }

  /** What one is clicking on stays there: the row of before where it shows the same. */
  #row(item: Item, index: number, before: HTMLElement | undefined): HTMLElement {
    const { columns, hrefOf, keyOf } = this.#options;
    const row = before ?? h('tr', { 'data-key': keyOf(item) },
      ...columns.map(({ title, cell }, at) => {
        const content = cell(item);
        // It may be cut at the end of its cell.
        const whole = typeof content === 'string' ? content : null;
        return h('td', { class: this.#cellClasses[at], 'data-title': title, title: whole },
          at === 0 ? h('a', { href: hrefOf(item), class: 'row-link' }, content) : content);
      }));
    row.setAttribute('aria-rowindex', String(index + 2));
    return row;
  }

  #unreadRow(): HTMLElement {
    const { length } = this.#options.columns;
    return h('tr', { 'aria-hidden': 'true' }, h('td', { colspan: length }, '…'));
  }

  // The height follows from the width of the screen and the size of its letters.
  #measure(row: HTMLElement | undefined): void {
    const pixels = row?.getBoundingClientRect().height ?? 0;
    if (pixels === 0 || Math.abs(pixels - this.#rowPixels) < 0.5) return;
    this.#rowPixels = pixels;
    this.#change();
  }

  #onKey(event: KeyboardEvent): void {
    const row = document.activeElement?.closest('tr');
    const next = event.key === 'ArrowDown' ? row?.nextElementSibling
      : event.key === 'ArrowUp' ? row?.previousElementSibling : null;
    const link = next?.querySelector('a');
    if (link === null || link === undefined) return;
    event.preventDefault();
    link.focus();
  }

  #focusedKey(): string | null {
    const row = document.activeElement?.closest('tr');
    return row !== null && row !== undefined && this.#body.contains(row)
      ? row.getAttribute('data-key') : null;
  }

  // Where the row is out of view the list has the focus, so that Tab goes on in what is in view.
  #focus(key: string): void {
    const row = this.#body.querySelector(`tr[data-key="${CSS.escape(key)}"] a`);
    (row instanceof HTMLElement ? row : this.element).focus({ preventScroll: true });
  }
}

/** On narrow screens cells stand two in a line: `right` is the second one. */
function cellClasses(columns: readonly Pick<RowColumn<unknown>, 'kind'>[]): string[] {
  let shownCount = 0;
  return columns.map(({ kind = '' }) => {
    if (kind.includes('extra')) return kind;
    shownCount += 1;
    return shownCount % 2 === 0 ? `${kind} right` : kind;
  });
}

/** Puts these in the place of all rows; those that stay are not taken out meanwhile. */
function replaceRows(body: HTMLElement, rows: readonly HTMLElement[]): void {
  const staying = new Set<Element>(rows);
  for (const row of [...body.children]) if (!staying.has(row)) row.remove();
  let next = body.firstElementChild;
  for (const row of rows) {
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  }
}

function placeIn(state: unknown): number {
  return typeof state === 'object' && state !== null && 'y' in state ? Number(state.y) : 0;
}

function spacer(pixels: number): HTMLElement {
  const cell = h('td', { class: 'spacer' });
  cell.style.height = `${pixels}px`;
  return h('tr', { 'aria-hidden': 'true', class: 'spacer' }, cell);
}
