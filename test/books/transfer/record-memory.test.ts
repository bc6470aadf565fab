import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCsvReader } from '../../../src/books/transfer/csv.ts';
import { CsvRowSplitter } from '../../../src/books/transfer/csv-rows.ts';
import { JsonLinesSplitter, JsonSplitter } from '../../../src/books/transfer/json-splitter.ts';
import type { RecordSplitter } from '../../../src/books/transfer/record-splitter.ts';
import { heldBytes, heldBytesMax } from '../../support/memory.ts';
import type { BookFileFormat } from './book-file-formats.ts';

const BYTES = 1_000_000;

/** What makes a splitter, and what stands around the text of a record's title, by format. */
const RECORDS: Readonly<Record<BookFileFormat,
  readonly [make: () => RecordSplitter, start: string, end: string]>> = {
  json: [() => new JsonSplitter(), '[{"title":"', '"}]'],
  jsonl: [() => new JsonLinesSplitter(), '{"title":"', '"}\n'],
  csv: [createCsvReader, 'title\n"', '"\n'],
};

for (const [format, [make, start, end]] of Object.entries(RECORDS)) {
  test(`a ${format} record in one-byte pieces takes no more than twice its bytes`, () => {
    const splitter = make();
    splitter.push(Buffer.from(start));
    const before = heldBytes();
    for (let count = 0; count < BYTES; count += 1) splitter.push(Buffer.from('x'));
    const held = heldBytes() - before;
    assert(held < heldBytesMax(BYTES), `${held} bytes are held for ${BYTES}`);
    const records = [...splitter.push(Buffer.from(end)), ...splitter.end()];
    assert.deepEqual(records.map((record) => record?.problem), [undefined]);
  });

  test(`a ${format} record that is too long is not held`, () => {
    const splitter = make();
    splitter.push(Buffer.from(start));
    const before = heldBytes();
    for (let count = 0; count < 16; count += 1) splitter.push(Buffer.alloc(BYTES, 'x'));
    const held = heldBytes() - before;
    assert(held < heldBytesMax(BYTES), `${held} bytes are held`);
  });
}

test('a cell of doubled quotes takes no more than twice its bytes', () => {
  const splitter = new CsvRowSplitter();
  const file = Buffer.from(`title\n"${'a""'.repeat(BYTES / 4)}"\n`);
  const before = heldBytes();
  const rows = splitter.push(file);
  const held = heldBytes() - before;
  assert.equal(rows[1]?.cells[0]?.text, 'a"'.repeat(BYTES / 4));
  assert(held < heldBytesMax(BYTES), `${held} bytes are held`);
});
