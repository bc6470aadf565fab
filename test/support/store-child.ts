/**
 * A program for tests that kill it: opens the store in the directory it is given, writes pairs of
 * records with many writers, and says on stdout what was acknowledged, a line each.
 * Arguments: directory, prefix of the ids, `write` or `compact` (which also compacts meanwhile).
 */
import { writeSync } from 'node:fs';
import { messageOf } from '../../src/base/errors.ts';
import type { Store } from '../../src/store/port.ts';
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
  process.exitCode = 1;
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

// Synchronous, so that what was acknowledged is said before anything can end the process.
function say(line: string): void {
  writeSync(STDOUT, `${line}\n`);
}
