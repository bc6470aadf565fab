/** The program built with something changed in its sources: a fault, or another release. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A file below `src/`, and what stands there once, with what takes its place. */
export type Edit = readonly [file: string, from: string, to: string];

type Builder = {
  buildProgram(folder: string, edit: (text: string, path: string) => string): Promise<void>;
};

const ROOT = resolve(import.meta.dirname, '../../..');
const SOURCES = join(ROOT, 'src');
// Below node_modules, so that the build finds the driver.
const CACHE = join(ROOT, 'node_modules/.cache');

/** Gives `use` the path of the build's main.js. */
export async function withBuild<T>(
  edits: readonly Edit[], use: (program: string) => Promise<T>,
): Promise<T> {
  const { buildProgram }: Builder =
    await import(pathToFileURL(join(ROOT, '.ci/build.mjs')).href);
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'build-'));
  const dist = join(folder, 'dist');
  try {
    await buildProgram(dist, (text, path) => editsOf(path, edits).reduce(edited, text));
    cpSync(join(ROOT, 'dist/console'), join(dist, 'console'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    return await use(join(dist, 'main.js'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function editsOf(path: string, edits: readonly Edit[]): readonly Edit[] {
  return edits.filter(([file]) => join(SOURCES, file) === path);
}

function edited(text: string, [file, from, to]: Edit): string {
  assert.equal(text.split(from).length, 2, `${file} holds this once: ${from}`);
  return text.replace(from, () => to);
}
