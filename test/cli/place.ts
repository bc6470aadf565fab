/** A data directory of its own, with a server on it or not, and commands run on it. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/commands.ts';
import { openAppServer } from '../support/app-server.ts';
import { IS_LONG } from '../support/long.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { runCommand } from './io.ts';
import type { Ran, RunOptions } from './io.ts';

export const ALONE = 'without a server';
export const ALL_WAYS = [ALONE, 'through a server', 'over the network'] as const;
/**
 * Over the network commands do what they do through a server, and with a token. Without a server
 * each opens the directory, four times the work: commands.test.ts tries them all so.
 */
export const WAYS = IS_LONG ? ALL_WAYS : ALL_WAYS.filter((way) => way === 'over the network');
const TOKEN = 'a-token-of-the-tests';
export type Way = (typeof ALL_WAYS)[number];

export type Place = {
  /** For files of the test. */
  readonly folder: string;
  readonly data: string;
  /** The options that name the place. */
  readonly location: readonly string[];
  run(words: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs a command that must succeed, and gives its JSON. */
  json<Output = Readonly<Record<string, unknown>>>(
    words: readonly string[], options?: RunOptions,
  ): Promise<Output>;
};

/** `prepare` may fill the data directory before anything else opens it. */
export async function inPlace(
  way: Way, use: (place: Place) => Promise<void>,
  prepare: ((data: string) => Promise<void>) | null = null,
): Promise<void> {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  const isFar = way === 'over the network';
  // A command would say that it makes the directory.
  mkdirSync(data, { mode: 0o700 });
  await prepare?.(data);
  const server = way === ALONE ? null
    : await openAppServer(data, isFar ? { HOOKSHELF_API_TOKEN: TOKEN } : {});
  const tokenFile = join(folder, 'token');
  if (isFar) writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  try {
    const location = isFar ? ['--server', server?.url ?? '', '--token-file', tokenFile]
      : ['--data', data];
    const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> => {
      const isLocal = COMMANDS.some(({ name, isLocal }) => name === words[0] && isLocal === true);
      return runCommand([...words, ...isLocal ? ['--data', data] : location], options);
    };
    await use({
      folder, data, location, run, async json(words, options) {
        const { code, stdout, stderr } = await run([...words, '--json'], options);
        assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
        return JSON.parse(stdout);
      },
    });
  } finally {
    await server?.close();
  }
}
