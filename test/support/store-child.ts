/**
 * A program for tests that kill it: opens the store in the directory it is given, writes pairs of
 * records with many writers, and says on stdout what was acknowledged, a line each.
 * Arguments: directory, prefix of the ids, `write` or `compact` (which also compacts meanwhile).
 */
import { writeSync } from 'node:fs';
import { messageOf, systemCodeOf } from '../../src/base/errors.ts';
import type { Store } from '../../src/store/store-port.ts';
import { openInDirectory } from './open-directory.ts';

const WRITERS = 32;
const STDOUT = 1;
const [directory = '', prefix = '', mode = ''] = process.argv.slice(2);

try {
  const { store } = await openInDirectory(directory);
  say('open');
  if (mode === 'compact') void compactForever(store);
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeForever(store, writer)));
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  // The compaction beside the writers would go on for ever.
  process.exit(1);
}

async function writeForever(store: Store, writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    const id = `${prefix}-${writer}-${count}`;
    await store.transact((transaction) => {
      transaction.put('books', id, JSON.stringify({ id, text: 'x'.repeat(count % 300) }));
      transaction.put('marks', id, JSON.stringify({ id, count }));
    });
    say(id);
  }
}

async function compactForever(store: Store): Promise<void> {
  for (;;) {
    await store.compact();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

// Synchronous, so that what was acknowledged is said before anything can end the process. A test
// that is slow to read leaves no room in the pipe for a moment.
function say(line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(STDOUT, bytes, written);
    } catch (error) {
      if (systemCodeOf(error) !== 'EAGAIN') throw error;
    }
  }
}
