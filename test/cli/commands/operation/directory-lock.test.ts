import assert from 'node:assert/strict';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import { withDirectoryLock } from '../../../../src/cli/commands/operation/directory-lock.ts';
import { openArchive, restoreBackup } from '../../../../src/store/backup/restore.ts';
import { createNodeFiles } from '../../../../src/store/disk/files.ts';
import type { Files } from '../../../../src/store/disk/files.ts';
import { acquireLock, findJournalEnd } from '../../../../src/store/lock/directory-lock.ts';
import type { JournalEnd } from '../../../../src/store/lock/directory-lock.ts';
import { openStore } from '../../../../src/store/store.ts';
import type { OpenedStore } from '../../../../src/store/store.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';

const specs = [{ name: 'books', key: 'id' }] as const;
const files = createNodeFiles();

/** As a server or a command: locks the directory, and remembers where its journal ends. */
async function inStore<T>(
  directory: string, use: (store: OpenedStore) => Promise<T>,
): Promise<T> {
  const lock = await acquireLock(directory, { kind: 'command' });
  try {
    const { journalEnd } = lock;
    const store = await openStore({ directory, files, specs, logger: silentLogger, journalEnd });
    const result = await use(store);
    await store.close();
    lock.journalEnd = store.journalEnd;
    return result;
  } finally {
    lock.release();
  }
}

function addBook(store: OpenedStore, id: string): Promise<unknown> {
  return store.transact((transaction) => transaction.put('books', id, JSON.stringify({ id })));
}

/** A directory that has lost all but its lock, and a copy of it from before. */
async function makeLostData(): Promise<{ readonly directory: string; readonly copy: string }> {
  const folder = createTemporaryFolder();
  const [directory, copy] = [join(folder, 'data'), join(folder, 'copy')];
  files.makeDirectorySync(directory);
  await inStore(directory, async (store) => addBook(store, 'a'));
  cpSync(directory, copy, { recursive: true });
  await inStore(directory, async (store) => {
    await store.compact();
    await addBook(store, 'b');
  });
  const end: JournalEnd = { generation: 2, sequence: 2 };
  assert.deepEqual(findJournalEnd(directory, files), end);
  for (const name of readdirSync(directory)) if (name !== 'lock') rmSync(join(directory, name));
  await assert.rejects(inStore(directory, async () => {}), { code: 'damaged' });
  assert.deepEqual(findJournalEnd(directory, files), end);
  return { directory, copy };
}

/** Whether the command fails before or after the restored records count. */
for (const isReplaced of [false, true]) {
  test(`a restore over a lone lock that fails is no damage once it has replaced (${isReplaced})`,
    async () => {
      const { directory, copy } = await makeLostData();
      const failing: Files = {
        ...files,
        unlinkSync(path) {
          if (path.endsWith('.replacing')) throw new Error('EIO');
          files.unlinkSync(path);
        },
        async datasync(descriptor) {
          if (!isReplaced) throw new Error('EIO');
          await files.datasync(descriptor);
        },
      };
      const archive = await openArchive(files, copy);
      await assert.rejects(withDirectoryLock(directory, failing, async () => {
        await restoreBackup({
          directory, archive, files: failing, specs, isReplacing: false, nowMs: 0,
        });
      }), /EIO/);
      archive.close();
      const opened = inStore(directory, async (store) => store.collection('books').size);
      if (isReplaced) assert.equal(await opened, 1);
      else await assert.rejects(opened, { code: 'damaged' });
    });
}
