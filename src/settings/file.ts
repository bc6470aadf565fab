/** Reads the settings file, and refuses one that strangers may have written. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import { findOwnerProblem, formatChown } from '../base/files/ownership.ts';
import { parseJsonStrictly } from '../base/json/parse.ts';
import type { SettingsFile } from './sources.ts';

const READABLE_BY_ALL = 0o004;
const WRITABLE_BY_ALL = 0o002;

/**
 * The settings file at `path`; null when there is none and it need not be. Throws `usage` when it
 * cannot be read or is not JSON. Also when it is not `isNamed` and others may have written it:
 * settings name code that runs with our rights.
 */
export function readSettingsFile(path: string, isNamed: boolean): SettingsFile | null {
  try {
    const { bytes, mode } = readTrusted(path, isNamed);
    return {
      origin: path, value: parseJsonStrictly(bytes), directory: dirname(path),
      isReadByAll: (mode & READABLE_BY_ALL) !== 0,
    };
  } catch (cause) {
    if (systemCodeOf(cause) === 'ENOENT' && !isNamed) return null;
    const problem = `the settings file ${path} cannot be read: ${messageOf(cause)}`;
    throw new AppError('usage', problem, {}, cause);
  }
}

// The open file is checked, not its name, which may lead to another file by then.
function readTrusted(path: string, isNamed: boolean): { bytes: Buffer; mode: number } {
  // Opening a pipe would wait for its writer.
  const flags = isNamed ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK;
  const descriptor = openSync(path, flags);
  try {
    const status = fstatSync(descriptor);
    if (!isNamed) checkTrust(path, status);
    return { bytes: readFileSync(descriptor), mode: status.mode };
  } finally {
    closeSync(descriptor);
  }
}

function checkTrust(path: string, status: Stats): void {
  if (!status.isFile()) throw new AppError('usage', 'it is not a file');
  const problem = findOwnerProblem(status.uid);
  if (problem !== null) {
    throw new AppError('usage', `it ${problem}; run: ${formatChown(path)} (or name it with `
      + '--config, if you trust it)');
  }
  if ((status.mode & WRITABLE_BY_ALL) !== 0) {
    throw new AppError('usage', `everybody may write in it; run: chmod o-w ${path}`);
  }
}
