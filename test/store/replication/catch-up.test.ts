/** What becomes of a node that was away while others wrote much. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenedStore } from '../../../src/store/store.ts';
import { SharedStoreRig, increase, put } from '../../support/shared-store-rig.ts';
import type { EngineFault } from '../../support/simulated-engine.ts';
import { turnsUntil } from '../../support/turns.ts';

const rig = new SharedStoreRig();

/** Cuts the node off that was opened last; returns what ends that. */
function cutOff(fault: EngineFault): () => void {
  let isAway = true;
  let isFirst = true;
  rig.engine.faults = (call) => {
    if (call === 'connect' && isAway) return 'refused';
    if (call !== 'append' || !isFirst) return 'none';
    isFirst = false;
    return fault;
  };
  return () => void (isAway = false);
}

/** How much the largest turn of the loop has applied there, in transactions and bytes. */
function measureTurns(store: OpenedStore): { transactions: number; bytes: number } {
  const most = { transactions: 0, bytes: 0 };
  let turn = { transactions: 0, bytes: 0 };
  store.changes.follow((_, changes) => {
    if (turn.transactions === 0) setImmediate(() => void (turn = { transactions: 0, bytes: 0 }));
    turn.transactions += 1;
    turn.bytes += changes.reduce((sum, { after }) => sum + (after?.length ?? 0), 0);
    most.transactions = Math.max(most.transactions, turn.transactions);
    most.bytes = Math.max(most.bytes, turn.bytes);
  });
  return most;
}

for (const fault of ['none', 'lost-before', 'lost-after'] as const) {
  test(`what a node missed is applied in pages before it appends (${fault})`, async () => {
    const [one, two] = [await rig.open(), await rig.open()];
    const session = [...rig.engine.sessions].at(-1);
    const comeBack = cutOff(fault);
    const write = two.transact(increase);
    if (fault !== 'none') await turnsUntil(() => rig.engine.calls.includes('append'));
    session?.lose();
    for (let count = 0; count < 300; count += 1) await one.transact(put(`b-${count}`));
    const most = measureTurns(two);
    comeBack();
    let isDone = false;
    void write.then(() => void (isDone = true));
    await rig.until(() => isDone);
    assert.equal(await two.transact(increase), 2);
    assert.equal(rig.engine.visible.length, 302);
    assert.ok(most.transactions <= 2 * 64, `${most.transactions} in one turn`);
  });
}

test('large entries that a node missed are applied in turns, between which it serves', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const comeBack = cutOff('none');
  [...rig.engine.sessions].at(-1)?.lose();
  for (let count = 0; count < 30; count += 1) {
    await one.transact(put(`b-${count}`, 'x'.repeat(100_000)));
  }
  const most = measureTurns(two);
  comeBack();
  await rig.until(() => two.statistics.sequence === 30);
  assert.ok(most.bytes <= 150_000, `${most.bytes} in one turn`);
});

test('an append is unknown when the log was trimmed past it before it could be found', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const session = [...rig.engine.sessions].at(-1);
  const comeBack = cutOff('lost-after');
  const write = assert.rejects(two.transact(increase), { code: 'unknown_outcome' });
  await turnsUntil(() => rig.engine.visible.length === 1);
  session?.lose();
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 80; count += 1) await one.transact(put(`b-${round}-${count}`));
    await one.compact();
  }
  comeBack();
  await rig.until(() => two.statistics.sequence === 241);
  await write;
  assert.equal(await two.transact(increase), 2);
});
