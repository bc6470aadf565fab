/** Rows of text in columns. On a terminal they fit its width; elsewhere nothing is cut. */
import { escapeControls } from '../base/log.ts';
import { cutToWidth, padToWidth, widthOf } from './width.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Never cut: an identifier that lacks its end is of no use. */
  readonly isWhole?: boolean;
};

const GAP = '  ';
// With more, the five columns of books do not fit a terminal of 80.
const CUT_WIDTH_MIN = 6;

/**
 * Lays out one page of rows after another in the same columns, so that a list of any length can
 * be printed as it arrives; the first page sets the widths.
 */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #widthMax: number | null;
  #widths: readonly number[] | null = null;

  /** `widthMax`: the terminal's, null when nothing may be cut. */
  constructor(columns: readonly Column<Row>[], widthMax: number | null) {
    this.#columns = columns;
    this.#widthMax = widthMax;
  }

  /** Lines for these rows; the first page's begin with the titles. */
  lines(rows: readonly Row[]): string[] {
    const cells = rows.map((row) => this.#columns.map(({ value }) => escapeControls(value(row))));
    if (this.#widths !== null) return this.#format(cells, this.#widths);
    const titled = [this.#columns.map(({ title }) => title), ...cells];
    this.#widths = this.#fit(titled);
    return this.#format(titled, this.#widths);
  }

  #fit(cells: readonly (readonly string[])[]): number[] {
    const widths = this.#columns.map((_, index) =>
      cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), 0));
    if (this.#widthMax === null) return widths;
    let surplus = widths.reduce((sum, width) => sum + width, 0)
      + GAP.length * (widths.length - 1) - this.#widthMax;
    // The widest gives a column at a time, so that narrow ones stay as they are.
    while (surplus > 0) {
      const widest = this.#widestToCut(widths);
      if (widest < 0) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      surplus -= 1;
    }
    return widths;
  }

  #widestToCut(widths: readonly number[]): number {
    let found = -1;
    for (const [index, width] of widths.entries()) {
      if (this.#columns[index]?.isWhole === true || width <= CUT_WIDTH_MIN) continue;
      if (found < 0 || width > (widths[found] ?? 0)) found = index;
    }
    return found;
  }

  #format(cells: readonly (readonly string[])[], widths: readonly number[]): string[] {
    return cells.map((row) => row.map((cell, index) => {
      const width = widths[index] ?? 0;
      const isCut = this.#widthMax !== null && this.#columns[index]?.isWhole !== true;
      return padToWidth(isCut ? cutToWidth(cell, width) : cell, width);
    }).join(GAP).trimEnd());
  }
}
