/** The reader and the writer of a format that has a grammar and a table. */
import { decodeBook } from '../../book.ts';
import type { Book } from '../../book.ts';
import type { BookWriter, FormatCodec, ReaderOptions } from '../format-codec.ts';
import type { RecordSplitter, SourceRecord } from '../record-splitter.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter, FormatTable } from './format-table.ts';
import { mapRecord } from './map-record.ts';
import { writeRecord } from './write-record.ts';
import type { WrittenRecord } from './write-record.ts';

/** The codec of such a format, which is only read unless a writer is put beside. */
export function createTableCodec(
  table: FormatTable, createSplitter: () => FieldSplitter,
): FormatCodec {
  return { table, createReader: (options) => createReader(table, createSplitter(), options) };
}

function createReader(
  table: FormatTable, splitter: FieldSplitter,
  { hasAllTypes, isWithoutRest = false }: ReaderOptions,
): RecordSplitter {
  const readRecord = (record: FieldRecord | BrokenRecord): SourceRecord => {
    if ('problem' in record) return record;
    const { line, key, type } = record;
    if (!hasAllTypes && table.isBook?.(type) === false) return { line, key, otherType: type };
    return { line, key, ...mapRecord(table, isWithoutRest ? omitRest(table, record) : record) };
  };
  return {
    push: (chunk) => splitter.push(chunk).map(readRecord),
    *end() {
      for (const record of splitter.end()) yield record === null ? null : readRecord(record);
    },
  };
}

function omitRest({ restField = '' }: FormatTable, record: FieldRecord): FieldRecord {
  const fields = new Map(record.fields);
  fields.delete(restField);
  return { ...record, fields };
}

type EncodedBook = {
  readonly text: string;
  /** Whether the text lacks fields of the record, which came from the metadata; absent: none. */
  readonly leavesOut?: boolean;
};

/** The text around and between the records of a file; absent: none. */
type FileFrame = {
  readonly begin?: string; readonly separator?: string; readonly end?: string;
};

export function createTableWriter(
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
