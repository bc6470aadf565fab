import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import { recoverState } from '../../../src/store/generations/recovery.ts';
import { checkSums, sumCollections } from '../../../src/store/moving/collection-sums.ts';
import type { CollectionSum } from '../../../src/store/moving/collection-sums.ts';
import {
  loadContents, verifyEngine, withEngine,
} from '../../../src/store/moving/engine-contents.ts';
import type { EngineConnection } from '../../../src/store/moving/engine-contents.ts';
import { moveToDirectory, moveToEngine } from '../../../src/store/moving/move.ts';
import type { SourceRecords } from '../../../src/store/moving/move.ts';
import type { CollectionSpec } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const specs: readonly CollectionSpec[] = [
  { name: 'books', key: 'id', unique: ['title'] }, { name: 'hooks', key: 'identifier' },
];
const files = createNodeFiles();
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const nothing = async (): Promise<void> => {};

test('records go into an engine and back into a directory, byte by byte', async () => {
  const place = createTemporaryFolder();
  const source = await fill(place, 300);
  const engine = new SimulatedEngine();
  const sums = await use(place, engine, (opened) => moveToEngine(source, opened, nothing));
  assert.deepEqual(sums, await sumCollections(source.collections));
  assert.deepEqual(sums.map(({ collection, records }) => [collection, records]),
    [['books', 300], ['hooks', 1]]);

  const node = await openNode(place, engine);
  assert.equal(node.statistics.sequence, source.sequence);
  assert.equal(node.collection('books').size, 300);
  await node.transact((transaction) => transaction.put('books', 'z', bookOf('z')));
  await node.close();

  const report = await use(place, engine, async (opened) => {
    const { collections, position } = await loadContents(opened);
    return moveToDirectory({ collections, sequence: position.sequence },
      { ...targetOf(place), directory: join(place, 'back') }, nothing);
  });
  assert.equal(report.sums.find(({ collection }) => collection === 'books')?.records, 301);
  const back = await openStore({ directory: join(place, 'back'), files, specs,
    logger: silentLogger });
  assert.equal(back.collection('books').findBytes('z')?.toString(), bookOf('z'));
  assert.equal(back.statistics.sequence, source.sequence + 1);
  await back.close();
});

test('an empty store makes an empty log', async () => {
  const place = createTemporaryFolder();
  const engine = new SimulatedEngine();
  const source = await fill(place, 0);
  await use(place, engine, (opened) => moveToEngine(source, opened, nothing));
  assert.deepEqual([engine.head?.sequence, engine.head?.floor], [0, 0]);
  await (await openNode(place, engine)).close();
});

test('an engine that holds another log is left as it is', async () => {
  const place = createTemporaryFolder();
  const engine = new SimulatedEngine();
  const node = await openNode(place, engine);
  await node.transact((transaction) => transaction.put('books', 'a', bookOf('a')));
  await node.close();
  const before = engine.head;
  const source = await fill(place, 3);
  await assert.rejects(use(place, engine, (opened) => moveToEngine(source, opened, nothing)),
    { code: 'conflict', message: /holds a log already/ });
  assert.deepEqual(engine.head, before);
  assert.equal(engine.snapshots.size, 0);
});

test('wherever a move is cut off no node starts on it, and the next goes on', async () => {
  const place = createTemporaryFolder();
  const source = await fill(place, 50);
  const sums = await sumCollections(source.collections);
  let isDone = false;
  for (let step = 0; !isDone; step += 1) {
    assert.ok(step < 100);
    for (const fault of ['lost-before', 'lost-after'] as const) {
      const engine = new SimulatedEngine();
      let calls = 0;
      engine.faults = () => (calls += 1) - 1 === step ? fault : 'none';
      const moved = await use(place, engine, (opened) => moveToEngine(source, opened, nothing))
        .catch((error: unknown) => error);
      isDone = calls <= step;
      engine.faults = () => 'none';
      // A session that was not confirmed makes way for another.
      const isConfirmed = engine.calls.indexOf('barrier') < step;
      if (!isDone && isConfirmed) assert.ok(!Array.isArray(moved));
      const isBegun = engine.head !== null && engine.head.sequence >= engine.head.floor;
      if (engine.head !== null && !isBegun) {
        await assert.rejects(openNode(place, engine), { message: /data:move/ });
      }
      assert.deepEqual(await use(place, engine, (opened) =>
        moveToEngine(source, opened, nothing)), sums);
      const node = await openNode(place, engine);
      assert.equal(node.collection('books').size, 50);
      await node.close();
    }
  }
});

test('a move of other records than were cut off is refused', async () => {
  const place = createTemporaryFolder();
  const engine = new SimulatedEngine();
  const refuse = async (): Promise<void> => {
    throw new Error('not yet');
  };
  const source = await fill(place, 3);
  await assert.rejects(use(place, engine, (opened) => moveToEngine(source, opened, refuse)),
    { message: 'not yet' });
  const other = await fill(place, 4);
  await assert.rejects(use(place, engine, (opened) => moveToEngine(other, opened, nothing)),
    { code: 'conflict', message: /other records was cut off/ });
  await use(place, engine, (opened) => moveToEngine(source, opened, nothing));
});

test('what is not read back as it was written is refused, and does not begin', async () => {
  const place = createTemporaryFolder();
  const source = await fill(place, 3);
  const engine = new SimulatedEngine();
  const sum = await use(place, engine, (opened) => moveToEngine(source, {
    ...opened, session: corrupting(opened.session),
  }, nothing)).catch((error: unknown) => error);
  assert.match(String(sum), /is not as it was written/);
  assert.ok(engine.head !== null && engine.head.sequence < engine.head.floor);
});

test('an engine that takes less than there is refuses it before anything is written',
  async () => {
    const place = createTemporaryFolder();
    const engine = new SimulatedEngine();
    engine.maxSnapshotBytes = 100;
    const source = await fill(place, 30);
    await assert.rejects(use(place, engine, (opened) => moveToEngine(source, opened, nothing)),
      { code: 'storage_full', message: /takes 100 bytes/ });
    assert.equal(engine.head, null);
  });

test('a directory that holds data is replaced only when told, and not unless confirmed',
  async () => {
    const place = createTemporaryFolder();
    const source = await fill(place, 2);
    const directory = join(place, 'taken');
    const store = await openStore({ directory, files, specs, logger: silentLogger });
    await store.close();
    const target = { ...targetOf(place), directory };
    await assert.rejects(moveToDirectory(source, target, nothing), { code: 'conflict' });
    const before = readdirSync(directory);
    await assert.rejects(moveToDirectory(source, { ...target, isReplacing: true }, async () => {
      throw new Error('the nodes have written');
    }), { message: 'the nodes have written' });
    assert.deepEqual(readdirSync(directory), before);
    const report = await moveToDirectory(source, { ...target, isReplacing: true }, nothing);
    assert.match(report.before ?? '', /before-2026/);
  });

test('verifying reads every snapshot and every entry', async () => {
  const place = createTemporaryFolder();
  const engine = new SimulatedEngine();
  const verify = () => use(place, engine, (opened) => verifyEngine(opened));
  await assert.rejects(verify(), { code: 'not_found' });
  const node = await openNode(place, engine);
  for (const id of ['a', 'b', 'c', 'd']) {
    await node.transact((transaction) => transaction.put('books', id, bookOf(id)));
    if (id !== 'd') await node.compact();
  }
  await node.close();
  const whole = { sequence: 4, records: { books: 4, hooks: 0 }, notes: [], log: engine.head?.log };
  assert.deepEqual(await verify(), whole);
  const [, older] = [...engine.snapshots.keys()].sort((left, right) => right - left);
  const newest = engine.snapshots.get(3);
  assert.ok(newest !== undefined && older === 2);
  const [part] = newest.parts.values();
  assert.ok(part !== undefined);
  part.bytes.write('x', part.bytes.length - 9);
  const { notes, ...rest } = await verify();
  assert.deepEqual([rest.sequence, notes.length], [4, 1]);
  engine.snapshots.delete(2);
  await assert.rejects(verify(), { code: 'damaged' });
});

function bookOf(id: string): string {
  return JSON.stringify({ id, title: `A book called ${id}` });
}

/** What a store of files in the place holds; a new one each time. */
async function fill(place: string, count: number): Promise<SourceRecords> {
  const directory = mkdtempSync(join(place, 'data-'));
  const store = await openStore({ directory, files, specs, logger: silentLogger });
  const ids = Array.from({ length: count }, (_, index) => `b${String(index).padStart(5, '0')}`);
  for (const id of ids) {
    await store.transact((transaction) => transaction.put('books', id, bookOf(id)));
  }
  if (count > 0) {
    await store.transact((transaction) =>
      transaction.put('hooks', 'h', JSON.stringify({ identifier: 'h' })));
  }
  await store.close();
  return recoverState({ directory, files, specs });
}

async function use<T>(
  place: string, engine: SimulatedEngine, run: (opened: EngineConnection) => Promise<T>,
): Promise<T> {
  const scratch = mkdtempSync(join(place, 'scratch-'));
  return withEngine(
    { engine, files, specs, clock: systemClock, scratch, mayCreate: true }, run);
}

function openNode(place: string, engine: SimulatedEngine): Promise<OpenedStore> {
  const directory = mkdtempSync(join(place, 'node-'));
  const sharedLog = { engine, node: '00000000-0000-4000-8000-000000000001' };
  return openStore({ directory, files, specs, logger: silentLogger, sharedLog });
}

function targetOf(place: string) {
  mkdirSync(join(place, 'back'), { recursive: true });
  return { directory: '', files, isReplacing: false, nowMs };
}

/** A session whose parts come back with a byte that is another. */
function corrupting(session: EngineConnection['session']): EngineConnection['session'] {
  const { snapshots } = session;
  const broken = {
    ...Object.fromEntries(['list', 'writePart', 'complete', 'remove'].map((name) =>
      [name, Reflect.get(snapshots, name).bind(snapshots)])),
    readPart: async (...given: Parameters<typeof snapshots.readPart>) => {
      const content = await snapshots.readPart(...given);
      const bytes = Buffer.from(content.bytes);
      bytes.write('?', bytes.length - 20);
      return { ...content, bytes };
    },
  };
  return new Proxy(session, {
    get: (target, name) => {
      if (name === 'snapshots') return broken;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const BOOKS: CollectionSum = { collection: 'books', records: 2, sha256: 'aa' };

const OTHERS: readonly (readonly [string, readonly CollectionSum[]])[] = [
  ['a record less', [{ ...BOOKS, records: 1 }]],
  ['as many records with another checksum', [{ ...BOOKS, sha256: 'bb' }]],
  ['none of them', []],
];

for (const [what, actual] of OTHERS) {
  test(`a store with ${what} does not pass for the one that was copied`, () => {
    assert.throws(() => checkSums([BOOKS], actual, 'the copy'),
      { code: 'damaged', message: /^the copy: the books are not those/ });
  });
}

test('the order of collections does not matter', () => {
  const hooks = { collection: 'hooks', records: 0, sha256: 'cc' };
  checkSums([BOOKS, hooks], [hooks, BOOKS], 'the copy');
});
