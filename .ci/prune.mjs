// Removes from dist what no source stands behind any more: the compiler never does, and a package
// made here would carry it.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

for (const name of readdirSync('dist', { recursive: true })) {
  const source = /^(?!bin\/|binary\/)(.+?)(\.d\.ts|\.js)$/.exec(name)?.[1];
  if (source !== undefined && !existsSync(join('src', `${source}.ts`))) rmSync(join('dist', name));
}
