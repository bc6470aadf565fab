// Writes the files of a build over those of the build before, from which programs may be running:
// a file that is the same stays, another takes the place of the old one whole, others are removed.
import {
  mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Pairs of a path and the bytes, in the order in which they are written. */
export function replaceFiles(files) {
  for (const [path, contents] of files) {
    if (isSame(path, contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    const temporaryPath = `${path}.${process.pid}.tmp`;
    writeFileSync(temporaryPath, contents);
    renameSync(temporaryPath, path);
  }
}

function isSame(path, contents) {
  try {
    return readFileSync(path).equals(Buffer.from(contents));
  } catch {
    return false;
  }
}

/** Removes the other files of a folder, of the build before. Tells whether there were any. */
export function removeOthers(folder, files) {
  const written = new Set(files.map(([path]) => path));
  const others = readdirSync(folder).map((name) => join(folder, name))
    .filter((path) => !written.has(path));
  for (const path of others) rmSync(path);
  return others.length > 0;
}
