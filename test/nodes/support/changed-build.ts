/** A copy of the built program in which something is another: a fault, or another release. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A script of the built program, and what stands there once, with what takes its place. */
export type Edit = readonly [file: string, from: string, to: string];

export const DIST = resolve(import.meta.dirname, '../../../dist');
// Below node_modules, so that the copy finds the driver.
const CACHE = resolve(DIST, '../node_modules/.cache');

/** What the program is, without what is made of it. */
const PARTS = ['load.js', 'main.js', 'program', 'console.html'];

/** Gives `use` the path of the copy's main.js. */
export async function withBuild<T>(
  edits: readonly Edit[], use: (program: string) => Promise<T>,
): Promise<T> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'build-'));
  const copy = join(folder, 'dist');
  try {
    for (const part of PARTS) cpSync(join(DIST, part), join(copy, part), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const edit of edits) writeFileSync(join(copy, 'program', edit[0]), edited(copy, edit));
    return await use(join(copy, 'main.js'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The script as the edit leaves it, of the program that stands there. */
export function edited(dist: string, [file, from, to]: Edit): string {
  const text = readFileSync(join(dist, 'program', file), 'utf8');
  assert.equal(text.split(from).length, 2, `${file} holds this once: ${from}`);
  return text.replace(from, () => to);
}
