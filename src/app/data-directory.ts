/** Makes the data directory, and refuses a directory that root must not use. */
import { statSync } from 'node:fs';
import { AppError } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { checkOnlyRootCanReplace, walkPath } from '../base/files/path-owners.ts';
import { makeDirectoriesSync } from '../store/disk/files.ts';

/**
 * Makes the data directory, which `option` names, when it is missing. Throws `conflict`, also when
 * it is a file, or when we are root and others could change it: root must not read or run what they
 * put there.
 */
export function makeDataDirectory(path: string, option: '--data' | '--to' = '--data'): void {
  refuseAsRoot(path);
  try {
    makeDirectoriesSync(path);
  } catch (thrown) {
    throw new AppError('conflict', `cannot make the data directory ${path} (`
      + `${explainFileError(thrown)}); name another one with ${option}`, {}, thrown);
  }
  // Another user may have made the directory between the check and now.
  refuseAsRoot(path);
  if (statSync(path).isDirectory()) return;
  throw new AppError('conflict', `${path} is not a directory; name one with ${option}`);
}

function refuseAsRoot(path: string): void {
  if (process.geteuid?.() === 0) checkOnlyRootCanReplace(path, walkPath(path));
}
