import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextFilter } from '../../../src/books/list/text-filter.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';

const STAMP = '2026-01-01T00:00:00.000Z';

function encodeBook(metadata: object): Buffer {
  return Buffer.from(JSON.stringify({
    id: '019b76da-a800-7e30-b965-6d04b8000000', createdAt: STAMP, updatedAt: STAMP,
    title: 'Emma', authors: [], metadata,
  }));
}

test('a book of many texts is looked through in time that grows with its length', () => {
  // As many as metadata holds: each name has all the words, no text has any.
  const names = Array.from({ length: 1200 }, (_, index) => `x${index.toString(36)}`);
  const bytes = encodeBook({ ...Object.fromEntries(names.map((name) => [name, 'y'])), z: 'x' });
  const authors = Array.from({ length: 64 }, (_, index) => `author=x${'!'.repeat(index)}`);
  const { filter } = parseBookQuery(`in=metadata&q=x&${authors.join('&')}`);
  const matches = createTextFilter(filter);
  const start = process.cpuUsage();
  for (let count = 0; count < 30; count += 1) assert.equal(matches(bytes), false);
  // To look at each text for each place of a word takes 3 s.
  assert.ok(process.cpuUsage(start).user < 1_000_000);
});

test('the long texts of many books are not remembered', () => {
  const matches = createTextFilter(parseBookQuery('in=metadata&q=wort').filter);
  const bytesBefore = process.memoryUsage().heapUsed;
  for (let count = 0; count < 900; count += 1) {
    matches(encodeBook({ note: `${count} ${'é i '.repeat(2000)}` }));
  }
  const bytes = process.memoryUsage().heapUsed - bytesBefore;
  assert.equal(matches(encodeBook({ note: 'ein Wort' })), true);
  // Their tokens took 180 MB.
  assert.ok(bytes < 80_000_000, String(bytes));
});
