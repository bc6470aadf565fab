/** A data directory of its own, with a server on it or not, and commands run on it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApp } from '../../src/app.ts';
import { silentLogger } from '../../src/base/log.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { runCommand } from './io.ts';
import type { Ran, RunOptions } from './io.ts';

export const WAYS = ['without a server', 'through a server'] as const;
export type Way = (typeof WAYS)[number];

export type Place = {
  /** For files of the test. */
  readonly folder: string;
  readonly data: string;
  run(words: readonly string[], options?: RunOptions): Promise<Ran>;
};

export async function inPlace(way: Way, use: (place: Place) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-cli-'));
  const data = join(folder, 'data');
  const app = way === 'without a server' ? null : await openApp({
    data, settings: loadSettings().settings, logger: silentLogger, role: 'server',
  });
  try {
    await app?.listen({ port: 0 });
    const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
      runCommand([...words, '--data', data], options);
    await use({ folder, data, run });
  } finally {
    await app?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
