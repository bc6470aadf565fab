/** A data directory of a user without rights and a folder of root, for commands run by root. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { makeNobodys } from '../support/users.ts';
import { hookshelf } from './processes.ts';

export type Place = {
  readonly folder: string;
  /** Nobody's. */
  readonly data: string;
  /** Root's alone. */
  readonly vault: string;
  /** Runs a command in the vault, as root. */
  run(...words: readonly string[]): Promise<Ended>;
};

export function inPlace(use: (place: Place) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    chmodSync(folder, 0o755);
    const [data, vault] = [join(folder, 'data'), join(folder, 'vault')];
    mkdirSync(vault, { mode: 0o700 });
    makeNobodys(data);
    const run = (...words: readonly string[]): Promise<Ended> =>
      hookshelf([...words, '--data', data], { cwd: vault });
    await use({ folder, data, vault, run });
  });
}
