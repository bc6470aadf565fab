import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { OpenedStore } from '../../../src/store/store.ts';
import type { ReloadPhase } from '../../../src/store/store-port.ts';
import { SharedStoreRig, put, putHook } from '../../support/shared-store-rig.ts';
import { turnsUntil } from '../../support/turns.ts';
import { contentOf } from '../../support/workload.ts';

const rig = new SharedStoreRig({ snapshotEveryBytes: 100_000 });

test('a log that was cut back is loaded anew, and what differs is told', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  await one.transact(put('a'));
  await one.transact(putHook('h1', 's1'));
  const kept = contentOf(one);
  await one.transact(put('a', 'lost'));
  await one.transact(put('b', 'lost'));
  await one.transact((transaction) => {
    putHook('h1', 's2')(transaction);
    putHook('h2', 's1')(transaction);
  });
  await turnsUntil(() => two.statistics.sequence === 5);
  const told: string[] = [];
  two.replica?.onReload((phase) => told.push(phase));
  two.collection('books').onChange(({ id, after }) => told.push(`${id} ${after !== null}`));
  rig.engine.failOver(2);
  await rig.clock.advance(2000);
  await turnsUntil(() => two.statistics.sequence === 2 && one.statistics.sequence === 2);
  assert.deepEqual([contentOf(one), contentOf(two)], [kept, kept]);
  assert.deepEqual(told, ['begin', 'b false', 'a true', 'end']);
  assert.match(rig.logged.join('\n'), /does not continue .*"reason":"the log ends at 2, and 5 was/);
  await two.transact(putHook('h3', 's2'));
  await turnsUntil(() => one.statistics.sequence === 3);
  assert.deepEqual(contentOf(one), contentOf(two));
});

test('what waits while everything is loaded anew is told to come again', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  await one.transact(put('a'));
  await turnsUntil(() => two.statistics.sequence === 1);
  // The other node has gone on from another past before this one looks.
  rig.engine.entries = [];
  rig.engine.failOver(0);
  rig.engine.turns = () => 3;
  const write = two.transact(put('b'));
  const outcome = write.then(() => 'written', ({ code }) => code);
  await rig.clock.advance(3000);
  assert.equal(await outcome, 'unavailable');
  await turnsUntil(() => two.replica?.isReloading === false && two.failure === null);
  assert.equal(two.collection('books').size, 0);
  await two.transact(put('c'));
});

/** Two holds one record; three has written four more since, and the log begins behind them. */
async function leaveBehind(): Promise<{ two: OpenedStore; three: OpenedStore }> {
  const [one, two] = [await rig.open(), await rig.open()];
  await one.transact(put('a'));
  await turnsUntil(() => two.statistics.sequence === 1);
  const readable = rig.engine.faults;
  rig.engine.loseAll();
  rig.engine.faults = (call) => call === 'connect' ? 'refused' : 'none';
  await rig.clock.advance(1000);
  rig.engine.faults = readable;
  const three = await rig.open();
  for (const id of ['b', 'c', 'd', 'e']) {
    await three.transact(put(id));
    await three.compact();
  }
  return { two, three };
}

test('a node that was away while the log was trimmed loads the snapshot', async () => {
  const { two, three } = await leaveBehind();
  const told: (readonly [ReloadPhase, number])[] = [];
  two.replica?.onReload((phase) => told.push([phase, two.statistics.sequence]));
  let written: Promise<unknown> | null = null;
  // While what was loaded takes its place here; it is committed before the barrier is.
  rig.engine.faults = (call) => {
    rig.engine.turns = () => call === 'barrier' ? 200 : 1;
    return 'none';
  };
  two.collection('books').onChange(() => { written ??= three.transact(put('f')); });
  await rig.clock.advance(5000);
  await turnsUntil(() => two.statistics.sequence === 6);
  await written;
  assert.deepEqual(contentOf(two), contentOf(three));
  assert.deepEqual(told, [['begin', 1], ['end', 6]], 'nobody reads what is as old as it was then');
});

test('a node that loses its session while it catches up with a snapshot goes on', async () => {
  const { two, three } = await leaveBehind();
  let losses = 0;
  rig.engine.faults = (call) => {
    if (call !== 'barrier' || two.replica?.isReloading !== true || losses === 2) return 'none';
    losses += 1;
    return 'lost-before';
  };
  const isOver = (): boolean => losses === 2 && two.replica?.isReloading === false;
  for (let second = 0; second < 20 && !isOver(); second += 1) await rig.clock.advance(1000);
  assert.ok(isOver(), `lost ${losses} times`);
  assert.deepEqual(contentOf(two), contentOf(three));
  await two.transact(put('g'));
});

test('who hears that writing goes on after a reload may write at once', async () => {
  const { two } = await leaveBehind();
  let written = '';
  two.onFailure((reason) => {
    if (reason !== null) return;
    two.transact(put('g')).then(() => written = 'written', ({ message }) => written = message);
  });
  await rig.until(() => written !== '');
  assert.equal(written, 'written');
});

test('a node that is loaded anew after an outage tells no more of the outage', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  await one.transact(put('a'));
  await one.transact(put('b'));
  await turnsUntil(() => two.statistics.sequence === 2);
  rig.engine.goDown();
  await rig.clock.advance(20_000);
  assert.match(two.failure ?? '', /cannot be reached/);
  rig.engine.failOver(1);
  rig.engine.comeUp();
  let isHeld = true;
  rig.engine.faults = (call) => {
    if (call === 'barrier' && two.replica?.isReloading === true && isHeld) {
      isHeld = false;
      rig.engine.stopReplicating();
    }
    return 'none';
  };
  await rig.until(() => !isHeld);
  assert.match(two.failure ?? '', /loaded anew/);
  rig.engine.goOnReplicating();
  await rig.until(() => two.failure === null);
});

for (const what of ['no log', 'another log'] as const) {
  test(`a node whose rig.engine holds ${what} keeps its own, and goes on with it`, async () => {
    const one = await rig.open();
    await one.transact(put('a'));
    const { log, entries } = rig.engine;
    assert.ok(log !== null);
    rig.engine.log = what === 'no log' ? null : { ...log, log: randomUUID() };
    rig.engine.entries = [];
    rig.engine.failOver(0);
    await rig.clock.advance(3000);
    await assert.rejects(one.transact(put('b')), {
      code: 'unavailable', message: what === 'no log' ? /no more: put its backup/ : /another log/,
    });
    assert.match(one.failure ?? '', /name the right database/);
    assert.match(one.replica?.disconnectReason ?? '', /name the right database/);
    assert.equal(one.replica?.isReloading, false);
    assert.equal(one.collection('books').size, 1);
    rig.engine.log = log;
    rig.engine.entries = entries;
    rig.engine.failOver(1);
    await rig.until(() => one.failure === null);
    await one.transact(put('c'));
    assert.equal(one.collection('books').size, 2);
  });
}
