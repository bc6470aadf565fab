import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { writeBackup } from '../../../src/store/backup/backup.ts';
import { encodeTarHeader } from '../../../src/store/backup/tar.ts';
import { verifyDirectory } from '../../../src/store/backup/verify.ts';
import { openStore } from '../../../src/store/store.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { SharedStoreRig, put, putHook } from '../../support/shared-store-rig.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { turnsUntil } from '../../support/turns.ts';
import { COLLECTIONS, contentOf } from '../../support/workload.ts';

const rig = new SharedStoreRig({ snapshotEveryBytes: 100_000 });

const callsSince = (count: number): readonly string[] => rig.engine.calls.slice(count);

test('a node starts from the snapshot of the engine, and reads what follows', async () => {
  const one = await rig.open();
  for (const id of ['b', 'a', 'c']) await one.transact(put(id, 'é漢'));
  await one.transact(putHook('h', 's'));
  await one.compact();
  assert.equal(rig.engine.snapshots.size, 1);
  await one.transact(put('later'));
  const count = rig.engine.calls.length;
  const two = await rig.open();
  assert.ok(callsSince(count).includes('readPart'));
  assert.deepEqual(contentOf(two), contentOf(one));
});

test('a node starts from its own snapshot while that stands in the log', async () => {
  const files = new SimulatedFiles();
  const one = await rig.open(files);
  await one.transact(put('a'));
  await one.compact();
  await one.transact(put('b'));
  await one.close();
  const count = rig.engine.calls.length;
  const again = await rig.open(files);
  assert.ok(!callsSince(count).includes('readPart'));
  assert.equal(again.collection('books').size, 2);
});

test('a node knows the log it has followed after a crash just behind its first start', async () => {
  const files = new SimulatedFiles();
  await rig.open(files);
  const { paths } = files.disk.crash({ kind: 'dropped' });
  assert.ok(paths.some((path) => path.endsWith('/replica/image.json')), paths.join());
});

test('a snapshot of its own that a fail-over has taken out of the log is not used', async () => {
  const files = new SimulatedFiles();
  const one = await rig.open(files);
  await one.transact(put('lost'));
  await one.compact();
  await one.close();
  rig.engine.snapshots.clear();
  rig.engine.failOver(0);
  const two = await rig.open();
  await two.transact(put('other'));
  assert.deepEqual(contentOf(await rig.open(files)), contentOf(two));
});

test('a snapshot of its own that is damaged is no reason not to start', async () => {
  const files = new SimulatedFiles();
  const one = await rig.open(files);
  await one.transact(put('a', 'text'));
  await one.compact();
  await one.close();
  const path = '/node/replica/books-000001.json';
  const descriptor = files.openSync(path, 'append-existing');
  files.writeSync(descriptor, Buffer.from('X'), 150);
  files.closeSync(descriptor);
  const again = await rig.open(files);
  assert.equal(again.collection('books').size, 1);
  assert.match(rig.logged.join('\n'), /cannot be read; taking the engine's/);
});

test('a damaged snapshot of the engine makes way for the one before', async () => {
  const one = await rig.open();
  await one.transact(put('a'));
  await one.compact();
  await one.transact(put('b'));
  await one.compact();
  const newest = rig.engine.snapshots.get(2)?.parts.get(0);
  assert.ok(newest);
  newest.bytes[200] = (newest.bytes[200] ?? 0) ^ 1;
  const two = await rig.open();
  assert.deepEqual(contentOf(two), contentOf(one));
  assert.match(rig.logged.join('\n'), /a snapshot of the engine is damaged/);
});

test('two snapshots are kept, and the log from the older one on', async () => {
  const one = await rig.open();
  for (const id of ['a', 'b', 'c', 'd']) {
    await one.transact(put(id));
    await one.compact();
  }
  assert.deepEqual([...rig.engine.snapshots.keys()], [3, 4]);
  assert.deepEqual(rig.engine.visible.map(({ sequence }) => sequence), [3, 4]);
  assert.equal(rig.engine.head?.floor, 3);
  assert.equal(await one.changes.since(1), null);
  assert.notEqual(await one.changes.since(3), null);
  const two = await rig.open();
  assert.deepEqual(contentOf(two), contentOf(one));
});

test('the node that may gives the engine a snapshot when it is due, others do not', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  two.replica?.writeSnapshotsWhen(() => true);
  const text = 'x'.repeat(10_000);
  for (let count = 0; count < 12; count += 1) await one.transact(put('a', text));
  await turnsUntil(() => [one, two].every(({ statistics }) =>
    statistics.compactedMs !== null && !statistics.isCompacting));
  assert.equal(rig.engine.snapshots.size, 1);
  assert.ok(two.statistics.journalBytes < 100_000);
});

test('an image that is too large for the engine is not given to it', async () => {
  rig.engine.maxSnapshotBytes = 1000;
  const one = await rig.open();
  await one.transact(put('a', 'x'.repeat(2000)));
  await assert.rejects(one.compact(), { code: 'storage_full', message: /data:move/ });
});

test('a backup of a shared store is one of a store in files', async () => {
  const files = new SimulatedFiles();
  const one = await rig.open(files);
  await one.transact(put('a'));
  await one.transact(putHook('h', 's'));
  const backup = await one.openBackupSources();
  await one.transact(put('later'));
  await one.compact();
  await writeBackup(files, backup, '/copy', rig.clock.now());
  backup.close();
  const copy = await openStore({
    directory: '/copy', files, specs: COLLECTIONS, logger: silentLogger, clock: rig.clock,
  });
  assert.equal(copy.collection('books').size, 1);
  assert.equal(copy.collection('hooks').size, 1);
  assert.equal(copy.statistics.sequence, 2);
  await copy.close();
});

test('a node that knows a log does not begin another in an engine that is empty', async () => {
  const files = new SimulatedFiles();
  const one = await rig.open(files);
  await one.transact(put('a'));
  await one.close();
  rig.engine = new SimulatedEngine();
  await assert.rejects(rig.open(files), { code: 'misconfigured', message: /holds no log/ });
});

test('a machine that does not confirm in time at a start makes way for the next', async () => {
  await (await rig.open()).close();
  rig.once('barrier', 'lost-before');
  await rig.open();
});

test('a start that no machine confirms says so', async () => {
  await (await rig.open()).close();
  rig.engine.faults = (call) => call === 'barrier' ? 'lost-before' : 'none';
  await assert.rejects(rig.open(), {
    code: 'unavailable', message: /db lets us in and has confirmed nothing: .* there\?$/,
  });
});

test('a log of another format is refused', async () => {
  await rig.open();
  assert.ok(rig.engine.log);
  for (const format of [1, 3]) {
    rig.engine.log = { ...rig.engine.log, format };
    await assert.rejects(rig.open(), {
      code: 'misconfigured',
      message: new RegExp(`the log is ${format}, and this version reads 2 alone: go on with`),
    });
  }
});

test('a node takes the snapshot of a newer one, unless it holds records that it does not know',
  async () => {
    const specs = [...COLLECTIONS, { name: 'newer', key: 'id' } as const];
    const newer = await openSharedStore(rig.engine, { number: 9, clock: rig.clock, specs });
    rig.stores.push(newer);
    await newer.transact(put('a'));
    await newer.compact();
    const count = rig.engine.calls.length;
    const older = await rig.open();
    assert.ok(callsSince(count).includes('readPart'));
    assert.deepEqual(contentOf(older), contentOf(newer));
    assert.deepEqual(rig.logged, []);
    await newer.transact((transaction) => transaction.put('newer', 'n', '{"id":"n"}'));
    await newer.compact();
    await newer.transact(put('b'));
    await assert.rejects(rig.open(), { code: 'damaged', message: /start the newer hookshelf/ });
  });

test('no log is begun where the directory holds records; one that is there is used', async () => {
  const files = new SimulatedFiles();
  const store = await openStore({
    directory: '/node', files, specs: COLLECTIONS, logger: silentLogger, clock: rig.clock,
  });
  await store.close();
  await assert.rejects(rig.open(files), { code: 'misconfigured', message: /data:move/ });
  assert.equal(rig.engine.log, null);
  await (await rig.open()).close();
  await rig.open(files);
});

test('the directory of a node does not become a store of its own', async () => {
  const files = new SimulatedFiles();
  const one = await rig.open(files);
  await one.transact(put('a'));
  await one.close();
  const source = { directory: '/node', files, specs: COLLECTIONS };
  const refusal = { code: 'misconfigured', message: /store\.url/ };
  await assert.rejects(openStore({ ...source, logger: silentLogger, clock: rig.clock }), refusal);
  await assert.rejects(verifyDirectory(source), refusal);
});

test('a snapshot that the engine did not get is tried again after a minute, then two', async () => {
  const one = await rig.open();
  one.replica?.writeSnapshotsWhen(() => true);
  rig.engine.faults = (call) => call === 'writePart' ? 'refused' : 'none';
  await one.transact(put('a', 'x'.repeat(110_000)));
  const failures = (): number =>
    rig.logged.filter((line) => line.includes('could not be written')).length;
  await turnsUntil(() => failures() === 1);
  await rig.clock.advance(59_000);
  assert.equal(failures(), 1);
  await rig.clock.advance(2_000);
  await turnsUntil(() => failures() === 2);
  rig.engine.faults = () => 'none';
  await rig.clock.advance(118_000);
  assert.equal(rig.engine.snapshots.size, 0);
  await rig.clock.advance(2_000);
  await turnsUntil(() => rig.engine.snapshots.get(1)?.count === 1);
});

test('backups do not put off the snapshot that the engine is due', async () => {
  const one = await rig.open();
  one.replica?.writeSnapshotsWhen(() => true);
  for (const id of ['a', 'b']) {
    await one.transact(put(id, 'x'.repeat(60_000)));
    (await one.openBackupSources()).close();
  }
  await rig.clock.advance(1_000);
  await turnsUntil(() => rig.engine.snapshots.get(2)?.count === 1);
});

test('of two snapshots that are written at once for one place none is a mixture', async () => {
  const one = await rig.open();
  await one.compact();
  for (const id of ['a', 'b', 'c']) await one.transact(put(id, id.repeat(700_000)));
  const two = await rig.open();
  await turnsUntil(() => two.statistics.sequence === one.statistics.sequence);
  const ended = await Promise.allSettled([one.compact(), two.compact()]);
  assert.ok(ended.some(({ status }) => status === 'rejected'));
  await rig.open();
  assert.deepEqual(rig.logged.filter((line) => line.includes('is damaged')), []);
  await one.compact();
  assert.equal(rig.engine.snapshots.size, 1);
});

test('snapshots that one node writes at once come one after the other', async () => {
  const one = await rig.open();
  await one.transact(put('a'));
  await Promise.all([one.compact(), one.compact()]);
  assert.equal(rig.engine.snapshots.size, 1);
});

test('a snapshot of the engine names no file outside of its folder', async () => {
  const one = await rig.open();
  await one.transact(put('a'));
  await one.compact();
  const part = rig.engine.snapshots.get(1)?.parts.get(0);
  assert.ok(part !== undefined);
  const bytes = encodeTarHeader('../../etc-000001.json', 0, 0);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  rig.engine.snapshots.get(1)?.parts.set(0, { bytes, sha256 });
  const files = new SimulatedFiles();
  const opened: string[] = [];
  const openFile = files.openSync.bind(files);
  files.openSync = (path, mode) => {
    opened.push(path);
    return openFile(path, mode);
  };
  await rig.open(files);
  assert.deepEqual(opened.filter((path) => path.includes('..')), []);
  assert.ok(rig.logged.some((line) => line.includes('what came is no backup')));
});
