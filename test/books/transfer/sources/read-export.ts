/** The records that a format makes of a file, for tests of the formats of other programs. */
import assert from 'node:assert/strict';
import type { FormatCodec } from '../../../../src/books/transfer/format-codec.ts';
import type { SourceRecord } from '../../../../src/books/transfer/record-splitter.ts';
import type { JsonObject } from '../../../../src/base/schema.ts';

export type BookRecord = Extract<SourceRecord, { readonly body: JsonObject }>;

/** All records, read in chunks of `chunkBytes`. */
export function readExport(
  codec: FormatCodec, file: string | Buffer, chunkBytes = 65_536,
): readonly SourceRecord[] {
  const bytes = Buffer.from(file);
  const reader = codec.createReader({ hasAllTypes: false });
  const records: SourceRecord[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    records.push(...reader.push(Buffer.from(bytes.subarray(start, start + chunkBytes))));
  }
  return [...records, ...reader.end()].filter((record) => record !== null);
}

/** The book of the only record. */
export function readBook(codec: FormatCodec, file: string): BookRecord['body'] {
  const records = readExport(codec, file);
  const [record] = records;
  assert.equal(records.length, 1, JSON.stringify(records));
  assert.ok(record !== undefined && 'body' in record, JSON.stringify(record));
  return record.body;
}

/** A file of delimited text with one record, of the columns and texts of an object. */
export function makeRow(
  fields: Readonly<Record<string, string>>, separator = ',', quotes = true,
): string {
  const quote = (text: string): string => quotes ? `"${text.replaceAll('"', '""')}"` : text;
  return `${Object.keys(fields).join(separator)}\n${
    Object.values(fields).map(quote).join(separator)}\n`;
}
