import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TopEntries } from '../../../src/books/list/top-k.ts';

test('of books that sort alike those that came first are kept', () => {
  for (const isDescending of [false, true]) {
    const top = new TopEntries(3, {
      orders: [{ key: 'datePublished', isDescending }], isIdDescending: false,
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      top.offer([1960], Buffer.from(JSON.stringify({ id })), 0);
    }
    assert.deepEqual(top.sorted().map(({ id }) => id), ['a', 'b', 'c']);
    top.offer([isDescending ? 1961 : 1959], Buffer.from('{"id":"f"}'), 0);
    assert.deepEqual(top.sorted().map(({ id }) => id), ['f', 'a', 'b']);
  }
});
