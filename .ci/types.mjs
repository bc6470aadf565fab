// `npm run types`: checks src and writes dist/types, the declarations that dist/index.d.ts leads to.
// The compiler writes those of every module; of what nobody can import the package holds none.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'dist/types');
const SPECIFIER = /(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g;

rmSync(folder, { recursive: true, force: true });
const { status } = spawnSync(process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'src')], { stdio: 'inherit' });
if (status === 0) removeUnreachable();
process.exitCode = status ?? 1;

function removeUnreachable() {
  const reached = new Set();
  const visit = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(SPECIFIER)) {
      visit(`${resolve(dirname(path), specifier)}.d.ts`);
    }
  };
  visit(join(folder, 'index.d.ts'));
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name);
    if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path);
  }
}
