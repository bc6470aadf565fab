import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpaceProbe } from '../../../src/store/disk/space-probe.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

function startProbe() {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/data');
  const clock = new ManualClock();
  let found = 0;
  const probe = new SpaceProbe('/data', files, clock, () => { found += 1; });
  probe.start();
  return { files, clock, probe, found: () => found };
}

test('tries each second, until the disk has room for 256 KiB', async () => {
  const { files, clock, probe, found } = startProbe();
  files.bytesMax = files.disk.bytesUsed + 255 * 1024;
  await clock.advance(3000);
  assert.equal(found(), 0);
  files.bytesMax = Infinity;
  await clock.advance(999);
  assert.equal(found(), 0);
  await clock.advance(5000);
  assert.equal(found(), 1);
  assert.deepEqual(files.listSync('/data'), [], 'and leaves no file behind');
  await probe.stop();
});

test('room that a sync refuses is none', async () => {
  const { files, clock, probe, found } = startProbe();
  files.onCall = ({ kind }) => kind === 'datasync' ? { code: 'ENOSPC' } : null;
  await clock.advance(3000);
  assert.equal(found(), 0);
  files.onCall = () => null;
  await clock.advance(1000);
  assert.equal(found(), 1);
  await probe.stop();
});

test('once it is stopped it tries nothing more', async () => {
  const { files, clock, probe, found } = startProbe();
  await probe.stop();
  probe.start();
  await clock.advance(5000);
  assert.equal(found(), 0);
  assert.equal(files.history.filter(({ kind }) => kind === 'create').length, 0);
});
