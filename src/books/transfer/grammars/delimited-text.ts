/**
 * Delimited text whose first row names its columns, as field records: a row is a record, a cell a
 * field under the name of its column. A field is the text of its cell as it stands; empty cells are
 * no fields. Of several columns with one name the first that has a text is called by it, another by
 * its number too, `Name (column 4)`; one without a name is `column 3`. Rows of empty cells are
 * blank lines, also before the header.
 *
 * A record is valid when its row is (`csv-rows.ts`) and has no text beyond the last column; one
 * with fewer cells has empty ones. Without the columns that tell of a record no row can be read.
 */
import { AppError } from '../../../base/errors.ts';
import { CsvRowSplitter } from '../csv-rows.ts';
import type { CsvCell, CsvRow, CsvSyntax } from '../csv-rows.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';

type DelimitedLayout = {
  /** The words for a file of the layout, in messages. */
  readonly title: string;
  readonly syntax: CsvSyntax;
  /** The columns that a file cannot do without, each with its older names. */
  readonly requiredColumns: readonly (readonly string[])[];
  /** The column of the own id, with its older names. */
  readonly keyColumns: readonly string[];
  /** Whether a text that is not blank stands for none. */
  isEmpty(column: string, text: string): boolean;
};

export class DelimitedTextSplitter implements FieldSplitter {
  readonly #layout: DelimitedLayout;
  readonly #rows: CsvRowSplitter;
  #columns: readonly string[] | null = null;

  constructor(layout: DelimitedLayout) {
    this.#layout = layout;
    this.#rows = new CsvRowSplitter(layout.syntax);
  }

  push(chunk: Buffer): readonly (FieldRecord | BrokenRecord)[] {
    return this.#read(this.#rows.push(chunk));
  }

  end(): readonly (FieldRecord | BrokenRecord)[] {
    const records = this.#read(this.#rows.end());
    if (this.#columns === null) throw badHeader(this.#layout, 1, `it is missing${AS_EXPORTED}`);
    return records;
  }

  #read(rows: readonly CsvRow[]): readonly (FieldRecord | BrokenRecord)[] {
    const records: (FieldRecord | BrokenRecord)[] = [];
    for (const row of rows) {
      if (isBlank(row)) continue;
      if (this.#columns === null) this.#columns = readColumns(this.#layout, row);
      else records.push(this.#readRow(this.#columns, row));
    }
    return records;
  }

  #readRow(
    columns: readonly string[], { line, cells, problem }: CsvRow,
  ): FieldRecord | BrokenRecord {
    const fields = readFields(this.#layout, columns, cells);
    const keyColumn = this.#layout.keyColumns.find((name) => fields.has(name)) ?? '';
    const key = fields.get(keyColumn)?.trim() ?? null;
    if (problem !== undefined) return { line, key, problem };
    if (cells.slice(columns.length).some(({ text }) => text.trim() !== '')) {
      const counts = `${cells.length} cells, but the header names ${columns.length}`;
      return { line, key, problem: counts };
    }
    return { line, key, type: '', fields };
  }
}

function isBlank({ cells, problem }: CsvRow): boolean {
  return problem === undefined && cells.every(({ text }) => text.trim() === '');
}

const AS_EXPORTED = '; import the file as it was exported, or name the format that it has';

function badHeader({ title }: DelimitedLayout, line: number, problem: string): AppError {
  return new AppError('invalid', `line ${line}, the header of ${title}: ${problem}`);
}

function readColumns(layout: DelimitedLayout, { line, cells, problem }: CsvRow): readonly string[] {
  if (problem !== undefined) throw badHeader(layout, line, problem);
  const columns = cells.map(({ text }, index) => text.trim() || `column ${index + 1}`);
  const missing = layout.requiredColumns
    .filter((names) => !names.some((name) => columns.includes(name)));
  if (missing.length === 0) return columns;
  const names = missing.map(([name = '']) => `\`${name}\``).join(', ');
  throw badHeader(layout, line, `there is no column ${names}${AS_EXPORTED}`);
}

function readFields(
  layout: DelimitedLayout, columns: readonly string[], cells: readonly CsvCell[],
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [index, { text }] of cells.entries()) {
    const column = columns[index];
    if (column === undefined || text.trim() === '' || layout.isEmpty(column, text.trim())) continue;
    let name = column;
    // Only a header that has such a name itself makes it go round twice.
    while (fields.has(name)) name += ` (column ${index + 1})`;
    fields.set(name, text);
  }
  return fields;
}
