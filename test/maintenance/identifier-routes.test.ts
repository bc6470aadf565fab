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

for (const [claim, part, expectedIds] of [
  ['an identifier stands alone, though others begin with it', 'ab', ['ab']],
  ['a name stands alone, though others begin with it', 'shop', ['x1']],
  ['identifiers are found by their beginning', 'abc', ['abc1', 'abc2']],
  ['identifiers are found by their end', 'z', ['yz']],
  ['records are found by the beginning and the end of their names', 'sho', ['x1', 'x2']],
  ['one that begins and ends with the part is found once', 'q', ['q-q']],
  ['no more are found than asked for', 'a', ['ab', 'abc1', 'abc2']],
  ['nothing is found by nothing', '', []],
] as const) {
  test(claim, async () => {
    const collection = collectionOf([
      { id: 'ab' }, { id: 'abc1' }, { id: 'abc2' }, { id: 'abd' }, { id: 'q-q' },
      { id: 'x1', name: 'shop' }, { id: 'x2', name: 'shop-two' }, { id: 'yz' },
    ]);
    assert.deepEqual(await findIdentifiers(collection, part, MATCHES_MAX), expectedIds);
  });
}

for (const part of ['ab', 'abc', 'shop', 'yz', 'z']) {
  test(`a record that is not listed is not found by ${part}`, async () => {
    const collection = collectionOf([
      { id: 'ab' }, { id: 'abc1' }, { id: 'x1', name: 'shop' }, { id: 'yz' }, { id: 'kept' },
    ]);
    const isListed = (record: Buffer): boolean => record.includes('kept');
    assert.deepEqual(await findIdentifiers(collection, part, MATCHES_MAX, isListed), []);
  });
}

test('other work gets its turn while many keys are looked at', async () => {
  const collection = collectionOf(Array.from({ length: 20_001 }, (_, index) =>
    ({ id: `k${String(index).padStart(6, '0')}` })));
  let isOver = false;
  let turns = 0;
  const finding = findIdentifiers(collection, '-none', MATCHES_MAX).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    turns += 1;
  }
  assert.deepEqual(await finding, []);
  assert.ok(turns >= 4, `${turns} turns`);
});
