import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import type {
  CollectionSpec, Change, LogReader, Operation, Transaction,
} from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { IS_LONG, longTest } from '../../support/long.ts';
import { createRandom } from '../../support/random.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

const CHILDREN = 50;

/** A record of `parents` implies 50 of `books`, each a hundred times as long as itself. */
function implyChildren(parent: Buffer): Operation[] {
  const { id: parentId } = JSON.parse(String(parent));
  return Array.from({ length: CHILDREN }, (_, index) => {
    const id = `${parentId}.${index}`;
    const json = JSON.stringify({ id, text: 'x'.repeat(1000) });
    return { collection: 'books', id, bytes: Buffer.from(json) };
  });
}

const specs: readonly CollectionSpec[] = [
  { name: 'books', key: 'id' }, { name: 'parents', key: 'id', imply: implyChildren },
];

function stageParent(transaction: Transaction, id: string): void {
  const json = JSON.stringify({ id });
  transaction.put('parents', id, json);
  for (const child of implyChildren(Buffer.from(json))) {
    transaction.put('books', child.id, child.bytes ?? '', true);
  }
}

function open(files: SimulatedFiles) {
  return openStore({ directory: '/data', files, specs, logger: silentLogger });
}

function put(store: OpenedStore, id: string, text = ''): Promise<unknown> {
  return store.transact((transaction) =>
    transaction.put('books', id, JSON.stringify({ id, text })));
}

/** What a transaction did, as `5 +b1 -b2`. */
function lineOf(sequence: number, ids: readonly (readonly [string, boolean])[]): string {
  return [sequence, ...ids.map(([id, isThere]) => `${isThere ? '+' : '-'}${id}`)].join(' ');
}

function followedLine(sequence: number, changes: readonly Change[]): string {
  return lineOf(sequence, changes.map(({ id, after }) => [id, after !== null]));
}

async function readAll(reader: LogReader | null, applied: number): Promise<string[]> {
  assert.ok(reader !== null, 'it is known');
  const lines: string[] = [];
  for (let turn = 0; turn < 10_000; turn += 1) {
    const found = await reader.next(applied);
    if (found.length === 0) break;
    lines.push(...found.map(({ sequence, operations }) =>
      lineOf(sequence, operations.map(({ id, bytes }) => [id, bytes !== null]))));
  }
  reader.close();
  return lines;
}

/** Random transactions, compactions and restarts; the lines of what was committed, in order. */
async function write(files: SimulatedFiles, seed: number): Promise<{
  readonly store: OpenedStore; readonly lines: readonly string[];
}> {
  const random = createRandom(seed);
  const lines: string[] = [];
  let store = await open(files);
  const listen = (): void =>
    void store.changes.follow((sequence, changes) => lines.push(followedLine(sequence, changes)));
  listen();
  for (let round = 0; round < 12; round += 1) {
    const writes = Array.from({ length: 40 }, () => store.transact((transaction) => {
      for (let count = 1 + Math.floor(random() * 3); count > 0; count -= 1) {
        const id = `b${Math.floor(random() * 100)}`;
        const isLarge = random() < 0.02;
        const text = 'x'.repeat(Math.floor(random() * (isLarge ? 600_000 : 2000)));
        if (random() < 0.05) stageParent(transaction, id);
        else if (random() < 0.3) transaction.delete('books', id);
        else transaction.put('books', id, JSON.stringify({ id, text }));
      }
    }));
    await Promise.all([...writes, ...round % 4 === 2 ? [store.compact()] : []]);
    if (random() < 0.3) {
      await store.close();
      store = await open(files);
      listen();
    }
  }
  return { store, lines };
}

test('reads what was followed, from any sequence, across compactions and restarts', async () => {
  for (const seed of IS_LONG ? [1, 2, 3] : [1]) {
    const files = new SimulatedFiles();
    const { store, lines } = await write(files, seed);
    const { sequence } = store.statistics;
    assert.equal(lines.length, sequence);
    assert.equal(store.statistics.generation, 4, 'it has been compacted');
    const before = files.openPaths.length;
    for (let from = 0; from <= sequence; from += 17) {
      const read = await readAll(await store.changes.since(from), sequence);
      assert.deepEqual(read, lines.slice(from), `from ${from}, seed ${seed}`);
    }
    const half = Math.floor(sequence / 2);
    const some = await readAll(await store.changes.since(3), half);
    assert.deepEqual(some, lines.slice(3, half), 'no further than it is told');
    assert.equal(files.openPaths.length, before, 'each file is closed again');
    await store.close();
  }
});

test('what is returned at once has its bound, whatever the lines imply', async () => {
  const store = await open(new SimulatedFiles());
  for (let number = 0; number < 40; number += 1) {
    await store.transact((transaction) => stageParent(transaction, `p${number}`));
  }
  const reader = await store.changes.since(0);
  assert.ok(reader !== null);
  const { sequence } = store.statistics;
  for (let total = 0; total < sequence;) {
    const found = await reader.next(sequence);
    const bytes = found.flatMap(({ operations }) => operations)
      .reduce((sum, operation) => sum + (operation.bytes?.length ?? 0), 0);
    assert.ok(found.length > 0 && bytes < 400_000, `${found.length} with ${bytes} bytes`);
    total += found.length;
  }
  reader.close();
  await store.close();
});

test('a reader goes on with what is written while it reads, and through a compaction', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a');
  const reader = await store.changes.since(0);
  assert.ok(reader !== null);
  assert.deepEqual((await reader.next(1)).map(({ sequence }) => sequence), [1]);
  assert.deepEqual(await reader.next(1), []);
  for (let round = 0; round < 25; round += 1) {
    await put(store, `b${round}`);
    await store.compact();
  }
  const { sequence } = store.statistics;
  await assert.rejects(async () => {
    while ((await reader.next(sequence)).length > 0);
  }, { code: 'gone' }, 'it was away for longer than the journals go back');
  reader.close();
  const late = await readAll(await store.changes.since(sequence - 15), sequence);
  assert.equal(late.length, 15, 'what the newest journals hold is still there');
  assert.equal(await store.changes.since(1), null, 'what compaction has deleted is not');
  assert.equal(await store.changes.since(sequence + 1), null, 'nor what never was');
  assert.deepEqual(await readAll(await store.changes.since(sequence), sequence), []);
  await store.close();
});

longTest('journals that no start reads are kept up to a size', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a', 'y'.repeat(17 << 20));
  await store.compact();
  await store.compact();
  assert.equal(await store.changes.since(0), null);
  assert.ok(!files.existsSync('/data/journal-000001.jsonl'));
  await store.close();
});

test('a reader that is closed while it reads lets the file go once it has read', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a');
  const before = files.openPaths.length;
  const reader = await store.changes.since(0);
  const reading = reader?.next(1);
  reader?.close();
  assert.equal(files.openPaths.length, before + 1);
  await reading;
  assert.equal(files.openPaths.length, before);
  reader?.close();
  assert.equal(files.openPaths.length, before);
  await store.close();
});

test('a refused batch is never read, nor does its sequence go missing', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a');
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC', bytes: 20 } : null;
  await assert.rejects(put(store, 'b'));
  files.onCall = () => null;
  await put(store, 'c');
  assert.deepEqual(await readAll(await store.changes.since(0), 2), ['1 +a', '2 +c']);
  await store.close();
});

test('a listener is told what each operation replaced; one that fails keeps nobody', async () => {
  const store = await open(new SimulatedFiles());
  const told: (readonly [number, string | null, string | null])[] = [];
  store.changes.follow(() => {
    throw new Error('a bug');
  });
  const end = store.changes.follow((sequence, changes) => {
    for (const { before, after } of changes) {
      told.push([sequence, before && String(before), after && String(after)]);
    }
  });
  await store.transact((transaction) => {
    transaction.put('books', 'a', '{"id":"a"}');
    transaction.put('books', 'a', '{"id":"a","n":1}');
  });
  await store.transact((transaction) => transaction.delete('books', 'a'));
  end();
  await put(store, 'b');
  assert.deepEqual(told, [
    [1, null, '{"id":"a"}'],
    [1, '{"id":"a"}', '{"id":"a","n":1}'],
    [2, '{"id":"a","n":1}', null],
  ]);
  await store.close();
});
