import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { findIdentifiers } from '../../src/maintenance/identifier-routes.ts';
import { StoredCollection } from '../../src/store/records/collection.ts';

const MATCHES_MAX = 3;

function collectionOf(records: readonly { readonly id: string; readonly name?: string }[]) {
  const collection = new StoredCollection(
    { name: 'hooks', key: 'id', unique: ['name'], hasNames: true });
  for (const record of records) {
    const bytes = Buffer.from(JSON.stringify(record));
    collection.apply({ collection: 'hooks', id: record.id, bytes });
  }
  return collection;
}

const MIDDLE = '-a800-7e30-b965-6d04b800';
const [FIRST, SECOND, THIRD, FOURTH] = ['abc10000', 'abc20000', 'abd00000', 'cd000000']
  .map((head) => `${head}${MIDDLE}${head.slice(0, 4)}`) as [string, string, string, string];
const CHOSEN = 'abc-chosen';

for (const [claim, part, expectedIds] of [
  ['an identifier stands alone, though others begin with it', 'abc', ['abc']],
  ['a name stands alone', 'shop', [FOURTH]],
  ['identifiers are found by their beginning', 'abc1', [FIRST]],
  ['identifiers are found by their end', '0abd0', [THIRD]],
  ['names are not found by a beginning', 'sho', []],
  ['names are not found by an end', '-two', []],
  ['chosen identifiers are not found by a beginning', 'abc-', []],
  ['chosen identifiers are not found by an end', 'chosen', []],
  ['one that begins and ends with the part is found once', 'cd00', [FOURTH]],
  ['no more are found than asked for', 'a', [FIRST, SECOND, THIRD]],
  ['nothing is found by nothing', '', []],
] as const) {
  test(claim, async () => {
    const collection = collectionOf([
      { id: 'abc' }, { id: CHOSEN }, { id: FIRST, name: 'shop-two' }, { id: SECOND },
      { id: THIRD }, { id: FOURTH, name: 'shop' },
    ]);
    assert.deepEqual(await findIdentifiers(collection, part, MATCHES_MAX), expectedIds);
  });
}

for (const part of ['abc', 'abc1', 'abc2', 'shop', FIRST, '0abc1']) {
  test(`a record that is not listed is not found by ${part}`, async () => {
    const collection = collectionOf([
      { id: 'abc' }, { id: FIRST }, { id: SECOND, name: 'shop' }, { id: 'kept' },
    ]);
    const isListed = (record: Buffer): boolean => record.includes('kept');
    assert.deepEqual(await findIdentifiers(collection, part, MATCHES_MAX, isListed), []);
  });
}

test('other work gets its turn while many keys are looked at', async () => {
  const collection = collectionOf(Array.from({ length: 20_001 }, (_, index) =>
    ({ id: `01900000${MIDDLE}${String(index).padStart(6, '0')}` })));
  let isOver = false;
  let turns = 0;
  const finding = findIdentifiers(collection, 'fff0', MATCHES_MAX).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    turns += 1;
  }
  assert.deepEqual(await finding, []);
  assert.ok(turns >= 4, `${turns} turns`);
});
