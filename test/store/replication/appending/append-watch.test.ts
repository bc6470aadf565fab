import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import type { Transaction } from '../../../../src/store/store-port.ts';
import type { OpenedStore } from '../../../../src/store/store.ts';
import { SharedStoreRig, put } from '../../../support/shared-store-rig.ts';
import { someTurns, turnsUntil } from '../../../support/turns.ts';

const rig = new SharedStoreRig();
let stores: readonly OpenedStore[];

beforeEach(async () => {
  stores = [await rig.open(), await rig.open()];
});

const watched = (): boolean[] => [...rig.engine.sessions].map(({ isWatched }) => isWatched);

const has = (id: string): boolean => stores[1]?.collection('books').findBytes(id) !== undefined;

async function writeAll(writers: readonly OpenedStore[], prefix: string): Promise<void> {
  await Promise.all(writers.map(async (store, node) => {
    for (let index = 0; index < 100; index += 1) {
      await store.transact(put(`${prefix}-${node}-${index}`));
    }
  }));
}

test('nodes that write all the time are told of no appends, once they pause they are', async () => {
  assert.deepEqual(watched(), [true, true]);
  await writeAll(stores, 'busy');
  assert.deepEqual(watched(), [false, false]);
  await rig.clock.advance(150);
  assert.deepEqual(watched(), [true, true]);
  await stores[0]?.transact(put('last'));
  await turnsUntil(() => has('last'));
});

test('a node that is not told looks by itself', async () => {
  await writeAll(stores, 'busy');
  await rig.clock.advance(30);
  await stores[0]?.transact(put('last'));
  await someTurns();
  assert.deepEqual([watched()[1], has('last')], [false, false]);
  await rig.clock.advance(20);
  await turnsUntil(() => has('last'));
});

test('a node that goes on alone is told again', async () => {
  await writeAll(stores, 'busy');
  await writeAll(stores.slice(0, 1), 'alone');
  assert.equal(watched()[0], true);
});

test('a node whose last write of many is refused is told again', async () => {
  await writeAll(stores, 'busy');
  const takeIfFree = (transaction: Transaction): void => {
    if (transaction.find('books', 'name') !== undefined) throw new AppError('conflict', 'taken');
    put('name')(transaction);
  };
  const writes = await Promise.allSettled(stores.map((store) => store.transact(takeIfFree)));
  assert.deepEqual(writes.map(({ status }) => status), ['fulfilled', 'rejected']);
  await rig.clock.advance(150);
  assert.deepEqual(watched(), [true, true]);
});

test('a node whose last write of many the engine refuses is told again', async () => {
  await writeAll(stores, 'busy');
  rig.once('appendLocked', 'refused');
  await assert.rejects(Promise.resolve(stores[1]?.transact(put('last'))));
  await rig.clock.advance(150);
  assert.deepEqual(watched(), [true, true]);
});

test('a node is told in its next session, too', async () => {
  for (const session of rig.engine.sessions) session.lose();
  await rig.until(() => rig.engine.sessions.size === 2);
  await rig.until(() => watched().every((isWatched) => isWatched));
});
