/**
 * Rows of text in columns. Elsewhere than on a terminal nothing is cut. On a terminal they fit its
 * width, by the first of these that suffices:
 *
 * 1. values with a short form take it;
 * 2. the widest columns are cut, or wrapped;
 * 3. the least important columns are left out, one after another;
 * 4. columns are folded: a row takes several lines. Then no width is saved by leaving columns out,
 *    so all of them are shown again.
 */
import { escapeControls } from '../../base/text/printable.ts';
import { paintNothing } from './colour.ts';
import type { Paint, Tone } from './colour.ts';
import { cutToWidth, textWidth, wrapToWidth } from './text-width.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /**
   * How values fit a width that is too small. `cut`, the default: they lose their end. `whole`:
   * they are never cut, as an identifier or a time that lacks its end is of no use. `wrap`, for
   * sentences in the last column: they go on in further lines, below their beginning.
   */
  readonly fit?: 'cut' | 'whole' | 'wrap';
  /** Shown instead of the value where the width is too small. */
  readonly short?: (row: Row) => string;
  /** The column is not cut to less; CUT_WIDTH_MIN by default. */
  readonly widthMin?: number;
  /** If the width is still too small, columns are left out, the lowest first; undefined: never. */
  readonly importance?: number;
  readonly tone?: (row: Row) => Tone | undefined;
};

/** The texts of a row, one for each column. */
type Cells = readonly string[];

/** Columns are numbered by their index in the table's list. */
type Layout = {
  /** The columns that stand side by side: one group, or several below each other when folded. */
  readonly groups: readonly (readonly number[])[];
  /** One for each column of the table. */
  readonly widths: readonly number[];
  /** Whether values are shown in their short form. */
  readonly isShort: boolean;
};

const GAP = '  ';
const INDENT = '  ';
// With 7 the five columns of books would not fit a terminal of 80.
const CUT_WIDTH_MIN = 6;
const WRAP_WIDTH_MIN = 30;

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
      return { groups: [visible], widths: fullWidths, isShort: false };
    }
    const shortWidths = this.#measureWidths(rows, true);
    for (;;) {
      const widths = this.#cutWidths(shortWidths, visible, widthMax);
      if (widths !== null) return { groups: [visible], widths, isShort: true };
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
    const { fit = 'cut', widthMin = CUT_WIDTH_MIN } = this.#columns[index] ?? {};
    if (fit === 'whole') return Infinity;
    return fit === 'wrap' ? WRAP_WIDTH_MIN : widthMin;
  }

  /** Groups all columns, as many side by side as fit; groups below the first are indented. */
  #foldColumns(shortWidths: readonly number[], widthMax: number): Omit<Layout, 'isShort'> {
    const indentedWidthMax = widthMax - INDENT.length;
    const widths = shortWidths.map((width, index) =>
      this.#columns[index]?.fit === 'whole' ? width : Math.min(width, indentedWidthMax));
    const groups: number[][] = [];
    for (const index of widths.keys()) {
      const group = groups.at(-1);
      const groupWidthMax = groups.length === 1 ? widthMax : indentedWidthMax;
      const groupWidths = [...group ?? [], index].map((column) => widths[column] ?? 0);
      if (group === undefined || lineWidth(groupWidths) > groupWidthMax) groups.push([index]);
      else group.push(index);
    }
    return { groups, widths };
  }

  /** The lines of one row: more than one where a cell is wrapped, or columns are folded. */
  #formatRow(
    row: Cells, { groups, widths }: Layout, toneOf: (index: number) => Tone | undefined,
  ): string[] {
    return groups.flatMap((columns, groupIndex) => {
      const indent = groupIndex === 0 ? '' : INDENT;
      const cells = columns.map((index) =>
        this.#formatCell(index, row[index] ?? '', widths[index] ?? 0));
      const lineCount = Math.max(...cells.map((cellLines) => cellLines.length));
      return Array.from({ length: lineCount }, (_, lineIndex) => {
        const texts = columns.map((index, position) => {
          const text = cells[position]?.[lineIndex] ?? '';
          const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - textWidth(text)));
          return this.#paint(text, toneOf(index)) + padding;
        });
        return (indent + texts.join(GAP)).trimEnd();
      });
    });
  }

  /** The lines of a cell. */
  #formatCell(index: number, text: string, width: number): readonly string[] {
    const { fit = 'cut' } = this.#columns[index] ?? {};
    if (this.#widthMax === null || fit === 'whole') return [text];
    return fit === 'wrap' ? wrapToWidth(text, width) : [cutToWidth(text, width)];
  }
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}
