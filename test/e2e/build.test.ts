/** What `npm run build` makes of the compiler's modules. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inFolder } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const BUILD = join(ROOT, '.ci/build-program.mjs');

test('each script of the program is its module, line by line, with the same exports', async () => {
  const { use }: { use: (name: string) => object } =
    await import(pathToFileURL(join(DIST, 'load.js')).href);
  // The one that runs the program has no module beside it.
  const names = scriptsIn(DIST).filter((name) => name !== 'main');
  assert.ok(names.length > 500, `${names.length} scripts`);
  for (const name of names) {
    const module = join(DIST, `${name}.js`);
    const exported = Object.keys(await importFile(module));
    assert.deepEqual(Object.keys(use(name)).sort(), exported.sort(), name);
    assert.equal(linesOf(join(DIST, 'program', `${name}.js`)), linesOf(module) + 1, name);
  }
});

test('a build makes the program, and again only what has changed', () => inFolder((folder) => {
  const files = {
    'src/main.ts': "#!/usr/bin/env node\nimport { greet } from './base/greet.ts';\n\ngreet();\n",
    'src/base/greet.ts': '', 'src/base/name.ts': '', 'src/late.ts': '',
    'dist/base/greet.js': "import { join as path } from 'node:path';\n"
      + "import { NAME as name } from './name.js';\n"
      + "export function greet() {\n    void import('../late.js').then(({ late }) => {\n"
      + "        console.log(path('a', name), late, import.meta.dirname.endsWith('dist/base'));\n"
      + '    });\n}\n',
    'dist/base/name.js': "export const NAME = 'name — é';\n",
    'dist/late.js': "export { NAME as nothing } from './base/name.js';\n",
    'dist/gone.js': '', 'dist/gone.d.ts': '', 'dist/program/gone.js': '',
  };
  write(folder, files);
  assert.match(build(folder), /cannot be built: late: export \{ NAME as nothing \} from/);
  write(folder, { 'dist/late.js': "export * from './base/name.js';\n" });
  assert.match(build(folder), /cannot be built: late: export \* from/);
  write(folder, { 'dist/late.js': "import { default as fs } from 'node:fs';\n" });
  assert.match(build(folder), /cannot be built: late: import \{ default as fs \}/);
  write(folder, { 'dist/late.js': "export const load = () => import('node:fs');\n" });
  assert.match(build(folder), /cannot be built: late: const load = \(\) => import\(/);
  write(folder, { 'dist/late.js': 'export const url = import.meta.url;\n' });
  assert.match(build(folder), /cannot be built: late: Cannot use 'import.meta'/);
  write(folder, { 'dist/late.js': 'export class Late {}\nexport const late = new Late();\n' });
  assert.equal(build(folder), '');
  assert.deepEqual(scriptsIn(join(folder, 'dist')).sort(),
    ['base/greet', 'base/name', 'late', 'main']);
  assert.deepEqual(readdirSync(join(folder, 'dist')).sort(),
    ['base', 'late.js', 'load.js', 'main.js', 'program']);
  assert.equal(run(folder, 'dist/main.js').stdout, 'a/name — é Late {} true\n');
  const late = join(folder, 'dist/program/late.js');
  const before = statSync(late).mtimeMs;
  write(folder, { 'dist/base/name.js': "\n\nexport const NAME = undefinedName;\n" });
  assert.equal(build(folder), '');
  assert.equal(statSync(late).mtimeMs, before);
  assert.match(run(folder, 'dist/main.js').stderr, /dist\/program\/base\/name\.js:3:14\n/);
}));

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
}

function build(folder: string): string {
  return run(folder, BUILD).stderr;
}

function run(folder: string, script: string): { readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
}

function scriptsIn(dist: string): string[] {
  return readdirSync(join(dist, 'program'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js')).map((name) => name.slice(0, -'.js'.length));
}

function importFile(path: string): Promise<object> {
  return import(pathToFileURL(path).href);
}

function linesOf(path: string): number {
  return readFileSync(path, 'utf8').split('\n').length;
}
