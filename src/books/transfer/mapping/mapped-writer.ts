/** Writes the books of a format that has a table, one record after another. */
import { decodeBook } from '../../book.ts';
import type { Book } from '../../book.ts';
import type { BookWriter } from '../format-codec.ts';
import type { FormatTable } from './format-table.ts';
import { writeRecord } from './write-record.ts';
import type { WrittenRecord } from './write-record.ts';

type EncodedBook = {
  readonly text: string;
  /** Whether the text lacks fields of the record, which came from the metadata; absent: none. */
  readonly leavesOut?: boolean;
};

/** The text around and between the records of a file; absent: none. */
type FileFrame = {
  readonly begin?: string; readonly separator?: string; readonly end?: string;
};

export function createMappedWriter(
  table: FormatTable, encode: (record: WrittenRecord, book: Book) => EncodedBook,
  { begin = '', separator = '', end = '' }: FileFrame = {},
): BookWriter {
  let leftOutCount = 0;
  const leftOutMembers = new Map<string, number>();
  let isFirst = true;
  const write = (bytes: Buffer): string => {
    const book = decodeBook(bytes);
    const record = writeRecord(table, book);
    const { text, leavesOut = false } = encode(record, book);
    const leftOut = new Set(leavesOut ? [...record.leftOut, 'metadata'] : record.leftOut);
    if (leftOut.size > 0) leftOutCount += 1;
    for (const name of leftOut) leftOutMembers.set(name, (leftOutMembers.get(name) ?? 0) + 1);
    const start = isFirst ? '' : separator;
    isFirst = false;
    return start + text;
  };
  return {
    get leftOutCount() {
      return leftOutCount;
    },
    leftOutMembers,
    begin: () => begin,
    write: (books) => books.map(write).join(''),
    end: () => end,
  };
}
