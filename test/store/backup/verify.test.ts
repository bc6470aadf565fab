import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { verifyDirectory } from '../../../src/store/backup/verify.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { Files } from '../../../src/store/disk/files.ts';
import type { CollectionSpec } from '../../../src/store/port.ts';
import { openStore } from '../../../src/store/store.ts';
import { inFolder } from '../../e2e/processes.ts';

const MEBIBYTE = 1 << 20;
const specs: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }];

test('what a server beside deletes while it is read is not taken for a torn end', async () => {
  await inFolder(async (directory) => {
    const files = createNodeFiles();
    const store = await openStore({ directory, files, specs, logger: silentLogger });
    const write = (id: string): Promise<unknown> => store.transact((transaction) =>
      transaction.put('books', id, JSON.stringify({ id, text: 'a'.repeat(MEBIBYTE) })));
    for (let count = 0; count < 20; count += 1) await write(`b${count}`);
    await store.compact();
    // More than is kept for readers of past changes, and not enough for a new generation.
    for (let count = 0; count < 18; count += 1) await write('b0');
    const { sequence, generation } = store.statistics;
    let isOver = false;
    const compactTwice = async (): Promise<void> => {
      isOver = true;
      for (const id of ['c', 'd']) {
        await write(id);
        await store.compact();
      }
    };
    const names = new Map<number, string>();
    const beside: Files = {
      ...files,
      open(path, mode) {
        const descriptor = files.open(path, mode);
        names.set(descriptor, path);
        return descriptor;
      },
      async readAsync(descriptor, target, position) {
        const isJournal = names.get(descriptor)?.includes('journal') === true;
        if (isJournal && position > 8 * MEBIBYTE && !isOver) await compactTwice();
        return files.readAsync(descriptor, target, position);
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
  });
});
