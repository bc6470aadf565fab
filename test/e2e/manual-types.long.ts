/** The programs of the README and the manual, checked against the built package's types. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { PAGES, fileNameOf, readBlocks } from '../support/manual-blocks.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { makeTypes } from '../support/types.ts';
import { endOf, owned } from '../support/children.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const CONFIG = {
  compilerOptions: {
    strict: true, module: 'nodenext', moduleResolution: 'nodenext', target: 'es2023',
    lib: ['es2023', 'esnext.disposable'], allowJs: true, checkJs: true, noEmit: true,
    skipLibCheck: false, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')],
  },
};

// Against each claim of the types one that must be refused: else they might say `any`.
const WRONG = [
  'export const a: import("hookshelf").Settings = { http: { timeuot: 3 } };',
  'export const b: import("hookshelf").Settings = { http: { timeout: "3" } };',
  'export const c = (payload: import("hookshelf").Payload): string => payload.isbn;',
  'declare const shelf: import("hookshelf").Hookshelf;',
  'void shelf.request("POST", "/api/books", { titel: "Emma" });',
  'void shelf.request("POST", "/api/books");',
  'void shelf.request("GET", "/api/books", { title: "Emma" });',
  'void shelf.request("TRACE", "/api/books");',
  'void shelf.request("GET", "/api/books/1").then(({ body }) => body.titel);',
  'void shelf.request("PATCH", "/api/books/1", { title: 7 });',
  'void shelf.request("GET", `/api/made/${Date.now()}`).then(({ body }) => body.title);',
];

test('the programs of the manual type-check under strict', () => inFolder(async (folder) => {
  const programs = PAGES.flatMap(readBlocks).filter((block) =>
    /^(js|ts)$/.test(block.language) && /'hookshelf'|\.Action\b/.test(block.lines.join('\n')));
  assert.ok(programs.length >= 3);
  prepare(folder);
  for (const block of programs) {
    const path = join(folder, fileNameOf(block) ?? '');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, block.lines.join('\n'));
  }
  const { code, stdout } = await compile(folder);
  assert.deepEqual([code, stdout], [0, '']);
}));

test('what is wrong does not', () => inFolder(async (folder) => {
  prepare(folder);
  writeFileSync(join(folder, 'wrong.ts'), `${WRONG.join('\n')}\n`);
  const { stdout } = await compile(folder);
  const refused = new Set([...stdout.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) =>
    Number(line)));
  const expected = WRONG.flatMap((line, index) => line.startsWith('declare') ? [] : [index + 1]);
  assert.deepEqual([...refused].sort((a, b) => a - b), expected, stdout);
}));

function prepare(folder: string): void {
  makeTypes();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/hookshelf'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
}

function compile(folder: string): ReturnType<typeof endOf> {
  const words = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'];
  return endOf(owned(spawn(process.execPath, words, { cwd: folder })));
}
