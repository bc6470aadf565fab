// The package that speaks to PostgreSQL. It is no dependency: whoever names a postgres:// URL installs
// it, and the single binary holds it. `node .ci/postgres.mjs` puts it where the program finds it in
// a clone, for the tests with real servers, and prints its folder.
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { folderOfPackage } from './pinned.mjs';

// From `npm view postgres@3.4.9 dist.integrity`.
const PACKAGE = {
  name: 'postgres', version: '3.4.9',
  integrity: 'sha512-GD3qdB0x1z9xgFI6cdRD6xu2Sp2WCOEoe3mtnyB5Ee0XrrL5Pe+e4CCnJrRMnL1zYtRDZmQQVbvOttLn'
    + 'KDLnaw==',
};

export function postgresFolder() {
  return folderOfPackage(PACKAGE);
}

if (import.meta.filename === process.argv[1]) {
  const folder = postgresFolder();
  const modules = resolve(import.meta.dirname, '../node_modules');
  const place = join(modules, PACKAGE.name);
  // What somebody has installed there stays.
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) {
    const link = join(modules, `.${PACKAGE.name}.${process.pid}`);
    mkdirSync(modules, { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(folder, link);
    renameSync(link, place);
  }
  process.stdout.write(`${folder}\n`);
}
