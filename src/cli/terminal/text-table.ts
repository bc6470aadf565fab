/**
 * Rows of text in columns. On a terminal they fit its width: first values with a short form take
 * it, then the widest columns are cut, then the least important ones are left out; if that is not
 * enough, a row takes several lines. Elsewhere nothing is cut.
 */
import { escapeControls } from '../../base/text/printable.ts';
import { paintNothing } from './colour.ts';
import type { Paint, Tone } from './colour.ts';
import { cutToWidth, textWidth, wrapToWidth } from './text-width.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Never cut: an identifier or a time that lacks its end is of no use. */
  readonly isWhole?: boolean;
  /** Shown instead of the value where the width is too small. */
  readonly short?: (row: Row) => string;
  /** The column is not cut to less; CUT_WIDTH_MIN by default. */
  readonly widthMin?: number;
  /** If the width is still too small, columns are left out, the lowest first; undefined: never. */
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
// With 7 the five columns of books would not fit a terminal of 80.
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
  constructor(
    columns: readonly Column<Row>[], widthMax: number | null, paint: Paint = paintNothing,
  ) {
    this.#columns = columns;
    this.#widthMax = widthMax;
    this.#paint = paint;
  }

  /** The lines of these rows; those of the first page begin with the titles. */
  formatRows(rows: readonly Row[]): string[] {
    const previousLayout = this.#layout;
    const layout = previousLayout ?? this.#layOut(rows);
    this.#layout = layout;
    const lines = rows.flatMap((row) =>
      this.#formatRow(this.#toCells(row, layout.isShort), layout,
        (index) => this.#columns[index]?.tone?.(row)));
    if (previousLayout !== null) return lines;
    return [...this.#formatRow(this.#titles(), layout, () => 'strong'), ...lines];
  }

  #titles(): Cells {
    return this.#columns.map(({ title }) => title);
  }

  #toCells(row: Row, isShort: boolean): Cells {
    return this.#columns.map(({ value, short = value }) =>
      escapeControls(isShort ? short(row) : value(row)));
  }

  #layOut(rows: readonly Row[]): Layout {
    const fullWidths = this.#measureWidths(rows, false);
    let visible = [...fullWidths.keys()];
    const widthMax = this.#widthMax;
    if (widthMax === null || lineWidth(fullWidths) <= widthMax) {
      return { lines: [visible], widths: fullWidths, isShort: false };
    }
    const shortWidths = this.#measureWidths(rows, true);
    for (;;) {
      const widths = this.#cutWidths(shortWidths, visible, widthMax);
      if (widths !== null) return { lines: [visible], widths, isShort: true };
      const least = this.#findLeastImportant(visible);
      if (least === undefined) {
        return { ...this.#foldColumns(shortWidths, widthMax), isShort: true };
      }
      visible = visible.filter((index) => index !== least);
    }
  }

  #measureWidths(rows: readonly Row[], isShort: boolean): readonly number[] {
    const cells = [this.#titles(), ...rows.map((row) => this.#toCells(row, isShort))];
    return this.#columns.map((_, index) =>
      cells.reduce((widest, row) => Math.max(widest, textWidth(row[index] ?? '')), 0));
  }

  #findLeastImportant(visible: readonly number[]): number | undefined {
    const importanceOf = (index: number): number => this.#columns[index]?.importance ?? Infinity;
    const least = Math.min(...visible.map(importanceOf));
    return least === Infinity ? undefined : visible.find((index) => importanceOf(index) === least);
  }

  /** Widths with which a row of the `visible` columns fits one line; null when there are none. */
  #cutWidths(
    shortWidths: readonly number[], visible: readonly number[], widthMax: number,
  ): readonly number[] | null {
    const widths = [...shortWidths];
    let surplus = lineWidth(visible.map((index) => widths[index] ?? 0)) - widthMax;
    // One character of the widest at a time, so that narrow columns stay as they are.
    while (surplus > 0) {
      const widest = this.#findWidestToCut(widths, visible);
      if (widest < 0) return null;
      widths[widest] = (widths[widest] ?? 0) - 1;
      surplus -= 1;
    }
    return widths;
  }

  /** The index of the widest column that may be cut further; -1 when none may. */
  #findWidestToCut(widths: readonly number[], visible: readonly number[]): number {
    let widest = -1;
    for (const index of visible) {
      const width = widths[index] ?? 0;
      if (width <= this.#cutWidthMin(index)) continue;
      if (widest < 0 || width > (widths[widest] ?? 0)) widest = index;
    }
    return widest;
  }

  #cutWidthMin(index: number): number {
    if (this.#columns[index]?.isProse === true) return PROSE_WIDTH_MIN;
    const { isWhole = false, widthMin = CUT_WIDTH_MIN } = this.#columns[index] ?? {};
    return isWhole ? Infinity : widthMin;
  }

  /** Puts as many columns into a line as fit; further lines are indented. */
  #foldColumns(shortWidths: readonly number[], widthMax: number): Omit<Layout, 'isShort'> {
    const indentedWidthMax = widthMax - INDENT.length;
    const widths = shortWidths.map((width, index) =>
      this.#columns[index]?.isWhole === true ? width : Math.min(width, indentedWidthMax));
    const lines: number[][] = [];
    for (const index of widths.keys()) {
      const line = lines.at(-1);
      const room = lines.length === 1 ? widthMax : indentedWidthMax;
      const lineWidths = [...line ?? [], index].map((column) => widths[column] ?? 0);
      if (line === undefined || lineWidth(lineWidths) > room) lines.push([index]);
      else line.push(index);
    }
    return { lines, widths };
  }

  /** The lines of one row: more than one where prose is wrapped, or columns did not fit a line. */
  #formatRow(
    row: Cells, { lines, widths }: Layout, toneOf: (index: number) => Tone | undefined,
  ): string[] {
    return lines.flatMap((columns, number) => {
      const indent = number === 0 ? '' : INDENT;
      const cells = columns.map((index) =>
        this.#formatCell(index, row[index] ?? '', widths[index] ?? 0));
      const height = Math.max(...cells.map((cell) => cell.length));
      return Array.from({ length: height }, (_, lineIndex) => {
        const texts = columns.map((index, position) => {
          const text = cells[position]?.[lineIndex] ?? '';
          const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - textWidth(text)));
          return this.#paint(text, toneOf(index)) + room;
        });
        return (indent + texts.join(GAP)).trimEnd();
      });
    });
  }

  /** The lines of a cell. */
  #formatCell(index: number, text: string, width: number): readonly string[] {
    if (this.#widthMax === null || this.#columns[index]?.isWhole === true) return [text];
    return this.#columns[index]?.isProse === true
      ? wrapToWidth(text, width) : [cutToWidth(text, width)];
  }
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}
