import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenedStore } from '../../../src/store/store.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { SharedStoreRig, increase, put } from '../../support/shared-store-rig.ts';
import { someTurns, turnsUntil } from '../../support/turns.ts';

const rig = new SharedStoreRig();

const has = (store: OpenedStore, id: string): boolean =>
  store.collection('books').findBytes(id) !== undefined;

test('what one node writes, the others read', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const heard: number[] = [];
  two.changes.follow((sequence) => heard.push(sequence));
  await one.transact(put('b'));
  await one.transact(put('a'));
  await turnsUntil(() => has(two, 'a'));
  assert.deepEqual(heard, [1, 2]);
  assert.equal(two.collection('books').idAt(two.collection('books').walk().next()), 'a');
  await two.transact((transaction) => transaction.delete('books', 'b'));
  await turnsUntil(() => !has(one, 'b'));
  assert.equal(one.statistics.sequence, 3);
});

test('two nodes that count in one record lose nothing', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const results = await Promise.all(Array.from({ length: 40 }, (_, index) =>
    (index % 2 === 0 ? one : two).transact(increase)));
  assert.deepEqual(results.toSorted((left, right) => left - right),
    Array.from({ length: 40 }, (_, index) => index + 1));
  assert.ok((one.replica?.figures.conflicts ?? 0) + (two.replica?.figures.conflicts ?? 0) > 0);
});

test('nodes that write all the time read with the lock, who stops by itself', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const writeAll = async (prefix: string): Promise<void> => {
    await Promise.all([one, two].map(async (store, node) => {
      for (let index = 0; index < 30; index += 1) {
        await store.transact(put(`${prefix}-${node}-${index}`));
      }
    }));
  };
  await writeAll('first');
  rig.engine.calls.length = 0;
  await writeAll('second');
  const reads = rig.engine.calls.filter((call) => call === 'readAfter').length;
  assert.ok(reads <= 5, `${reads} reads beside 60 appends`);
  await one.transact(put('last'));
  await rig.clock.advance(20);
  await turnsUntil(() => has(two, 'last'));
});

test('a node that waits for its turn shows what others have committed', async () => {
  const [one, two, three] = [await rig.open(), await rig.open(), await rig.open()];
  await Promise.all([one, two].map((store, node) => store.transact(put(`first-${node}`))));
  await Promise.all([one, two].map((store, node) => store.transact(put(`second-${node}`))));
  await two.transact(put('third'));
  await three.transact(put('committed'));
  rig.engine.stopReplicating();
  const held = three.transact(put('held'));
  await turnsUntil(() => rig.engine.entries.length > rig.engine.visible.length);
  const waiting = two.transact(put('waiting'));
  await someTurns();
  assert.equal(has(two, 'committed'), false);
  await rig.clock.advance(20);
  await turnsUntil(() => has(two, 'committed'));
  rig.engine.goOnReplicating();
  await Promise.all([held, waiting]);
  assert.deepEqual(['held', 'waiting'].map((id) => has(two, id)), [true, true]);
});

test('a node that starts reads what is there', async () => {
  const one = await rig.open();
  await one.transact(put('a'));
  const two = await rig.open();
  assert.ok(has(two, 'a'));
  assert.equal(two.replica?.logId, one.replica?.logId);
});

for (const call of ['append', 'appendLocked']) {
  for (const fault of ['lost-before', 'lost-after'] as const) {
    test(`an append whose answer is ${fault} in ${call} is there once`, async () => {
      const [one, two] = [await rig.open(), await rig.open()];
      rig.once(call, fault);
      const writes = [one.transact(increase), two.transact(increase)];
      let isDone = false;
      void Promise.all(writes).then(() => isDone = true);
      await rig.until(() => isDone);
      assert.deepEqual((await Promise.all(writes)).toSorted(), [1, 2]);
      assert.equal(rig.engine.visible.length, 2);
    });
  }
}

test('what the engine refuses is not written, and writing goes on', async () => {
  const one = await rig.open();
  rig.once('append', 'refused');
  await assert.rejects(one.transact(put('a')), { code: 'unavailable' });
  assert.equal(one.failure, null);
  await one.transact(put('b'));
  assert.deepEqual([has(one, 'a'), has(one, 'b')], [false, true]);
});

test('who waits for an engine that is away is told after 15 s, and it goes on later', async () => {
  const one = await rig.open();
  const said: (string | null)[] = [];
  one.onFailure((reason) => said.push(reason));
  rig.engine.goDown();
  const write = assert.rejects(one.transact(put('a')), { code: 'unavailable' });
  await rig.clock.advance(14_000);
  assert.equal(one.failure, null);
  await rig.clock.advance(2_000);
  await write;
  assert.notEqual(one.failure, null);
  await assert.rejects(one.transact(put('b')), { code: 'unavailable' });
  rig.engine.comeUp();
  await rig.until(() => one.failure === null);
  await one.transact(put('c'));
  assert.deepEqual([has(one, 'a'), has(one, 'b'), has(one, 'c')], [false, false, true]);
  assert.equal(said.length, 2);
});

test('an append that nobody can tell of is unknown, and comes back if it is there', async () => {
  const one = await rig.open();
  rig.once('append', 'lost-after');
  const write = assert.rejects(one.transact(put('a')), { code: 'unknown_outcome' });
  await turnsUntil(() => rig.engine.visible.length === 1);
  rig.engine.goDown();
  const waiting = assert.rejects(one.transact(put('b')), { code: 'unavailable' });
  await rig.clock.advance(16_000);
  await Promise.all([write, waiting]);
  assert.equal(has(one, 'a'), false);
  rig.engine.comeUp();
  await rig.until(() => has(one, 'a'));
  assert.equal(has(one, 'b'), false);
});

test('while the quorum is away nothing is acknowledged; then what was sent is, once', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  rig.engine.stopReplicating();
  let result = 0;
  void one.transact(increase).then((count) => result = count);
  await rig.clock.advance(8_000);
  assert.deepEqual([result, has(one, 'count'), has(two, 'count')], [0, false, false]);
  rig.engine.goOnReplicating();
  await rig.until(() => result === 1 && has(two, 'count'));
  assert.equal(rig.engine.visible.length, 1);
});

test('a refusal is of the newest state, though the node has not read it yet', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  await one.transact(put('a', 'old'));
  await turnsUntil(() => has(two, 'a'));
  rig.engine.turns = () => 5;
  await one.transact(put('a', 'new'));
  assert.equal(await two.transact((transaction) =>
    /old|new/.exec(transaction.find('books', 'a')?.toString() ?? '')?.[0]), 'new');
});

test('the log is read back from any sequence, as far as it goes', async () => {
  const one = await rig.open();
  for (const id of ['a', 'b', 'c']) await one.transact(put(id));
  const reader = await one.changes.since(1);
  assert.deepEqual((await reader?.next(2))?.map(({ sequence }) => sequence), [2]);
  assert.deepEqual((await reader?.next(3))?.map(({ sequence }) => sequence), [3]);
  assert.deepEqual(await reader?.next(3), []);
  reader?.close();
  assert.equal(await one.changes.since(9), null);
});

test('waiting for a sequence ends when it is there, or when it takes too long', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const reached = two.replica?.waitFor(1, 2000);
  const never = two.replica?.waitFor(2, 2000);
  await one.transact(put('a'));
  assert.equal(await reached, true);
  await rig.clock.advance(2500);
  assert.equal(await never, false);
});

test('a node that does not know what a newer one writes says so, and reads on', async () => {
  const one = await rig.open();
  const two = await openSharedStore(rig.engine, {
    number: 2, clock: rig.clock, specs: [{ name: 'books', key: 'id' }],
  });
  rig.stores.push(two);
  await one.transact(put('a'));
  await turnsUntil(() => has(two, 'a'));
  await one.transact((transaction) => transaction.put('marks', 'm', '{"id":"m"}'));
  const writes: Promise<void>[] = [];
  for (let second = 0; second < 20; second += 1) {
    writes.push(assert.rejects(two.transact(put('b')), { code: 'unavailable' }));
    await rig.clock.advance(1000);
  }
  await Promise.all(writes);
  assert.match(two.failure ?? '', /records of "marks".* start the newer hookshelf/);
  await assert.rejects(two.transact(put('b')), { code: 'unavailable' });
  assert.ok(has(two, 'a'));
  assert.equal(one.failure, null);
});

test('a node under which the log gets another format follows it no more, says so, and reads on',
  async () => {
    const [one, two] = [await rig.open(), await rig.open()];
    await one.transact(put('a'));
    await turnsUntil(() => has(two, 'a'));
    assert.ok(rig.engine.log !== null);
    rig.engine.log = { ...rig.engine.log, format: 3 };
    const writes: Promise<void>[] = [];
    for (let second = 0; second < 20; second += 1) {
      await rig.clock.advance(1000);
      writes.push(assert.rejects(two.transact(put('b')), { code: 'unavailable' }));
    }
    await Promise.all(writes);
    assert.match(two.failure ?? '', /log cannot be followed: the format of the log is 3, .* go on/);
    assert.ok(has(two, 'a') && !has(two, 'b'));
    assert.ok(!has(one, 'b'));
  });

test('a store that is closed while its append is unknown tells so', async () => {
  const one = await rig.open();
  rig.once('append', 'lost-after');
  const write = one.transact(put('a')).then(() => 'written', ({ code }) => code);
  await turnsUntil(() => rig.engine.visible.length === 1);
  rig.engine.goDown();
  let isClosed = false;
  void one.close().then(() => isClosed = true);
  await rig.until(() => isClosed);
  assert.equal(await write, 'unknown_outcome');
});

test('what adds to records that fill the engine is refused, and room is made', async () => {
  rig.engine.maxSnapshotBytes = 1000;
  const store = await rig.open();
  await store.transact(put('a', 'x'.repeat(1100)));
  await assert.rejects(store.transact(put('b')), { code: 'storage_full' });
  await store.transact(put('a', 'y'.repeat(1100)));
  await assert.rejects(store.transact(put('a', 'x'.repeat(1101))), { code: 'storage_full' });
  await store.transact((transaction) => transaction.delete('books', 'a'));
  await store.transact(put('b'));
  assert.deepEqual([has(store, 'a'), has(store, 'b')], [false, true]);
});

test('a store that closes waits 2 s for an append that nobody can tell of', async () => {
  const one = await rig.open();
  rig.engine.stopReplicating();
  const write = assert.rejects(one.transact(put('a')), { code: 'unknown_outcome' });
  await turnsUntil(() => rig.engine.calls.includes('append'));
  let isClosed = false;
  const closing = one.close().then(() => void (isClosed = true));
  await rig.clock.advance(1_500);
  assert.equal(isClosed, false);
  await rig.clock.advance(1_500);
  await Promise.all([write, closing]);
});

for (const call of ['connect', 'barrier'] as const) {
  test(`a store closes while its rig.engine gives no answer to ${call}`, async () => {
    const one = await rig.open();
    rig.engine.stopReplicating();
    rig.engine.calls.length = 0;
    const connect = rig.engine.connect.bind(rig.engine);
    rig.engine.connect = () => call === 'barrier' ? connect() : new Promise(() => {
      rig.engine.calls.push('connect');
    });
    rig.engine.loseAll();
    await rig.until(() => rig.engine.calls.includes(call));
    await one.close();
    rig.engine.goOnReplicating();
  });
}
