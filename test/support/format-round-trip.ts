/** Books written in a format and read again, as an export and an import do it. */
import type { JsonObject } from '../../src/base/schema.ts';
import type { FormatCodec } from '../../src/books/transfer/format-codec.ts';
import { parseImportRecord } from '../../src/books/transfer/import-record.ts';
import type { SourceRecord } from '../../src/books/transfer/record-splitter.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';

export function writeText(codec: FormatCodec, books: readonly JsonObject[]): string {
  const writer = codec.createWriter?.({});
  if (writer === undefined) throw new Error('the format is only read');
  const stored = books.map((book) => Buffer.from(JSON.stringify(book)));
  return writer.begin() + writer.write(stored) + writer.end();
}

/** The records of a file that comes in pieces of `chunkBytes`, or in those that `random` cuts. */
export function readText(
  codec: FormatCodec, text: string | Buffer,
  { random, hasAllTypes = false, chunkBytes = 65_536 }: ReadOptions = {},
): readonly SourceRecord[] {
  const reader = codec.createReader({ hasAllTypes });
  const bytes = Buffer.from(text);
  const records: SourceRecord[] = [];
  for (let start = 0; start < bytes.length;) {
    const length = random === undefined ? chunkBytes : 1 + below(random, 40);
    // A copy: readers may overwrite their chunks.
    records.push(...reader.push(Buffer.from(bytes.subarray(start, start + length))));
    start += length;
  }
  return [...records, ...reader.end()].filter((record) => record !== null);
}

export type ReadOptions = {
  readonly random?: Random; readonly hasAllTypes?: boolean; readonly chunkBytes?: number;
};

/** The book of a record; throws where it is none. */
export function bodyOf(record: SourceRecord | undefined): JsonObject {
  if (record !== undefined && 'body' in record) return record.body;
  throw new Error(`no book: ${JSON.stringify(record)}`);
}

/** The book that the catalog keeps of a body, with an id that no test asks for. */
export function importBook(body: JsonObject): JsonObject {
  return { id: '018f2b7c-0000-7000-8000-00000000cafe', ...parseImportRecord(body).fields };
}

/** What a format has to give back of a book, where white space is folded. */
export function comparable(book: JsonObject): JsonObject {
  const { id, createdAt, updatedAt, metadata, ...members } = book;
  return foldSpace({ authors: [], ...members }) as JsonObject;
}

/** JSON-LD has the position in the first series, and of the reading what a review says. */
export function namedInJsonld({ series, reading, ...members }: JsonObject): JsonObject {
  const { review, rating } = (reading ?? {}) as JsonObject;
  const said = Object.entries({ review, rating }).filter(([, value]) => value !== undefined);
  const named = (series ?? []) as readonly JsonObject[];
  return {
    ...members,
    ...said.length === 0 ? {} : { reading: Object.fromEntries(said) as JsonObject },
    ...named.length === 0 ? {} : {
      series: named.map(({ name = null, position }, index): JsonObject =>
        index > 0 || position === undefined ? { name } : { name, position }),
    },
  };
}

export function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

export function foldSpace(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\s+/g, ' ').trim();
  if (Array.isArray(value)) return value.map(foldSpace);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, foldSpace(item)]));
}
