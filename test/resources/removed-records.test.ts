/** What of the records that were removed is held to be put back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RemovedRecords } from '../../src/resources/removed-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';

function hold(removed: RemovedRecords, id: string, bytes: number): void {
  removed.add(id, [{ collection: 'notes', id, bytes: Buffer.alloc(bytes) }]);
}

function isHeld(removed: RemovedRecords, id: string): boolean {
  try {
    return removed.get(id).length > 0;
  } catch {
    return false;
  }
}

test('the last thousand are held', () => {
  const removed = new RemovedRecords('note', new ManualClock());
  for (let number = 0; number <= 1000; number += 1) hold(removed, `n${number}`, 10);
  assert.deepEqual(['n0', 'n1', 'n1000'].map((id) => isHeld(removed, id)), [false, true, true]);
});

test('as many are held as take two MiB, and the last one whatever it takes', () => {
  const removed = new RemovedRecords('note', new ManualClock());
  for (const id of ['a', 'b', 'c']) hold(removed, id, 1 << 20);
  assert.deepEqual(['a', 'b', 'c'].map((id) => isHeld(removed, id)), [false, true, true]);
  hold(removed, 'large', 3 << 20);
  assert.deepEqual(['c', 'large'].map((id) => isHeld(removed, id)), [false, true]);
  removed.forget('large');
  for (const id of ['d', 'e']) hold(removed, id, 1 << 20);
  assert.deepEqual(['d', 'e'].map((id) => isHeld(removed, id)), [true, true]);
});

test('one that is removed twice is held as it was the second time, and longer', async () => {
  const clock = new ManualClock();
  const removed = new RemovedRecords('note', clock);
  hold(removed, 'a', 1);
  await clock.advance(50_000);
  hold(removed, 'a', 2);
  await clock.advance(59_999);
  assert.equal(removed.get('a')[0]?.bytes.length, 2);
  await clock.advance(1);
  assert.throws(() => removed.get('a'), { code: 'not_found' });
});

test('a removal has what is gone in the end, as it was then', async () => {
  const store = createMemoryStore([{ name: 'notes', key: 'id' }]);
  await store.transact((transaction) => {
    for (const id of ['a', 'b']) transaction.put('notes', id, `{"id":"${id}"}`);
  });
  const records = await store.transact((transaction) => {
    transaction.delete('notes', 'a');
    transaction.delete('notes', 'none');
    transaction.put('notes', 'c', '{"id":"c","text":"late"}');
    transaction.delete('notes', 'c');
    transaction.delete('notes', 'b');
    transaction.put('notes', 'b', '{"id":"b"}');
    return transaction.listRemoved();
  });
  assert.deepEqual(records.map(({ id, bytes }) => [id, String(bytes)]),
    [['a', '{"id":"a"}'], ['c', '{"id":"c","text":"late"}']]);
});
