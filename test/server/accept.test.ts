/** The header `Accept`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAccept } from '../../src/server/accept.ts';

test('ranges are read with their weights, whatever stands in quotes', () => {
  const cases: readonly (readonly [accept: string, ranges: readonly (readonly unknown[])[]])[] = [
    ['text/csv', [['text/csv', 1]]],
    ['Text/*;Q=0.5 , */*;q=0', [['text/*', 0.5], ['*/*', 0]]],
    ['a/b;profile="x, \\" y;q=0";q=0.3, c/d', [['a/b', 0.3], ['c/d', 1]]],
    ['a/b;profile="x, c/d', [['a/b', 1]]],
    ['a/b;q=2, , ;q=1', [['a/b', 0]]],
    ['', [['*/*', 1]]],
  ];
  for (const [accept, ranges] of cases) {
    assert.deepEqual(parseAccept(accept).map(({ name, weight }) => [name, weight]), ranges, accept);
  }
});

test('quotes that are not closed take no longer than other text', () => {
  const { user: before } = process.cpuUsage();
  parseAccept('\\"'.repeat(200_000));
  const { user } = process.cpuUsage();
  assert(user - before < 2_000_000, `${user - before} µs`);
});
