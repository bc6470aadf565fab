/** Temporary folders of tests: made here, and removed when the process of the tests ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/**
 * Makes an empty folder that only its owner may enter. It is removed at the end of the process, and
 * not of the test: hooks of a test run in the order they were added in, so that a folder that is
 * made first would be removed before the program in it is closed. A test that fills its folder
 * with much may remove it earlier.
 */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-'));
  folders.push(folder);
  return folder;
}

/** A temporary folder that is removed as soon as it is used: real processes fill many. */
export async function inFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = createTemporaryFolder();
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.on('exit', () => {
  // Retries: child processes that are being killed may still write.
  const options = { recursive: true, force: true, maxRetries: 5 };
  for (const folder of folders) rmSync(folder, options);
});
// A runner that has waited too long ends us so, and without a listener no `exit` comes.
process.once('SIGTERM', () => process.exit(1));
