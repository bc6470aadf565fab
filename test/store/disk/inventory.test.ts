import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isBackupName, isStoreName, journalName, readInventory, snapshotName, tornName,
} from '../../../src/store/disk/inventory.ts';
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
