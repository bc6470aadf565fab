/** Snapshots of nodes that fail, come twice, or were tampered with. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { SharedStoreRig, put } from '../../support/shared-store-rig.ts';
import { encodeTarHeader } from '../../../src/store/backup/tar.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { turnsUntil } from '../../support/turns.ts';

const rig = new SharedStoreRig({ snapshotEveryBytes: 100_000 });

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
