import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { CollectionSpec } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { turnsUntil } from '../../support/turns.ts';

const specs: readonly CollectionSpec[] = [
  { name: 'books', key: 'id' },
  { name: 'hooks', key: 'identifier', unique: ['path'] },
];

function open(files: SimulatedFiles) {
  return openStore({ directory: '/data', files, specs, logger: silentLogger });
}

function contentOf(store: OpenedStore): string[] {
  const books = store.collection('books');
  const walk = books.walk();
  const lines: string[] = [];
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    lines.push(books.bytesAt(slot)?.toString() ?? '');
  }
  return lines;
}

test('a snapshot and a journal are JSON, and a snapshot of nothing too', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await store.transact((transaction) => transaction.put('books', 'a', '{"id":"a"}'));
  await store.transact((transaction) => transaction.put('books', 'b', '{"id":"b"}'));
  await store.compact();
  await store.transact((transaction) => transaction.delete('books', 'a'));
  await store.close();
  const read = (name: string): string => {
    const descriptor = files.openSync(`/data/${name}`, 'read');
    const content = Buffer.alloc(files.sizeSync(descriptor));
    files.readSync(descriptor, content, 0);
    files.closeSync(descriptor);
    return content.toString();
  };
  const { crc, ...books } = JSON.parse(read('books-000002.json'));
  assert.match(crc, /^[0-9a-f]{8}$/);
  assert.deepEqual(books, {
    format: 'hookshelf-snapshot-2', collection: 'books', generation: 2, sequence: 2,
    collections: ['books', 'hooks'], records: [{ id: 'a' }, { id: 'b' }], count: 2,
  });
  assert.deepEqual(JSON.parse(read('hooks-000002.json')).records, []);
  const lines = read('journal-000002.jsonl').trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ crc: _, ...line }) => line), [
    { seq: 2, durable: 2, start: { format: 'hookshelf-journal-2', generation: 2 } },
    { seq: 2, durable: 2, snapshots: ['books', 'hooks'] },
    { seq: 3, durable: 2, ops: [{ delete: 'books', key: 'a' }] },
    { seq: 3, durable: 3, mark: true },
  ]);
});

test('without room a compaction fails as storage_full, whatever finds it out', async () => {
  const kinds = ['open', 'write', 'rename'];
  for (let failing = 0, isThrough = false; !isThrough; failing += 1) {
    const files = new SimulatedFiles();
    const store = await open(files);
    await store.transact((transaction) => transaction.put('books', 'a', '{"id":"a"}'));
    let count = 0;
    files.onCall = ({ kind }) => {
      if (!kinds.includes(kind)) return null;
      count += 1;
      return count > failing ? { code: 'ENOSPC' } : null;
    };
    const outcome = await store.compact().then(() => null, (error: unknown) => error);
    isThrough = outcome === null;
    if (!isThrough) {
      assert.ok(outcome instanceof AppError);
      assert.match(`${outcome.code}: ${outcome.message}`, /^storage_full: .*; free some room/);
    }
    assert.ok(failing < 100);
    files.onCall = () => null;
    await store.close();
  }
});

test('writers wait for nothing that can be synced before the journals are switched', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  const write = (id: string): Promise<unknown> => store.transact((transaction) =>
    transaction.put('books', id, JSON.stringify({ id })));
  await write('b1');
  const syncDirectory = files.syncDirectory.bind(files);
  let goOn = (): void => {};
  let isNameSyncing = false;
  files.syncDirectory = async (directory) => {
    if (!isNameSyncing) {
      isNameSyncing = true;
      await new Promise<void>((resolve) => { goOn = resolve; });
    }
    return syncDirectory(directory);
  };
  const compacted = store.compact();
  await write('b2');
  assert.ok(isNameSyncing, 'the name of the new journal is not on disk yet');
  goOn();
  await compacted;
  assert.equal(store.statistics.generation, 2);
  await store.close();
  const reopened = await open(files);
  assert.deepEqual(contentOf(reopened).map((line) => JSON.parse(line).id), ['b1', 'b2']);
  await reopened.close();
});

test('shortly after a compaction, writes are still synced beside the loop', async () => {
  const files = new SimulatedFiles();
  const clock = new ManualClock();
  const store = await openStore({
    directory: '/data', files, specs, logger: silentLogger, clock,
  });
  let number = 0;
  const blocks = async (): Promise<boolean> => {
    let isBlocking = false;
    files.onCall = ({ kind, path, isAsync }) => {
      if (kind === 'datasync' && path.includes('journal')) isBlocking = !isAsync;
      return null;
    };
    number += 1;
    const id = `b${number}`;
    await store.transact((transaction) =>
      transaction.put('books', id, JSON.stringify({ id })));
    return isBlocking;
  };
  assert.equal(await blocks(), true, 'a disk that is fast and idle');
  await store.compact();
  assert.equal(await blocks(), false, 'it frees what was deleted');
  clock.standStill(1000);
  assert.equal(await blocks(), true, 'and is idle again');
  await store.close();
});

test('the generation before stays whole, however large its journal is', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  const put = (text: string) => store.transact((transaction) =>
    transaction.put('books', 'a', JSON.stringify({ id: 'a', text })));
  await put('small');
  await store.compact();
  await put('x'.repeat(17 << 20));
  await turnsUntil(() => store.statistics.generation === 3 && !store.statistics.isCompacting);
  await store.close();
  const generations = files.listSync('/data').flatMap((name) =>
    /^books-(\d+)\.json$/.exec(name)?.[1] ?? []).sort();
  assert.equal(generations.length, 2);
  for (const generation of generations) {
    assert.ok(files.existsSync(`/data/journal-${generation}.jsonl`), generation);
  }
});

test('a store writes nothing into a directory that has taken the place of its own', async () => {
  const folder = createTemporaryFolder();
  const [directory, moved] = [join(folder, 'data'), join(folder, 'moved')];
  const openIn = (path: string): Promise<OpenedStore> => openStore({
    directory: path, files: createNodeFiles(), specs, logger: silentLogger,
  });
  const put = (store: OpenedStore, id: string): Promise<unknown> =>
    store.transact((transaction) => transaction.put('books', id, JSON.stringify({ id })));
  const first = await openIn(directory);
  await put(first, 'a');
  renameSync(directory, moved);
  const second = await openIn(directory);
  await put(second, 'b');
  for (const attempt of [() => first.compact(), () => first.openStateSources()]) {
    await assert.rejects(attempt(), { code: 'unavailable', message: /was moved or removed/ });
  }
  await put(first, 'c');
  await first.close();
  await second.close();
  for (const [path, ids] of [[moved, ['a', 'c']], [directory, ['b']]] as const) {
    const store = await openIn(path);
    assert.deepEqual(contentOf(store), ids.map((id) => JSON.stringify({ id })));
    await store.close();
  }
});
