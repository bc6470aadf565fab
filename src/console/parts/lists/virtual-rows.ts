/**
 * A table of any length (virtual scrolling): the DOM holds only the rows in view, and spacers for
 * all others, fetched or not. All rows have one height; as cards, several stand in a line. The page
 * itself scrolls, and its position is corrected when rows are inserted above the view.
 */
import { h, type Child } from '../../base/dom.ts';

export type RowColumn<Item> = {
  readonly title: string;
  readonly cell: (item: Item) => Child;
  /**
   * `number`: aligned right, and after its title on narrow screens. `extra`: hidden on narrow
   * screens. `short`: as wide as a time or a status needs. `text`, `main`, `wide`, `middle`:
   * wider. `event`: a line of its own on a telephone, as has a `wide` one behind it. `box`: a
   * checkbox, before the cell that has the link.
   */
  readonly kind?: 'text' | 'main' | 'main target' | 'wide' | 'wide event' | 'middle'
    | 'middle extra' | 'box' | 'number' | 'number extra' | 'isbn extra' | 'extra' | 'short'
    | 'short extra';
  /** The list can be sorted by this key of the API. */
  readonly sortKey?: string;
};

type VirtualRowsOptions<Item> = {
  readonly label: string;
  readonly columns: readonly RowColumn<Item>[];
  readonly getKey: (item: Item) => string;
  /** The link of the row, in its first cell that is no checkbox. */
  readonly getHref: (item: Item) => string;
  /** Called when the user scrolls near the end of the fetched rows. */
  readonly onEnd?: () => void;
  /** Called when the user sorts the list, with the new value of the API's `sort`. */
  readonly onSort?: (sort: string) => void;
};

/** Browsers limit a page to 17 to 33 million pixels: so many rows fit, even on narrow screens. */
const ROWS_MAX = 300_000;
const MARGIN_ROWS = 12;
const ROW_PIXELS = 44;

export class VirtualRows<Item> {
  readonly element: HTMLElement;
  readonly #options: VirtualRowsOptions<Item>;
  readonly #body = h('tbody');
  readonly #table: HTMLTableElement;
  readonly #cellClasses: readonly string[];
  /** By the key of the API. */
  readonly #heads = new Map<string, HTMLElement>();
  #sort = '';
  #items: Item[] = [];
  #total = 0;
  /** The height of a line, and how many rows stand in it. */
  #linePixels = ROW_PIXELS;
  #rowsPerLine = 1;
  #renderedRange = { start: -1, end: -1 };
  /** The rendered rows by the JSON of their item: a refetched item is another object. */
  #rowsByContent: ReadonlyMap<string, HTMLElement> = new Map();
  /** The height of rows inserted above the view, which the page has to scroll by. */
  #pixelsAbove = 0;
  #isRenderScheduled = false;
  /** The scroll position to restore when the user comes back from a row to the list. */
  #savedScrollY = readScrollY(history.state);
  readonly #onScroll = (): void => this.#scheduleRender();

  constructor(options: VirtualRowsOptions<Item>) {
    this.#options = options;
    const head = options.columns.map((column) => this.#renderHead(column));
    this.#cellClasses = cellClasses(options.columns);
    this.#table = h('table.rows', { 'aria-label': options.label },
      h('thead', h('tr', {}, ...head)), this.#body);
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

  /** Shows in the heads how the list is sorted: the API's `sort`, of which the first key counts. */
  showSort(sort: string): void {
    this.#sort = sort;
    const [firstKey = ''] = sort.split(',');
    for (const [key, head] of this.#heads) {
      const direction = firstKey === key ? 'ascending' : 'descending';
      if (firstKey.replace('-', '') === key) head.setAttribute('aria-sort', direction);
      else head.removeAttribute('aria-sort');
    }
  }

  /** `total` includes rows that were not fetched yet. */
  set(items: readonly Item[], total = items.length): void {
    this.#items = items.slice(0, ROWS_MAX);
    this.#total = Math.min(total, ROWS_MAX);
    this.#invalidate();
  }

  /** Removes rows from `index` on, and inserts others there. */
  replace(index: number, removedCount: number, ...newItems: readonly Item[]): void {
    this.#items.splice(index, removedCount, ...newItems);
    const addedCount = newItems.length - removedCount;
    this.#total += addedCount;
    // A user who has scrolled down keeps seeing the same rows.
    const top = this.#body.getBoundingClientRect().top - this.#pixelsAbove;
    if (top + this.#measureRows(index) < 0) this.#pixelsAbove += this.#measureRows(addedCount);
    this.#invalidate();
  }

  #invalidate(): void {
    this.#renderedRange = { start: -1, end: -1 };
    this.#scheduleRender();
  }

  #scheduleRender(): void {
    if (this.#isRenderScheduled) return;
    this.#isRenderScheduled = true;
    requestAnimationFrame(() => {
      this.#isRenderScheduled = false;
      this.#render();
    });
  }

  #render(): void {
    const top = this.#body.getBoundingClientRect().top - this.#pixelsAbove;
    const perLine = this.#rowsPerLine;
    const first = (Math.floor(-top / this.#linePixels) - MARGIN_ROWS) * perLine;
    const inView = (Math.ceil(innerHeight / this.#linePixels) + 2 * MARGIN_ROWS) * perLine;
    const last = Math.ceil((this.#total - inView) / perLine) * perLine;
    const start = Math.max(0, Math.min(first, last));
    const end = Math.min(this.#total, start + inView);
    if (Math.min(end + MARGIN_ROWS, ROWS_MAX) > this.#items.length) this.#options.onEnd?.();
    if (start === this.#renderedRange.start && end === this.#renderedRange.end) return;
    this.#renderedRange = { start, end };
    const focusedKey = this.#findFocusedKey();
    this.#table.setAttribute('aria-rowcount', String(this.#total + 1));
    const items = this.#items.slice(start, end);
    this.#rowsByContent = new Map(items.map((item, index) => {
      const content = JSON.stringify(item);
      return [content, this.#renderRow(item, start + index, this.#rowsByContent.get(content))];
    }));
    const rows = [...this.#rowsByContent.values(), ...Array.from(
      { length: end - start - items.length }, () => this.#renderUnreadRow())];
    replaceRows(this.#body, [spacer(this.#measureRows(start)), ...rows,
      spacer(this.#measureRows(this.#total) - this.#measureRows(end))]);
    if (this.#pixelsAbove !== 0) scrollBy(0, this.#pixelsAbove);
    this.#pixelsAbove = 0;
    if (focusedKey !== null) this.#focus(focusedKey);
    this.#measure(rows[0]);
    if (this.#savedScrollY > 0 && this.#total > 0) scrollTo(0, this.#savedScrollY);
    if (this.#total > 0) this.#savedScrollY = 0;
  }

  #renderHead({ title, kind, sortKey }: RowColumn<Item>): HTMLElement {
    if (kind === 'box') return h('td.box');
    const attributes = { scope: 'col', class: kind };
    if (sortKey === undefined) return h('th', attributes, title);
    const sort = (): void => {
      const isAscending = this.#sort.split(',')[0] === sortKey;
      this.#options.onSort?.(isAscending ? `-${sortKey}` : sortKey);
    };
    const head = h('th', attributes, h('button.sort', { onclick: sort }, title));
    this.#heads.set(sortKey, head);
    return head;
  }

  /** Reuses the previous element of an unchanged row, so that a click on it is not lost. */
  #renderRow(item: Item, index: number, previousRow: HTMLElement | undefined): HTMLElement {
    const { columns, getHref, getKey } = this.#options;
    const linked = columns.find(({ kind }) => kind !== 'box');
    const row = previousRow ?? h('tr', { 'data-key': getKey(item) },
      ...columns.map((column, index) => {
        const { title, cell } = column;
        const content = cell(item);
        // The tooltip shows all of a text that is cut at the end of its cell.
        const whole = typeof content === 'string' ? content : null;
        return h('td', { class: this.#cellClasses[index], 'data-title': title, title: whole },
          column !== linked ? content
            : h('a', { href: getHref(item), class: 'row-link' }, content));
      }));
    row.setAttribute('aria-rowindex', String(index + 2));
    return row;
  }

  #renderUnreadRow(): HTMLElement {
    const { length } = this.#options.columns;
    return h('tr', { 'aria-hidden': 'true' }, h('td', { colspan: length }, '…'));
  }

  #measureRows(count: number): number {
    return Math.ceil(count / this.#rowsPerLine) * this.#linePixels;
  }

  // Both depend on the width of the screen and the font size.
  #measure(row: HTMLElement | undefined): void {
    const pixels = row?.getBoundingClientRect().height ?? 0;
    const { display, gridTemplateColumns } = getComputedStyle(this.#body);
    const perLine = display === 'grid' ? gridTemplateColumns.split(' ').length : 1;
    const isSame = Math.abs(pixels - this.#linePixels) < 0.5 && perLine === this.#rowsPerLine;
    if (pixels === 0 || isSame) return;
    this.#linePixels = pixels;
    this.#rowsPerLine = perLine;
    this.#invalidate();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const row = document.activeElement?.closest('tr');
    const neighbour = event.key === 'ArrowDown' ? row?.nextElementSibling
      : row?.previousElementSibling;
    const link = neighbour?.querySelector('a');
    if (link === null || link === undefined) return;
    event.preventDefault();
    link.focus();
  }

  /** The key of the row that has the focus; null: the focus is elsewhere. */
  #findFocusedKey(): string | null {
    const row = document.activeElement?.closest('tr');
    return row !== null && row !== undefined && this.#body.contains(row)
      ? row.getAttribute('data-key') : null;
  }

  // If the row is out of view, the list gets the focus, so that Tab continues in the view.
  #focus(key: string): void {
    const row = this.#body.querySelector(`tr[data-key="${CSS.escape(key)}"] a`);
    (row instanceof HTMLElement ? row : this.element).focus({ preventScroll: true });
  }
}

/** On narrow screens there are two cells in a line: `right` is the second one. */
function cellClasses(columns: readonly Pick<RowColumn<unknown>, 'kind'>[]): string[] {
  let cellCount = 0;
  return columns.map(({ kind = '' }) => {
    if (kind.includes('extra') || kind === 'box') return kind;
    cellCount += 1;
    return cellCount % 2 === 0 ? `${kind} right` : kind;
  });
}

/** Replaces the rows; elements that stay are not detached meanwhile. */
function replaceRows(body: HTMLElement, rows: readonly HTMLElement[]): void {
  const newRows = new Set<Element>(rows);
  for (const row of [...body.children]) if (!newRows.has(row)) row.remove();
  let next = body.firstElementChild;
  for (const row of rows) {
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  }
}

function readScrollY(state: unknown): number {
  return typeof state === 'object' && state !== null && 'y' in state ? Number(state.y) : 0;
}

function spacer(pixels: number): HTMLElement {
  const cell = h('td.spacer');
  cell.style.height = `${pixels}px`;
  return h('tr', { 'aria-hidden': 'true', class: 'spacer' }, cell);
}
