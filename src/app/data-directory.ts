/** Makes the data directory, and refuses a directory that root must not use. */
import { chmodSync, readdirSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { AppError } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { checkOnlyRootCanReplace, walkPath } from '../base/files/path-owners.ts';
import { createNodeFiles } from '../store/disk/files.ts';
import { makeDurableDirectory } from '../store/disk/read-write.ts';

/** All that the `data` of a clone holds before its first start. */
const SHIPPED_NAME = 'samples';

/**
 * Makes the data directory, which `option` names, when it is missing; its name is on disk then.
 * Throws `conflict`, also when it is a file, or when we are root and others could change it: root
 * must not read or run what they put there.
 */
export function makeDataDirectory(
  path: string, option: '--data' | '--to' = '--data', files = createNodeFiles(),
): void {
  refuseAsRoot(path);
  try {
    if (!files.existsSync(path)) makeDurableDirectory(files, path);
  } catch (thrown) {
    throw new AppError('conflict', `cannot make the data directory ${path} (`
      + `${explainFileError(thrown)}); name another one with ${option}`, {}, thrown);
  }
  // Another user may have made the directory between the check and now.
  refuseAsRoot(path);
  const status = statSync(path);
  if (!status.isDirectory()) {
    throw new AppError('conflict', `${path} is not a directory; name one with ${option}`);
  }
  closeShippedDirectory(path, status);
}

/** Git makes the `data` of a clone as it makes all folders, open to other users. */
function closeShippedDirectory(path: string, { uid, mode }: Stats): void {
  const isOpen = uid === process.geteuid?.() && (mode & 0o077) !== 0;
  if (isOpen && readdirSync(path).join() === SHIPPED_NAME) chmodSync(path, 0o700);
}

function refuseAsRoot(path: string): void {
  if (process.geteuid?.() === 0) checkOnlyRootCanReplace(path, walkPath(path));
}
