import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { TopEntries } from '../../../src/books/list/top-k.ts';
import { runAll } from '../../support/turns.ts';

const UNORDERED = { isInOrder: false, isAfterCursor: false };
const ORDERED = { isInOrder: true, isAfterCursor: false };

test('of books that sort alike those that came first are kept', () => {
  for (const sign of ['', '-']) {
    const top = new TopEntries(parseBookQuery(`sort=${sign}datePublished`), 3, UNORDERED);
    const take = (id: string, datePublished: string): boolean =>
      top.take(Buffer.from(JSON.stringify({ id, datePublished })), 0, false);
    const ids = (): readonly string[] => runAll(top.finish()).map(({ id }) => id);
    for (const id of ['a', 'b', 'c', 'd', 'e']) take(id, '1960');
    assert.deepEqual(ids(), ['a', 'b', 'c']);
    take('f', sign === '' ? '1959' : '1961');
    assert.deepEqual(ids(), ['f', 'a', 'b']);
  }
});

test('books that come in order are taken until there are enough, and late ones sorted in', () => {
  const top = new TopEntries(parseBookQuery('sort=title'), 3, ORDERED);
  const take = (id: string, title: string, isLate: boolean): boolean =>
    top.take(Buffer.from(JSON.stringify({ id, title })), 0, isLate);
  assert.deepEqual(['b', 'c', 'd', 'e'].map((id) => take(id, id, false)),
    [true, true, false, false]);
  take('a', 'a', true);
  take('f', 'f', true);
  assert.deepEqual(runAll(top.finish()).map(({ id }) => id), ['a', 'b', 'c']);
});

test('where further keys sort, all books of the last first key are taken', () => {
  const top = new TopEntries(parseBookQuery('sort=datePublished,title'), 2, ORDERED);
  const take = (id: string, datePublished: string): boolean =>
    top.take(Buffer.from(JSON.stringify({ id, title: id, datePublished })), 0, false);
  assert.deepEqual([take('d', '1960'), take('c', '1960'), take('a', '1960'), take('b', '1961')],
    [true, true, true, false]);
  assert.deepEqual(runAll(top.finish()).map(({ id }) => id), ['a', 'c']);
});
