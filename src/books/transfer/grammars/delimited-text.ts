/**
 * Delimited text whose first row names its columns, as field records: a row is a record, a cell a
 * field under the name of its column. A field is the text of its cell as it stands; empty cells are
 * no fields. Of several columns with one name the first that has a text is called by it, another by
 * its number too, `Name (column 4)`; one without a name is `column 3`. Rows of empty cells are
 * blank lines, also before the header.
 *
 * A record is valid when its row is (`csv-rows.ts`) and has no text beyond the last column; one
 * with fewer cells has empty ones. Another program ends each row with a line end: one that has
 * neither that nor all cells was cut. Without the columns that tell of a record no row can be read.
 */
import { AppError } from '../../../base/errors.ts';
import { CsvRowSplitter } from '../csv-rows.ts';
import type { CsvCell, CsvRow, CsvSyntax } from '../csv-rows.ts';
import { findFormatTitle } from '../format-list.ts';
import type { BrokenRecord, FieldRecord, FormatTable } from '../mapping/format-table.ts';

/** A header that cannot be used: everything that is wrong with it. */
export type HeaderProblem = {
  readonly problem: string;
  /** The columns by their names, each with what it is taken for; absent: that is no question. */
  readonly columns?: Readonly<Record<string, string>>;
};

/** How the rows behind a header are read. */
type TableLayout<Item> = {
  /** The words for a file of the layout, in messages. */
  readonly title: string;
  /** Absent: commas, semicolons or tabs, and quotes. */
  readonly syntax?: CsvSyntax;
  /** The advice where no header has come. */
  readonly missingHeader: string;
  /** Whether each row of a whole file ends in a line end; absent: a person may have left it out. */
  readonly hasLineEnds?: boolean;
  /** Whether a row of such cells alone is a blank line. */
  isBlank(cell: CsvCell): boolean;
  /** The columns of a header, or what is wrong with it. */
  readHeader(names: readonly string[]): readonly string[] | HeaderProblem;
  readRow(columns: readonly string[], cells: readonly CsvCell[], line: number): Item;
};

/** The rows behind a header. Both methods throw `invalid` for an unusable one. */
export class TableSplitter<Item extends { readonly line: number; readonly key?: string | null }> {
  readonly #layout: TableLayout<Item>;
  readonly #rows: CsvRowSplitter;
  #columns: readonly string[] | null = null;

  constructor(layout: TableLayout<Item>) {
    this.#layout = layout;
    this.#rows = new CsvRowSplitter(layout.syntax);
  }

  push(chunk: Buffer): readonly (Item | BrokenRecord)[] {
    return this.#read(this.#rows.push(chunk));
  }

  end(): readonly (Item | BrokenRecord)[] {
    const records = this.#read(this.#rows.end().map((row) => this.#checkEnd(row)));
    if (this.#columns === null) {
      throw this.#refuse(1, { problem: `it is missing${this.#layout.missingHeader}` });
    }
    return records;
  }

  #read(rows: readonly CsvRow[]): readonly (Item | BrokenRecord)[] {
    const records: (Item | BrokenRecord)[] = [];
    for (const row of rows) {
      if (row.problem === undefined && row.cells.every(this.#layout.isBlank)) continue;
      if (this.#columns === null) this.#columns = this.#readHeader(row);
      else records.push(this.#readRow(this.#columns, row));
    }
    return records;
  }

  /** The row behind which no line end has come. */
  #checkEnd(row: CsvRow): CsvRow {
    const columnCount = this.#columns?.length ?? 0;
    const isWhole = this.#layout.hasLineEnds !== true || row.problem !== undefined
      || row.cells.length >= columnCount;
    return isWhole ? row : { ...row, problem: 'the file ends within this record: export it again' };
  }

  #readHeader({ line, cells, problem }: CsvRow): readonly string[] {
    const header = problem === undefined
      ? this.#layout.readHeader(cells.map(({ text }) => text.trim())) : { problem };
    if ('problem' in header) throw this.#refuse(line, header);
    return header;
  }

  #refuse(line: number, { problem, columns }: HeaderProblem): AppError {
    return new AppError('invalid', `line ${line}, the header of ${this.#layout.title}: ${problem}`,
      columns === undefined ? {} : { columns });
  }

  #readRow(columns: readonly string[], { line, cells, problem }: CsvRow): Item | BrokenRecord {
    const record = this.#layout.readRow(columns, cells, line);
    const isTooLong = cells.slice(columns.length).some(({ text }) => text.trim() !== '');
    if (problem === undefined && !isTooLong) return record;
    const counts = `${cells.length} cells, but the header names ${columns.length}`;
    return { line, key: record.key ?? null, problem: problem ?? counts };
  }
}

type DelimitedLayout = Pick<TableLayout<never>, 'syntax'> & {
  /** The columns that a file cannot do without, each with its older names. */
  readonly requiredColumns: readonly (readonly string[])[];
  /** Whether a text that is not blank stands for none; absent: none does. */
  readonly isEmpty?: (column: string, text: string) => boolean;
};

const AS_EXPORTED = '; import the file as it was exported, or name its format '
  + '(csv for a table of your own)';

/** The rows of a file of the format: its own ids are the keys. */
export function createDelimitedTextSplitter(
  { name: format, ownIdFields }: FormatTable,
  { requiredColumns, isEmpty = () => false, ...layout }: DelimitedLayout,
): TableSplitter<FieldRecord> {
  return new TableSplitter({
    ...layout,
    title: findFormatTitle(format),
    missingHeader: AS_EXPORTED,
    hasLineEnds: true,
    isBlank: ({ text }) => text.trim() === '',
    readHeader(names) {
      const missing = requiredColumns.filter((column) =>
        !column.some((name) => names.includes(name)));
      const list = missing.map(([name = '']) => `\`${name}\``).join(', ');
      if (missing.length > 0) return { problem: `there is no column ${list}${AS_EXPORTED}` };
      return names.map((name, index) => name || `column ${index + 1}`);
    },
    readRow(columns, cells, line) {
      const fields = readFields(columns, cells, isEmpty);
      const keyColumn = ownIdFields.find((name) => fields.has(name)) ?? '';
      return { line, key: fields.get(keyColumn)?.trim() ?? null, type: '', fields };
    },
  });
}

function readFields(
  columns: readonly string[], cells: readonly CsvCell[],
  isEmpty: (column: string, text: string) => boolean,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [index, { text }] of cells.entries()) {
    const column = columns[index];
    if (column === undefined || text.trim() === '' || isEmpty(column, text.trim())) continue;
    let name = column;
    // Only a header that has such a name itself makes it go round twice.
    while (fields.has(name)) name += ` (column ${index + 1})`;
    fields.set(name, text);
  }
  return fields;
}
