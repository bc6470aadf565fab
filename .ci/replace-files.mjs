// Writes what a build has made over what the build before has left, while programs may run from it:
// a file that is the same stays, and another takes the place of the old one whole.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

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
