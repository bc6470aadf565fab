import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { verifyDirectory } from '../../../src/store/backup/verify.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { Files } from '../../../src/store/disk/files.ts';
import type { CollectionSpec } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { inFolder } from '../../support/temporary-folder.ts';

const MEBIBYTE = 1 << 20;
const specs: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }];

/** Verifies while a server compacts twice: as soon as so much of such a file is read. */
async function verifyBeside(
  directory: string, part: string, fillIt: (store: OpenedStore) => Promise<void>,
): Promise<void> {
  const files = createNodeFiles();
  const store = await openStore({ directory, files, specs, logger: silentLogger });
  await fillIt(store);
  const { sequence, generation } = store.statistics;
  let isOver = false;
  const names = new Map<number, string>();
  const beside: Files = {
    ...files,
    openSync(path, mode) {
      const descriptor = files.openSync(path, mode);
      names.set(descriptor, path);
      return descriptor;
    },
    async read(descriptor, target, position) {
      const isWanted = names.get(descriptor)?.includes(part) === true;
      if (isWanted && position > 8 * MEBIBYTE && !isOver) {
        isOver = true;
        for (const id of ['c', 'd']) {
          await write(store, id);
          await store.compact();
        }
      }
      return files.read(descriptor, target, position);
    },
  };
  const source = { directory, files: beside, specs };
  await assert.rejects(verifyDirectory(source), {
    code: 'unavailable', message: /^a compaction has deleted .*books-\d+\.json meanwhile: try/,
  });
  assert.ok(isOver);
  const report = await verifyDirectory(source);
  assert.deepEqual([report.sequence, report.generation, report.notes],
    [sequence + 2, generation + 2, []]);
  await store.close();
}

const write = (store: OpenedStore, id: string): Promise<unknown> =>
  store.transact((transaction) =>
    transaction.put('books', id, JSON.stringify({ id, text: 'a'.repeat(MEBIBYTE) })));

async function fill(store: OpenedStore): Promise<void> {
  for (let count = 0; count < 20; count += 1) await write(store, `b${count}`);
  await store.compact();
}

test('a journal that a server beside deletes while it is read is not taken for a torn end', () =>
  inFolder((directory) => verifyBeside(directory, 'journal', async (store) => {
    await fill(store);
    // More than is kept for readers of past changes, and not enough for a new generation.
    for (let count = 0; count < 18; count += 1) await write(store, 'b0');
  })));

test('a snapshot that a server beside deletes while it is read is not taken for damage', () =>
  inFolder((directory) => verifyBeside(directory, 'books-', fill)));
