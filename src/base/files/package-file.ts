/**
 * Files that come with the program: the console, the sample catalog, the manual. They
 * lie in the folder of package.json, and in the single binary.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadSea } from '../node-modules.ts';

/** `path` is the file's path below package.json. Throws the system's error where it is missing. */
export function readPackageFile(path: string): Buffer {
  const { getAsset, isSea } = loadSea();
  return isSea() ? Buffer.from(getAsset(path)) : readFileSync(join(findPackageFolder(), path));
}

// The sources lie deeper below package.json than the bundles that are made of them.
function findPackageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) {
    folder = dirname(folder);
  }
  return folder;
}
