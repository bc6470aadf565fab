import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createValueCheck } from '../../../src/books/query/book-filter.ts';
import { parseBookListQuery } from '../../../src/books/query/parse-query.ts';

const CASES: readonly (readonly [
  from: string | null, to: string | null, inside: readonly string[], outside: readonly string[],
])[] = [
  ['1990-01-01', '1990-12-31', ['1990', '1990-01', '1990-12', '1990-12-31'], ['1989', '1991']],
  ['1990', '1990', ['1990', '1990-06-30'], ['1989-12-31', '1991-01-01']],
  [null, '1990-06-30', ['1989', '1990-06', '1990-06-30'], ['1990', '1990-07', '1990-07-01']],
  [null, '1990-06-29', ['1990-06-29', '1990-05'], ['1990', '1990-06', '1990-06-30']],
  ['1990-01-02', null, ['1990-02', '1990-01-02', '1991'], ['1990', '1990-01', '1990-01-01']],
  ['1990-06-01', null, ['1990-06', '1990-06-01'], ['1990', '1990-05-31']],
  [null, '1900-02-28', ['1900-02'], ['1900']],
  [null, '2000-02-28', ['2000-01'], ['2000-02', '2000']],
  [null, '9999-12-31', ['0001', '9999'], []],
];

for (const [from, to, inside, outside] of CASES) {
  test(`a partial date lies within ${from} to ${to} when all its days do`, () => {
    const { filter } = parseBookListQuery({
      publishedFrom: from ?? undefined, publishedTo: to ?? undefined,
    });
    const check = createValueCheck(filter);
    const isInside = (date: string): boolean =>
      check(Buffer.from(JSON.stringify({ id: 'a', datePublished: date })));
    assert.deepEqual(inside.filter((date) => !isInside(date)), [], 'not found');
    assert.deepEqual(outside.filter(isInside), [], 'found');
  });
}
