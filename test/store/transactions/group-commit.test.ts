import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { silentLogger } from '../../../src/base/log.ts';
import type { CollectionSpec, Transaction } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import { BatchWindow } from '../../../src/store/transactions/group-commit.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { someTurns } from '../../support/turns.ts';
import { longTest } from '../../support/long.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const specs: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }];

function open(files: SimulatedFiles, clock = new ManualClock()) {
  return openStore({ directory: '/data', files, specs, clock, logger: silentLogger });
}

function putBook(id: string, title = 'T') {
  return (transaction: Transaction) =>
    transaction.put('books', id, JSON.stringify({ id, title }));
}

test('writers of the same and the next turns share one write and one sync', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  const before = files.history.length;
  const writes = Array.from({ length: 32 }, (_, index) => store.transact(putBook(`a${index}`)));
  await someTurns(1);
  writes.push(...Array.from({ length: 32 }, (_, index) => store.transact(putBook(`b${index}`))));
  await Promise.all(writes);
  assert.deepEqual(files.history.slice(before).map(({ kind }) => kind), ['write', 'datasync']);
  assert.deepEqual([store.statistics.batches, store.statistics.transactions], [1, 64]);
  await store.close();
});

test('waits for a fast disk on the loop, for a slow one in the thread pool', async () => {
  const files = new SimulatedFiles();
  const clock = new ManualClock();
  const store = await open(files, clock);
  let pooled = 0;
  const datasync = files.datasync.bind(files);
  files.datasync = (descriptor) => {
    pooled += 1;
    return datasync(descriptor);
  };
  await store.transact(putBook('a'));
  assert.equal(pooled, 0);
  clock.tickMs = 5;
  await store.transact(putBook('b'));
  assert.equal(pooled, 0);
  await store.transact(putBook('c'));
  assert.equal(pooled, 1);
  await store.close();
});

test('waiters are answered in the order they came, when all of them are seen', async () => {
  const store = await open(new SimulatedFiles());
  const books = store.collection('books');
  const sizes: number[] = [];
  await Promise.all(['a', 'b', 'c'].map(async (id) => {
    await store.transact(putBook(id));
    sizes.push(books.size);
  }));
  assert.deepEqual(sizes, [3, 3, 3]);
  await store.close();
});

test('a transaction sees its own writes, and one that throws leaves nothing', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await store.transact(putBook('a', 'old'));
  const before = files.history.length;
  await assert.rejects(store.transact((transaction) => {
    putBook('a', 'new')(transaction);
    putBook('b')(transaction);
    assert.match(transaction.find('books', 'a')?.toString() ?? '', /new/);
    assert.equal(transaction.delete('books', 'a'), true);
    assert.equal(transaction.delete('books', 'a'), false);
    throw new Error('changed my mind');
  }), /changed my mind/);
  assert.match(await store.transact((transaction) =>
    transaction.find('books', 'a')?.toString() ?? ''), /old/);
  assert.equal(store.collection('books').find('b'), undefined);
  assert.equal(files.history.length, before);
  await store.close();
});

const WRONG_RECORDS = [
  ['another key', 'a', '{"id":"b"}'],
  ['the key not first', 'a', '{"title":"T","id":"a"}'],
  ['two lines', 'a', '{"id":"a",\n"title":"T"}'],
  ['no end', 'a', '{"id":"a"'],
  ['a key of other characters', 'a b', '{"id":"a b"}'],
  ['a key that is too long', 'a'.repeat(129), `{"id":"${'a'.repeat(129)}"}`],
] as const;

for (const [what, id, json] of WRONG_RECORDS) {
  test(`a record with ${what} is the programmer's error and is not stored`, async () => {
    const store = await open(new SimulatedFiles());
    await assert.rejects(store.transact((transaction) => transaction.put('books', id, json)),
      { name: 'AssertionError' });
    assert.equal(store.collection('books').size, 0);
    await store.close();
  });
}

test('what is on disk is let go of, though each batch was staged on the one before', async () => {
  const files = new SimulatedFiles();
  const clock = new ManualClock();
  clock.tickMs = 5;
  const store = await open(files, clock);
  const results: WeakRef<object>[] = [];
  let kept = -1;
  const write = async (): Promise<void> => {
    results.push(new WeakRef(await store.transact((transaction) => {
      const before = transaction.find('books', 'counter');
      return { before, after: transaction.put('books', 'counter', '{"id":"counter"}') };
    })));
  };
  const writes: Promise<void>[] = [];
  const datasync = files.datasync.bind(files);
  // The next is staged while the one before is on its way to disk.
  files.datasync = async (descriptor) => {
    if (writes.length < 100) {
      writes.push(write());
    } else if (kept === -1) {
      await someTurns(1);
      collectGarbage();
      kept = results.filter((result) => result.deref() !== undefined).length;
    }
    await datasync(descriptor);
  };
  // The first shows that the disk is slow, and that the pool is for the rest.
  await write();
  writes.push(write());
  for (let count = 0; count < 100; count += 1) await writes[count];
  assert.ok(kept >= 0 && kept < 10, `${kept} of ${results.length} are kept`);
  await store.close();
});

longTest('what waits to be written is bounded', async () => {
  const store = await open(new SimulatedFiles());
  const large = 'x'.repeat(9 << 20);
  const writes = Array.from({ length: 10 }, (_, index) =>
    store.transact(putBook(`a${index}`, large)));
  const results = await Promise.allSettled(writes);
  const refused = results.flatMap((result) => result.status === 'rejected' ? [result.reason] : []);
  assert.equal(refused.length, 2);
  assert.ok(refused.every(({ code, details }) =>
    code === 'unavailable' && details.retryAfterS === 1));
  await store.transact(putBook('b'));
  assert.equal(store.collection('books').size, 9);
  await store.close();
});

test('a mark follows when writing pauses, and none while it goes on', async () => {
  const files = new SimulatedFiles();
  const clock = new ManualClock();
  const store = await open(files, clock);
  const lines = () => files.disk.node(files.disk.find('/data/journal-000001.jsonl') ?? -1)
    .current.toString().trimEnd().split('\n').map((line) => Object.keys(JSON.parse(line)).at(-1));
  await store.transact(putBook('a'));
  await store.transact(putBook('b'));
  assert.deepEqual(lines(), ['start', 'ops', 'ops']);
  await clock.advance(1000);
  assert.deepEqual(lines(), ['start', 'ops', 'ops', 'mark']);
  await store.close();
  assert.deepEqual(lines(), ['start', 'ops', 'ops', 'mark']);
});

test('a listener that fails keeps nothing from the others, nor from the writer', async () => {
  const store = await open(new SimulatedFiles());
  const heard: string[] = [];
  const books = store.collection('books');
  books.onChange(() => {
    throw new Error('a bug');
  });
  books.onChange(({ id }) => heard.push(id));
  await store.transact(putBook('a'));
  assert.deepEqual(heard, ['a']);
  assert.ok(books.find('a'));
  await store.close();
});

test('after close nothing is taken, and closing again is nothing', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  const last = store.transact(putBook('a'));
  await Promise.all([store.close(), store.close()]);
  await last;
  await assert.rejects(store.transact(putBook('b')), { code: 'unavailable' });
  assert.deepEqual(files.openPaths, []);
});

/** Turns until the window is over, `counts` telling how many transactions are there at each. */
function countTurns(counts: (turn: number) => number, bytesEach = 500): number {
  const window = new BatchWindow();
  for (let turn = 0; ; turn += 1) {
    const count = counts(turn);
    if (window.countTurn(count, count * bytesEach)) return turn;
  }
}

test('a batch waits until nobody has come for two turns', () => {
  assert.equal(countTurns(() => 1), 2);
  assert.equal(countTurns((turn) => Math.min(turn + 1, 4)), 5);
  assert.equal(countTurns((turn) => [1, 2, 2, 3][turn] ?? 3), 5);
});

test('a batch waits for nobody longer than a few turns', () => {
  assert.equal(countTurns((turn) => turn + 1), 7);
});

test('a batch closes at once when it is large', () => {
  assert.equal(countTurns(() => 1, 8 << 20), 0);
});

test('the window opens anew for each batch', () => {
  const window = new BatchWindow();
  const ask = (count: number) => window.countTurn(count, count);
  assert.deepEqual([ask(5), ask(5), ask(5)], [false, false, true]);
  assert.deepEqual([ask(5), ask(6), ask(6), ask(6)], [false, false, false, true]);
});
