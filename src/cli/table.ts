/**
 * Rows of text in columns. On a terminal they fit its width: the widest columns are cut, and where
 * that does not do, a row takes several lines. Elsewhere nothing is cut.
 */
import { escapeControls } from '../base/printable.ts';
import { cutToWidth, padToWidth, widthOf, wrapToWidth } from './width.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Never cut: an identifier or a time that lacks its end is of no use. */
  readonly isWhole?: boolean;
  /** For the last one: sentences, which go on in further lines below their beginning. */
  readonly isProse?: boolean;
};

type Cells = readonly string[];
/** Columns by their index, a list for each line that a row takes. */
type Layout = {
  readonly lines: readonly (readonly number[])[];
  readonly widths: readonly number[];
};

const GAP = '  ';
const INDENT = '  ';
// With more, the five columns of books do not fit a terminal of 80.
const CUT_WIDTH_MIN = 6;
const PROSE_WIDTH_MIN = 30;

/**
 * Lays out one page of rows after another in the same columns, so that a list of any length can
 * be printed as it arrives; the first page sets the widths.
 */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #widthMax: number | null;
  #layout: Layout | null = null;

  /** `widthMax`: the terminal's, null when nothing may be cut. */
  constructor(columns: readonly Column<Row>[], widthMax: number | null) {
    this.#columns = columns;
    this.#widthMax = widthMax;
  }

  /** Lines for these rows; the first page's begin with the titles. */
  lines(rows: readonly Row[]): string[] {
    const cells = rows.map((row) => this.#columns.map(({ value }) => escapeControls(value(row))));
    const known = this.#layout;
    if (known !== null) return cells.flatMap((row) => this.#format(row, known));
    const titled = [this.#columns.map(({ title }) => title), ...cells];
    const layout = this.#layOut(titled);
    this.#layout = layout;
    return titled.flatMap((row) => this.#format(row, layout));
  }

  #layOut(cells: readonly Cells[]): Layout {
    const natural = this.#columns.map((_, index) =>
      cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), 0));
    const whole = { lines: [natural.map((_, index) => index)], widths: natural };
    if (this.#widthMax === null) return whole;
    const widths = this.#cut(natural, this.#widthMax);
    return widths === null ? this.#fold(natural, this.#widthMax) : { ...whole, widths };
  }

  /** Widths with which a row fits a line, or null. */
  #cut(natural: readonly number[], widthMax: number): readonly number[] | null {
    const widths = [...natural];
    let surplus = lineWidth(widths) - widthMax;
    // The widest gives a column at a time, so that narrow ones stay as they are.
    while (surplus > 0) {
      const widest = this.#widestToCut(widths);
      if (widest < 0) return null;
      widths[widest] = (widths[widest] ?? 0) - 1;
      surplus -= 1;
    }
    return widths;
  }

  #widestToCut(widths: readonly number[]): number {
    let found = -1;
    for (const [index, width] of widths.entries()) {
      if (width <= this.#leastOf(index)) continue;
      if (found < 0 || width > (widths[found] ?? 0)) found = index;
    }
    return found;
  }

  #leastOf(index: number): number {
    if (this.#columns[index]?.isProse === true) return PROSE_WIDTH_MIN;
    return this.#columns[index]?.isWhole === true ? Infinity : CUT_WIDTH_MIN;
  }

  /** As many columns in a line as fit it, those of further lines indented. */
  #fold(natural: readonly number[], widthMax: number): Layout {
    const inner = widthMax - INDENT.length;
    const widths = natural.map((width, index) =>
      this.#columns[index]?.isWhole === true ? width : Math.min(width, inner));
    const lines: number[][] = [];
    for (const index of widths.keys()) {
      const line = lines.at(-1);
      const room = lines.length === 1 ? widthMax : inner;
      const taken = [...line ?? [], index].map((column) => widths[column] ?? 0);
      if (line === undefined || lineWidth(taken) > room) lines.push([index]);
      else line.push(index);
    }
    return { lines, widths };
  }

  #format(row: Cells, { lines, widths }: Layout): string[] {
    return lines.flatMap((columns, number) => {
      const indent = number === 0 ? '' : INDENT;
      const cells = columns.map((index) => this.#cell(index, row[index] ?? '', widths[index] ?? 0));
      const height = Math.max(...cells.map((cell) => cell.length));
      return Array.from({ length: height }, (_, at) =>
        indent + cells.map((cell, place) =>
          padToWidth(cell[at] ?? '', widths[columns[place] ?? 0] ?? 0)).join(GAP))
        .map((line) => line.trimEnd());
    });
  }

  /** The lines of a cell. */
  #cell(index: number, text: string, width: number): readonly string[] {
    if (this.#widthMax === null || this.#columns[index]?.isWhole === true) return [text];
    return this.#columns[index]?.isProse === true
      ? wrapToWidth(text, width) : [cutToWidth(text, width)];
  }
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}
