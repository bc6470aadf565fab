// `npm run types`: checks src and writes dist/types, the declarations that dist/index.d.ts leads to.
// The compiler writes those of every module, where it finds them the next time; of what nobody can
// import the package holds none, nor the comments over whole modules, which are for who changes them.
// Importers get the types alone of an inner module, so the comments on its functions go: 11 kB.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'dist/types');
const cache = join(root, 'node_modules/.cache/hookshelf/types');
const MODULE_COMMENT = /^\/\*\*(?:(?!\*\/)[^])*\*\/\n(?=import |\/\*\*)/;
const VALUE_COMMENT = /\/\*\*(?:(?!\*\/)[^])*\*\/\n(?=export declare (?:function|const) )/g;
const SPECIFIER = /(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g;

rmSync(folder, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [
  join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'src'),
  '--incremental', '--outDir', cache,
], { stdio: 'inherit' });
if (status === 0) {
  const entry = join(cache, 'index.d.ts');
  for (const path of reachedFrom(entry)) {
    const copy = join(folder, relative(cache, path));
    const text = readFileSync(path, 'utf8').replace(MODULE_COMMENT, '');
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, path === entry ? text : text.replace(VALUE_COMMENT, ''));
  }
}
process.exitCode = status ?? 1;

function reachedFrom(first) {
  const reached = new Set([first]);
  for (const path of reached) {
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(SPECIFIER)) {
      reached.add(`${resolve(dirname(path), specifier)}.d.ts`);
    }
  }
  return reached;
}
