/** Files of a user who has no rights, for tests that root runs. */
import { chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;
export const needsRoot = !isRoot && 'needs to be run by root';

export function makeNobodys(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, NOBODY, NOBODY);
}

export function writeNobodys(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chownSync(path, NOBODY, NOBODY);
}

/** What stands below the folder and is not nobody's. */
export function othersIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => lstatSync(join(folder, name)).uid !== NOBODY);
}
