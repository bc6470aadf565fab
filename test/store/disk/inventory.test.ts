import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskError } from '../../../src/store/disk/disk-error.ts';
import {
  isBackupName, isStoreName, journalName, readInventory, snapshotName, tornName,
} from '../../../src/store/disk/inventory.ts';
import { SpaceProbe } from '../../../src/store/disk/space-probe.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

function inventoryOf(names: readonly string[]) {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/data');
  for (const name of names) files.closeSync(files.openSync(`/data/${name}`, 'create'));
  return readInventory(files, '/data');
}

test('each of the files of a store is found for what it is', () => {
  const { journals, snapshots, torn, unsynced, temporary } = inventoryOf([
    'journal-000002.jsonl', 'journal-000003.jsonl', 'journal-000002.unsynced',
    'journal-000002-17.torn', 'journal-000002-17-2.torn', 'outgoing-webhooks-000003.json',
    'books-000003.json', 'books-000004.json.tmp', 'probe.tmp',
  ]);
  assert.deepEqual(journals, [2, 3]);
  assert.deepEqual([...snapshots], [[3, ['books', 'outgoing-webhooks']]]);
  assert.deepEqual(unsynced, [2]);
  assert.deepEqual(torn.map(({ name, generation }) => [name, generation]).sort(),
    [['journal-000002-17-2.torn', 2], ['journal-000002-17.torn', 2]]);
  assert.deepEqual([...temporary].sort(), ['books-000004.json.tmp', 'probe.tmp']);
});

test('journals rise by their number, not by their name', () => {
  assert.deepEqual(inventoryOf([journalName(1_000_000), journalName(999_999)]).journals,
    [999_999, 1_000_000]);
});

test('a file that the store would name otherwise is none of its own', () => {
  const others = [
    'journal-0000007.jsonl', 'journal-7.jsonl', 'Books-000001.json', 'books-000001.json.bak',
    'journal-000001.json.tmp.tmp', 'manifest.json',
  ];
  const inventory = inventoryOf(others);
  assert.deepEqual(inventory.journals, []);
  assert.deepEqual([...inventory.snapshots], []);
  assert.deepEqual(inventory.temporary, []);
});

test('a backup has snapshots and journals, and nothing that was cut off', () => {
  const names = [
    journalName(1), snapshotName('books', 1), tornName(1, 5), tornName(1, 5, 2),
    `${journalName(1)}.tmp`,
  ];
  assert.deepEqual(names.map(isStoreName), [true, true, true, true, false]);
  assert.deepEqual(names.map(isBackupName), [true, true, false, false, false]);
});

test('a disk, quota or file that is full can be told from other refusals', () => {
  const codes = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'].map((code) =>
    diskError('nothing is written', Object.assign(new Error('no'), { code })).code);
  assert.deepEqual(codes,
    ['storage_full', 'storage_full', 'storage_full', 'unavailable', 'unavailable']);
});

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
