/** Reads the settings file, and refuses one that strangers may have written. */
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, isAccessRefused, systemCodeOf } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { CONFIGURATION_BYTES_MAX, readBounded } from '../base/files/bounded-read.ts';
import { findOwnerProblem, formatChown } from '../base/files/ownership.ts';
import { parseJsonStrictly } from '../base/json/parse.ts';
import { quotePath } from '../base/text/shell-quote.ts';
import type { SettingsFile } from './settings-sources.ts';

const READABLE_BY_ALL = 0o004;
const WRITABLE_BY_ALL = 0o002;

/**
 * The settings file at `path`; null when there is none and it need not be. Throws `usage` when it
 * cannot be read, is larger than 1 MiB or is not JSON. Also when it is not `isNamed` and is no
 * regular file, or others may have written it: settings name code that runs with our rights.
 */
export function readSettingsFile(path: string, isNamed: boolean): SettingsFile | null {
  try {
    // The open file is checked, not its name, which may lead to another file by then.
    const { bytes, status } =
      readBounded(path, { bytesMax: CONFIGURATION_BYTES_MAX, isRegular: !isNamed });
    if (!isNamed) checkTrust(path, status);
    return {
      origin: path, value: parseJsonStrictly(bytes), directory: dirname(path),
      isReadByAll: (status.mode & READABLE_BY_ALL) !== 0,
    };
  } catch (cause) {
    if (systemCodeOf(cause) === 'ENOENT' && !isNamed) return null;
    const problem = `the settings file ${path} cannot be read: ${explainFileError(cause)}`;
    throw new AppError(isAccessRefused(cause) ? 'conflict' : 'usage', problem, {}, cause);
  }
}

function checkTrust(path: string, status: Stats): void {
  const problem = findOwnerProblem(status.uid);
  if (problem !== null) {
    throw new AppError('usage', `it ${problem}; run: ${formatChown(path)} (or name it with `
      + '--config, if you trust it)');
  }
  if ((status.mode & WRITABLE_BY_ALL) !== 0) {
    throw new AppError('usage', `everybody may write in it; run: chmod o-w ${quotePath(path)}`);
  }
}
