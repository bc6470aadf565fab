/** The records that a format makes of a file, for tests of the formats of other programs. */
import assert from 'node:assert/strict';
import type { FormatCodec } from '../../../../src/books/transfer/format-codec.ts';
import type { SourceRecord } from '../../../../src/books/transfer/record-splitter.ts';
import type { JsonObject } from '../../../../src/base/schema.ts';
import { readText } from '../../../support/format-round-trip.ts';

export type BookRecord = Extract<SourceRecord, { readonly body: JsonObject }>;

/** The book of the only record. */
export function readBook(codec: FormatCodec, file: string): BookRecord['body'] {
  const records = readText(codec, file);
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
