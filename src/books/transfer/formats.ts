/**
 * The file formats of books: json (one array), jsonl (one book a line) and csv. Files are read and
 * written as streams, so memory does not grow with the file. Reading what was written gives the
 * same books.
 */
import { decodeBook } from '../book.ts';
import { CsvSplitter, csvHeader, encodeCsvBook } from './csv.ts';
import { JsonSplitter } from './json-splitter.ts';
import { JsonLinesSplitter } from './record-splitter.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

const FORMATS = ['json', 'jsonl', 'csv'] as const;
export type BookFileFormat = (typeof FORMATS)[number];

/** The endings of their files, as a message says them: `.json, .jsonl or .csv`. */
export const FORMAT_ENDINGS =
  `${FORMATS.slice(0, -1).map((format) => `.${format}`).join(', ')} or .${FORMATS.at(-1)}`;

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The format that a file's extension names, or null. */
export function findFormat(path: string): BookFileFormat | null {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === 'ndjson') return 'jsonl';
  return FORMATS.find((format) => format === ending) ?? null;
}

/**
 * The records of a file, some at a time, each as one line of JSON or as the problem with it. It may
 * overwrite the chunks of `source`. Throws `invalid` for an unusable csv header.
 */
export async function* readRecords(
  source: AsyncIterable<Buffer>, format: BookFileFormat,
): AsyncGenerator<readonly SourceRecord[], void, undefined> {
  const splitter = createSplitter(format);
  for await (const chunk of withoutByteOrderMark(source)) {
    const records = splitter.push(chunk);
    if (records.length > 0) yield records;
  }
  const lastRecords = splitter.end();
  if (lastRecords.length > 0) yield lastRecords;
}

async function* withoutByteOrderMark(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  // The first bytes, until there are enough to tell; null from then on.
  let start: Buffer | null = Buffer.alloc(0);
  for await (const chunk of source) {
    if (start === null) {
      yield chunk;
      continue;
    }
    start = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
    if (start.length < BYTE_ORDER_MARK.length) continue;
    const hasMark = start.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    yield hasMark ? start.subarray(BYTE_ORDER_MARK.length) : start;
    start = null;
  }
  if (start !== null && start.length > 0) yield start;
}

function createSplitter(format: BookFileFormat): RecordSplitter {
  switch (format) {
    case 'json': return new JsonSplitter();
    case 'jsonl': return new JsonLinesSplitter();
    case 'csv': return new CsvSplitter();
  }
}

/** Writes the text of a file piece by piece from the stored bytes of books. */
interface BookWriter {
  begin(): string;
  /** `books` are stored records, which are also what `GET /api/books` sends. */
  write(books: readonly Buffer[]): string;
  end(): string;
}

export function createBookWriter(format: BookFileFormat): BookWriter {
  switch (format) {
    case 'json': return createJsonWriter();
    case 'jsonl': return {
      begin: () => '',
      write: (books) => books.map((book) => `${book.toString()}\n`).join(''),
      end: () => '',
    };
    case 'csv': return {
      begin: () => csvHeader,
      write: (books) => books.map((book) => encodeCsvBook(decodeBook(book))).join(''),
      end: () => '',
    };
  }
}

function createJsonWriter(): BookWriter {
  let separator = '';
  return {
    begin: () => '[',
    write(books) {
      let text = '';
      for (const book of books) {
        text += `${separator}\n${book.toString()}`;
        separator = ',';
      }
      return text;
    },
    end: () => '\n]\n',
  };
}
