/** A copy of the built program in which something is another: a fault, or another release. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A file of the built program, and what stands there once, with what takes its place. */
export type Edit = readonly [file: string, from: string, to: string];

const DIST = resolve(import.meta.dirname, '../../../dist');
/** Below node_modules, so that the copy finds the driver. */
const CACHE = resolve(DIST, '../node_modules/.cache');

/** Gives `use` the path of the copy's main.js. */
export async function withBuild<T>(
  edits: readonly Edit[], use: (program: string) => Promise<T>,
): Promise<T> {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'build-'));
  try {
    cpSync(DIST, join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [file, from, to] of edits) edit(join(folder, 'dist', file), from, to);
    return await use(join(folder, 'dist/main.js'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  assert.equal(text.split(from).length, 2, `${path} holds this once: ${from}`);
  writeFileSync(path, text.replace(from, () => to));
}
