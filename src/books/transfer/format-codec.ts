/** The reader and the writer of a file format of books, as its own file provides them. */
import type { BookTextWriter } from '../list/book-source.ts';
import type { ColumnMap } from './csv-columns.ts';
import type { FormatTable } from './mapping/format-table.ts';
import type { RecordSplitter } from './record-splitter.ts';

export type ReaderOptions = {
  /** Whether records of other types, such as articles, are taken for books too. */
  readonly hasAllTypes: boolean;
  /** Whether the rest field is passed over, as if another program had dropped it. */
  readonly isWithoutRest?: boolean;
  /** The caller's word for what columns of a csv hold; absent: there is none. */
  readonly columns?: ColumnMap;
};

export type WriterOptions = {
  /** Whether the file is that of one book and never more: an object where many are a list. */
  readonly isOneBook?: boolean;
  /** Whether a spreadsheet opens the file: csv keeps what it would take for formulas as text. */
  readonly isForSpreadsheet?: boolean;
};

/** Writes a file of books, which are stored records: `GET /api/books` sends these, too. */
export interface BookWriter extends BookTextWriter {
  /** The number of books written so far of which the format does not hold all. */
  readonly leftOutCount: number;
  /** By the names of members: in how many of these books they lack something; absent: none. */
  readonly leftOutMembers?: ReadonlyMap<string, number>;
}

/** A format that is only read has no writer. The reader takes UTF-8 without a byte order mark. */
export type FormatCodec = {
  readonly createReader: (options: ReaderOptions) => RecordSplitter;
  readonly createWriter?: (options: WriterOptions) => BookWriter;
  /** Whether a file without text is one of no books; in other formats it is broken. */
  readonly canBeEmpty?: true;
  /** The table of a format of other programs; absent: the format is one of our own. */
  readonly table?: FormatTable;
  /** Whether an export of the stored book may have made this own id; absent: it always has. */
  readonly isMadeOwnId?: (bytes: Buffer, ownId: string) => boolean;
  /** The match of an import that names none; absent: the own id, if records have such. */
  readonly defaultMatch?: 'isbn';
};
