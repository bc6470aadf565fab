import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentValues } from '../../../src/base/structures/recent-values.ts';

test('keeps the values that were used last, and makes others anew', () => {
  const values = new RecentValues<{ readonly name: string }>(2);
  const use = (name: string): { readonly name: string } => values.use(name, () => ({ name }));
  const first = use('first');
  const second = use('second');
  assert.equal(use('first'), first);
  use('third');
  assert.deepEqual([...values.values()].map(({ name }) => name), ['first', 'third']);
  assert.notEqual(use('second'), second);
});
