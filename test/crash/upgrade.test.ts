/** The first start on the files of an older release, and crashes within it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { openStore } from '../../src/store/store.ts';
import { checkImages, imagesOf, sample } from '../support/crashes.ts';
import { listFiles, toOldDisk } from '../support/old-format.ts';
import { DIRECTORY, openOn, openWith } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { COLLECTIONS, contentOf, createSteps, runSteps } from '../support/workload.ts';
import type { Content, Outcome } from '../support/workload.ts';

type OldDirectory = {
  readonly disk: Disk; readonly outcomes: Outcome[]; readonly content: Content;
};

const HISTORIES = { 'a journal alone': false, 'a generation': true };

for (const [name, isCompacted] of Object.entries(HISTORIES)) {
  test(`the first start on ${name} of an older release begins a journal, and writes no snapshot`,
    async () => {
      const { disk, content } = await createOldDirectory(isCompacted);
      const before = listFiles(new SimulatedFiles(disk));
      const { store, files } = await openOn(disk.clone());
      assert.deepEqual(contentOf(store), content);
      const generation = isCompacted ? 3 : 2;
      const after = listFiles(files);
      assert.deepEqual([...after.keys()].filter((file) => !before.has(file)),
        [`journal-00000${generation}.jsonl`]);
      const { sequence } = store.statistics;
      assert.deepEqual(parseLines(after.get(`journal-00000${generation}.jsonl`)), [{
        seq: sequence, durable: sequence, start: { format: 'hookshelf-journal-2', generation },
      }]);
      assert.deepEqual(parseLines(after.get(`journal-00000${generation - 1}.jsonl`)).at(-1),
        { seq: sequence, durable: sequence, next: generation });
      await store.close();
      const again = await openOn(files.disk.clone());
      assert.deepEqual(contentOf(again.store), content);
      assert.deepEqual(listFiles(again.files), listFiles(files), 'a second start changes nothing');
      await again.store.close();
    });

  test(`a crash at any moment of the first start on ${name} of an older release keeps everything`,
    async () => {
      const { disk, outcomes } = await createOldDirectory(isCompacted);
      const { store, files } = await openOn(disk.clone());
      await store.close();
      const images = imagesOf(files, { seeds: 4, pageBytes: 32, tornEvery: 1 })
        .map((image) => ({ ...image, index: Infinity }));
      assert.equal(await checkImages(images, outcomes, 4), 1);
    });

  test(`a crash after the first start on ${name} of an older release keeps what followed, too`,
    async () => {
      const { disk, outcomes } = await createOldDirectory(isCompacted);
      const { store, files } = await openOn(disk.clone());
      const later = await runSteps(store, createSteps(6, 6, 'n'), 2, () => files.history.length);
      await store.compact();
      await store.close();
      const before = outcomes.map((outcome) => ({ ...outcome, seenAt: 0 }));
      const images = imagesOf(files, { seeds: 2, pageBytes: 64 });
      await checkImages(sample(images, 80, 7), [...before, ...later], 8);
    });
}

test('an older release\'s directory on a disk without room is refused, and stays as it is',
  async () => {
    const { disk, content } = await createOldDirectory(false);
    const files = new SimulatedFiles(disk.clone());
    const before = listFiles(files);
    files.onCall = ({ kind, path }) =>
      kind === 'write' && path.endsWith('journal-000002.jsonl') ? { code: 'ENOSPC' } : null;
    await assert.rejects(openWith(files), { code: 'storage_full' });
    files.onCall = () => null;
    assert.deepEqual(listFiles(files), before);
    const { store } = await openWith(files);
    assert.deepEqual(contentOf(store), content);
    await store.close();
  });

test('a program that reads only leaves the format of an older release; its first write begins ours',
  async () => {
    const { disk } = await createOldDirectory(false);
    const files = new SimulatedFiles(disk.clone());
    const options = {
      directory: DIRECTORY, files, specs: COLLECTIONS, logger: silentLogger,
      keepsFormatUntilWrite: true,
    };
    const before = listFiles(files);
    const reader = await openStore(options);
    await reader.openBackupSources().then(({ close }) => close());
    await reader.close();
    assert.deepEqual(listFiles(files), before);
    const writer = await openStore(options);
    files.onCall = ({ kind, path }) =>
      kind === 'write' && path.endsWith('journal-000002.jsonl') ? { code: 'ENOSPC' } : null;
    const put = (id: string): Promise<unknown> => writer.transact((transaction) =>
      transaction.put('books', id, JSON.stringify({ id })));
    await assert.rejects(put('refused'), { code: 'storage_full' });
    assert.deepEqual(listFiles(files), before);
    files.onCall = () => null;
    await Promise.all([put('one'), put('two')]);
    await writer.close();
    // Each attempt has a generation of its own.
    assert.deepEqual([...listFiles(files).keys()],
      ['journal-000001.jsonl', 'journal-000003.jsonl']);
    const { store } = await openWith(files);
    assert.deepEqual(['refused', 'one', 'two'].map((id) =>
      store.collection('books').find(id) !== undefined), [false, true, true]);
    await store.close();
  });

async function createOldDirectory(isCompacted: boolean): Promise<OldDirectory> {
  const { store, files } = await openOn(new Disk());
  const outcomes = await runSteps(store, createSteps(2, 8), 3, () => files.history.length);
  if (isCompacted) {
    await store.compact();
    outcomes.push(...await runSteps(store, createSteps(3, 4, 'u'), 2, () => files.history.length));
  }
  const content = contentOf(store);
  await store.close();
  return { disk: toOldDisk(files), outcomes, content };
}

function parseLines(content: Buffer | undefined): object[] {
  return String(content).trimEnd().split('\n').map((line) => {
    const { crc, ...members } = JSON.parse(line);
    return members;
  });
}
