/**
 * Rows of text in columns. On a terminal they fit its width: first values with a short form take
 * it, then the widest columns are cut, then the least important ones are left out; if that is not
 * enough, a row takes several lines. Elsewhere nothing is cut.
 */
import { escapeControls } from '../../base/text/printable.ts';
import { plain } from './colour.ts';
import type { Paint, Tone } from './colour.ts';
import { cutToWidth, widthOf, wrapToWidth } from './width.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Never cut: an identifier or a time that lacks its end is of no use. */
  readonly isWhole?: boolean;
  /** Shown instead of the value where room is short. */
  readonly short?: (row: Row) => string;
  /** The column is not cut to less (6). */
  readonly widthMin?: number;
  /** Where room is still short, columns are left out, the lowest first; one without it stays. */
  readonly importance?: number;
  readonly tone?: (row: Row) => Tone | undefined;
  /** For the last column: sentences, which are wrapped to further lines below their beginning. */
  readonly isProse?: boolean;
};

type Cells = readonly string[];
/** Indexes of columns, a list for each line that a row takes. */
type Layout = {
  readonly lines: readonly (readonly number[])[];
  readonly widths: readonly number[];
  readonly isShort: boolean;
};

const GAP = '  ';
const INDENT = '  ';
// With more the five columns of books would not fit a terminal of 80.
const CUT_WIDTH_MIN = 6;
const PROSE_WIDTH_MIN = 30;

/**
 * Lays out one page of rows after another in the same columns, so that a list of any length can
 * be printed as it arrives; the first page sets the widths.
 */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #widthMax: number | null;
  readonly #paint: Paint;
  #layout: Layout | null = null;

  /** `widthMax`: the terminal's, null when nothing may be cut. */
  constructor(columns: readonly Column<Row>[], widthMax: number | null, paint: Paint = plain) {
    this.#columns = columns;
    this.#widthMax = widthMax;
    this.#paint = paint;
  }

  /** Lines for these rows; the first page's begin with the titles. */
  lines(rows: readonly Row[]): string[] {
    const known = this.#layout;
    const layout = known ?? this.#layOut(rows);
    this.#layout = layout;
    const lines = rows.flatMap((row) =>
      this.#format(this.#cellsOf(row, layout.isShort), layout,
        (index) => this.#columns[index]?.tone?.(row)));
    if (known !== null) return lines;
    return [...this.#format(this.#titles(), layout, () => 'strong'), ...lines];
  }

  #titles(): Cells {
    return this.#columns.map(({ title }) => title);
  }

  #cellsOf(row: Row, isShort: boolean): Cells {
    return this.#columns.map(({ value, short = value }) =>
      escapeControls(isShort ? short(row) : value(row)));
  }

  #layOut(rows: readonly Row[]): Layout {
    const whole = this.#widthsOf(rows, false);
    let shown = [...whole.keys()];
    const widthMax = this.#widthMax;
    if (widthMax === null || lineWidth(whole) <= widthMax) {
      return { lines: [shown], widths: whole, isShort: false };
    }
    const natural = this.#widthsOf(rows, true);
    for (;;) {
      const widths = this.#cut(natural, shown, widthMax);
      if (widths !== null) return { lines: [shown], widths, isShort: true };
      const least = this.#leastImportant(shown);
      if (least === undefined) return { ...this.#fold(natural, widthMax), isShort: true };
      shown = shown.filter((index) => index !== least);
    }
  }

  #widthsOf(rows: readonly Row[], isShort: boolean): readonly number[] {
    const cells = [this.#titles(), ...rows.map((row) => this.#cellsOf(row, isShort))];
    return this.#columns.map((_, index) =>
      cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), 0));
  }

  #leastImportant(shown: readonly number[]): number | undefined {
    const importanceOf = (index: number): number => this.#columns[index]?.importance ?? Infinity;
    const least = Math.min(...shown.map(importanceOf));
    return least === Infinity ? undefined : shown.find((index) => importanceOf(index) === least);
  }

  /** Widths with which a row of the columns that are `shown` fits a line, or null. */
  #cut(
    natural: readonly number[], shown: readonly number[], widthMax: number,
  ): readonly number[] | null {
    const widths = [...natural];
    let surplus = lineWidth(shown.map((index) => widths[index] ?? 0)) - widthMax;
    // One character of the widest at a time, so that narrow columns stay as they are.
    while (surplus > 0) {
      const widest = this.#widestToCut(widths, shown);
      if (widest < 0) return null;
      widths[widest] = (widths[widest] ?? 0) - 1;
      surplus -= 1;
    }
    return widths;
  }

  #widestToCut(widths: readonly number[], shown: readonly number[]): number {
    let found = -1;
    for (const index of shown) {
      const width = widths[index] ?? 0;
      if (width <= this.#leastOf(index)) continue;
      if (found < 0 || width > (widths[found] ?? 0)) found = index;
    }
    return found;
  }

  #leastOf(index: number): number {
    if (this.#columns[index]?.isProse === true) return PROSE_WIDTH_MIN;
    const { isWhole = false, widthMin = CUT_WIDTH_MIN } = this.#columns[index] ?? {};
    return isWhole ? Infinity : widthMin;
  }

  /** As many columns in a line as fit it, those of further lines indented. */
  #fold(natural: readonly number[], widthMax: number): Omit<Layout, 'isShort'> {
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

  #format(
    row: Cells, { lines, widths }: Layout, toneOf: (index: number) => Tone | undefined,
  ): string[] {
    return lines.flatMap((columns, number) => {
      const indent = number === 0 ? '' : INDENT;
      const cells = columns.map((index) => this.#cell(index, row[index] ?? '', widths[index] ?? 0));
      const height = Math.max(...cells.map((cell) => cell.length));
      return Array.from({ length: height }, (_, at) => columns.reduce((line, index, place) => {
        const text = cells[place]?.[at] ?? '';
        const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
        return `${line}${place === 0 ? '' : GAP}${this.#paint(text, toneOf(index))}${room}`;
      }, indent).trimEnd());
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
