/** Snapshots of nodes that fail, come twice, or were tampered with. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import type { Logger } from '../../../src/base/log.ts';
import type { Transaction } from '../../../src/store/port.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { turnsUntil } from '../../support/turns.ts';

let engine: SimulatedEngine;
let clock: ManualClock;
let stores: OpenedStore[];
let logged: string[];

beforeEach(() => {
  engine = new SimulatedEngine();
  clock = new ManualClock();
  stores = [];
  logged = [];
});

afterEach(async () => {
  for (const store of stores) await store.close();
});

const log = (message: string, fields: unknown = {}): void =>
  void logged.push(`${message} ${JSON.stringify(fields)}`);
const logger: Logger = { debug: log, info: log, warning: log, error: log };

async function open(files = new SimulatedFiles()): Promise<OpenedStore> {
  const store = await openSharedStore(engine, {
    number: stores.length + 1, clock, files, logger, snapshotEveryBytes: 100_000,
  });
  stores.push(store);
  return store;
}

function put(id: string, text = 'x') {
  return (transaction: Transaction): void => {
    transaction.put('books', id, JSON.stringify({ id, text }));
  };
}

test('a snapshot that the engine did not get is tried again after a minute, then two', async () => {
  const one = await open();
  one.replica?.maintainWhen(() => true);
  engine.faults = (call) => call === 'writePart' ? 'refused' : 'none';
  await one.transact(put('a', 'x'.repeat(110_000)));
  const failures = (): number =>
    logged.filter((line) => line.includes('could not be written')).length;
  await turnsUntil(() => failures() === 1);
  await clock.advance(59_000);
  assert.equal(failures(), 1);
  await clock.advance(2_000);
  await turnsUntil(() => failures() === 2);
  engine.faults = () => 'none';
  await clock.advance(118_000);
  assert.equal(engine.snapshots.size, 0);
  await clock.advance(2_000);
  await turnsUntil(() => engine.snapshots.get(1)?.count === 1);
});

test('backups do not put off the snapshot that the engine is due', async () => {
  const one = await open();
  one.replica?.maintainWhen(() => true);
  for (const id of ['a', 'b']) {
    await one.transact(put(id, 'x'.repeat(60_000)));
    (await one.openBackup()).close();
  }
  await clock.advance(1_000);
  await turnsUntil(() => engine.snapshots.get(2)?.count === 1);
});

test('of two snapshots that are written at once for one place none is a mixture', async () => {
  const one = await open();
  await one.compact();
  for (const id of ['a', 'b', 'c']) await one.transact(put(id, id.repeat(700_000)));
  const two = await open();
  await turnsUntil(() => two.statistics.sequence === one.statistics.sequence);
  const ended = await Promise.allSettled([one.compact(), two.compact()]);
  assert.ok(ended.some(({ status }) => status === 'rejected'));
  await open();
  assert.deepEqual(logged.filter((line) => line.includes('is damaged')), []);
  await one.compact();
  assert.equal(engine.snapshots.size, 1);
});

test('a snapshot of the engine names no file outside of its folder', async () => {
  const one = await open();
  await one.transact(put('a'));
  await one.compact();
  const part = engine.snapshots.get(1)?.parts.get(0);
  assert.ok(part !== undefined);
  const bytes = Buffer.from(part.bytes.toString().replace('"books"', '"../../etc"'));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  engine.snapshots.get(1)?.parts.set(0, { bytes, sha256 });
  const files = new SimulatedFiles();
  const opened: string[] = [];
  const openFile = files.open.bind(files);
  files.open = (path, mode) => {
    opened.push(path);
    return openFile(path, mode);
  };
  await open(files);
  assert.deepEqual(opened.filter((path) => path.includes('..')), []);
  assert.ok(logged.some((line) => line.includes('the snapshot has no manifest')));
});
