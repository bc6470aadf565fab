/** The end of the journal that `lock` tells is never past what a crash leaves of the journal. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { writeBackup } from '../../src/store/backup/backup.ts';
import { openArchive, restoreBackup } from '../../src/store/backup/restore.ts';
import { readStateInventory } from '../../src/store/generations/replacement.ts';
import { findJournalEnd } from '../../src/store/lock/directory-lock.ts';
import { OwnedLock } from '../../src/store/lock/lock-owner.ts';
import { openStore } from '../../src/store/store.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { about, checkGoesOn, imagesOf, sample } from '../support/crashes.ts';
import { DIRECTORY } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { COLLECTIONS, createSteps, runSteps } from '../support/workload.ts';

const LOCK = join(DIRECTORY, 'lock');
const BACKUP = '/var/backup.tar';

/** The lock as one process after the other has it. */
async function inLock(files: SimulatedFiles, use: (lock: OwnedLock) => Promise<void>) {
  files.makeDirectorySync(DIRECTORY);
  const journalEnd = findJournalEnd(DIRECTORY, files);
  const descriptor = files.openSync(LOCK, files.existsSync(LOCK) ? 'append-existing' : 'create');
  const lock = new OwnedLock(files, descriptor, 'server', null, journalEnd);
  await use(lock);
  lock.release();
}

/** A process from its start to its stop in order. */
function live(files: SimulatedFiles, use: (store: OpenedStore) => Promise<unknown>) {
  return inLock(files, async (lock) => {
    const store = await openWith(files, lock.journalEnd);
    lock.journalEnd = store.journalEnd;
    lock.announce(null);
    await use(store);
    await store.close();
    lock.journalEnd = store.journalEnd;
  });
}

function openWith(files: SimulatedFiles, journalEnd: OwnedLock['journalEnd']) {
  return openStore({
    directory: DIRECTORY, files, specs: COLLECTIONS, logger: silentLogger, journalEnd,
  });
}

function restore(files: SimulatedFiles, isReplacing: boolean): Promise<void> {
  return inLock(files, async () => {
    const archive = await openArchive(files, BACKUP);
    await restoreBackup({
      directory: DIRECTORY, archive, files, specs: COLLECTIONS, isReplacing, nowMs: 0,
    });
    archive.close();
  });
}

/** Opens what crashes leave with the end that the lock tells there. Returns how many tell one. */
async function checkEnds(files: SimulatedFiles): Promise<number> {
  let ends = 0;
  // The line of the lock is shorter than a sector, and neither a kill nor a power loss parts that.
  const images = imagesOf(files, { seeds: 6, pageBytes: 512, tornEvery: Infinity });
  for (const image of sample(images, 400, 5)) {
    const start = new SimulatedFiles(image.disk.clone());
    if (!start.existsSync(DIRECTORY)) continue;
    const { journals } = await readStateInventory(start, DIRECTORY);
    const end = findJournalEnd(DIRECTORY, start);
    if (end === null) continue;
    ends += 1;
    await about(image.origin, async () => {
      const opening = openWith(start, end);
      if (journals.length === 0) return assert.rejects(opening, { code: 'damaged' });
      const store = await opening;
      await checkGoesOn(store);
      return store.close();
    });
  }
  return ends;
}

for (const isLost of [false, true]) {
  test(`no crash makes the lock tell more than the journal holds (restored: ${isLost})`,
    async () => {
      const files = new SimulatedFiles(new Disk());
      await live(files, async (store) => {
        await runSteps(store, createSteps(31, 4, 'a'), 2, () => 0);
        const sources = await store.openBackupSources();
        await writeBackup(files, sources, BACKUP, 0);
        sources.close();
      });
      await live(files, async (store) => {
        await runSteps(store, createSteps(32, 6, 'b'), 3, () => 0);
        await store.compact();
        await runSteps(store, createSteps(33, 6, 'c'), 2, () => 0);
      });
      const disk = files.disk.crash({ kind: 'kept' });
      if (isLost) {
        for (const name of files.listSync(DIRECTORY)) {
          if (name !== 'lock') disk.replace(join(DIRECTORY, name), null);
        }
      }
      const later = new SimulatedFiles(disk);
      await restore(later, !isLost);
      await live(later, (store) => runSteps(store, createSteps(34, 4, 'd'), 2, () => 0));
      assert.ok(await checkEnds(files) > 20);
      assert.ok(await checkEnds(later) > 20);
    });
}
