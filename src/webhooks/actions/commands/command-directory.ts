/**
 * The folder whose programs hooks may run. A program runs with our rights, so the folder and the
 * program must be ours or root's, and nobody else may write in them. A link counts as its target,
 * which is held to the same rule with every folder on the way to it. A program must be no
 * interpreter, and have no rights of others. The author of the settings vouches for the folders
 * above the folder itself, unless we are root. All of it is checked again for each run: somebody
 * may have changed it since a configuration was saved.
 */
import {
  accessSync, closeSync, constants, openSync, readSync, readdirSync, readlinkSync, realpathSync,
  statSync,
} from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import { checkOwnership, checkWayAsRoot } from '../../../base/files/ownership.ts';
import { walkPath, type PathStep, type PathWalk } from '../../../base/files/path-owners.ts';
import { quote, suggestName } from '../../../base/text/error-message.ts';
import { shellQuote } from '../../../base/text/shell-quote.ts';
import { isInterpreterName } from './interpreters.ts';

type ListedCommand = { readonly name: string; readonly problem: string | null };

/** More files are not listed: people choose from the list. */
const LISTED_MAX = 1000;
const STICKY = 0o1000;
const SETUID_OR_SETGID = 0o6000;

/** All paths are absolute. */
export type CommandDirectory = {
  readonly path: string; readonly workingDirectories: readonly string[];
};

/**
 * Returns its real path. Throws `usage`, with the remedy, for a folder that is missing or that
 * others may change.
 */
export function checkCommandDirectory({ path }: CommandDirectory): string {
  const walk = walkExplained(path);
  const { nearest, exists } = walk;
  if (!exists) {
    throw new AppError('usage', `${path}: is not there; make the folder, or correct the setting `
      + 'actions.commandDirectory');
  }
  if (!nearest.isDirectory) {
    throw new AppError('usage', `${path}: is not a folder; correct the setting `
      + 'actions.commandDirectory');
  }
  checkWayAsRoot(walk);
  // In a sticky folder others could put a program of their own under a name that is missing.
  checkOwnership({ ...nearest, mode: nearest.mode & ~STICKY });
  return nearest.path;
}

/**
 * Throws `usage` as `resolveCommand` does, for a configuration that is saved. A link to a program
 * that is not there yet will do: its runs fail until it is, and each of them resolves it anew.
 */
export function checkCommand(directory: CommandDirectory, name: string): void {
  const path = join(checkCommandDirectory(directory), name);
  const target = findLinkTarget(path);
  if (target === null || walkExplained(path).exists) resolveCommand(directory, name);
  else checkOwnWill(name, { path: target, mode: 0 });
}

/** Throws `usage`, with the remedy, if it is missing, not executable, or open to others. */
export function resolveCommand(directory: CommandDirectory, name: string): string {
  const folder = checkCommandDirectory(directory);
  const walk = walkExplained(join(folder, name));
  const { nearest, exists } = walk;
  if (!exists || !nearest.isFile) {
    const target = findLinkTarget(join(folder, name));
    const targetProblem = exists ? 'which is no file: make it anew'
      : 'which is not there: put it there, or make the link anew';
    const problem = target !== null ? `is a link to ${target}, ${targetProblem}`
      : `is no file in ${directory.path}${suggestName(name, listPrograms(folder))}`;
    throw new AppError('usage', `${quote(name)} ${problem}`);
  }
  checkWayAsRoot(walk);
  // Behind a link the walk begins at the root again.
  const within = walk.steps.slice(walkPath(folder).steps.length);
  for (const step of within) checkOwnership(step);
  checkOwnWill(name, nearest);
  checkExecutable(nearest);
  return nearest.path;
}

/** Throws `usage`, with who may not look where, for a folder on the way that is closed to us. */
function walkExplained(path: string): PathWalk {
  try {
    return walkPath(path);
  } catch (cause) {
    throw new AppError('usage', explainFileError(cause), {}, cause);
  }
}

/** Throws `usage`, with the remedy, for a program of ours or of root that we may not execute. */
function checkExecutable({ path, uid }: PathStep): void {
  try {
    accessSync(path, constants.X_OK);
  } catch (cause) {
    const isOurs = uid === (process.geteuid?.() ?? uid);
    const problem = isOurs ? 'is not executable; run: chmod u+x'
      : 'is root\'s, and not executable for us; run as root: chmod a+x';
    throw new AppError('usage', `${path}: ${problem} ${shellQuote(path)}`, {}, cause);
  }
}

/**
 * Lists the programs by name, with problems: also scripts that are not executable, and links that
 * lead nowhere. Throws as `checkCommandDirectory`.
 */
export function listCommands(directory: CommandDirectory): readonly ListedCommand[] {
  return listPrograms(checkCommandDirectory(directory)).map((name) => {
    try {
      resolveCommand(directory, name);
      return { name, problem: null };
    } catch (thrown) {
      return { name, problem: messageOf(thrown) };
    }
  });
}

/** `path` may be relative. Throws `usage` unless it is below the folder, or in the settings. */
export function resolveWorkingDirectory(directory: CommandDirectory, path: string): string {
  const folder = checkCommandDirectory(directory);
  const whole = resolve(directory.path, path);
  const real = findRealPath(whole);
  if (real === null) throw new AppError('usage', `${whole}: is not there; make the folder`);
  if (!statSync(real).isDirectory()) throw new AppError('usage', `${whole}: is not a folder`);
  const isBelow = real === folder || real.startsWith(folder + sep);
  if (isBelow || directory.workingDirectories.some((named) => findRealPath(named) === real)) {
    return real;
  }
  throw new AppError('usage', `${whole}: is not below ${directory.path}; name it in the setting `
    + 'actions.workingDirectories, and restart the server, to have commands run there');
}

/**
 * Throws `usage` for a program that does what the arguments of a hook say, or has rights of others:
 * whoever may save configurations would have it at will.
 */
function checkOwnWill(name: string, { path, mode }: Pick<PathStep, 'path' | 'mode'>): void {
  if ([name, basename(path)].some(isInterpreterName)) {
    throw new AppError('usage', `${path}: is an interpreter, or starts other programs, and would `
      + 'run what a hook says; put a script of your own there that calls it');
  }
  if ((mode & SETUID_OR_SETGID) === 0) return;
  throw new AppError('usage', `${path}: runs with the rights of its owner or group (setuid, `
    + 'setgid), whatever a hook says; put a script of your own there that calls it');
}

function listPrograms(directory: string): readonly string[] {
  const names: string[] = [];
  for (const name of readdirSync(directory).sort()) {
    if (names.length === LISTED_MAX) break;
    if (isProgram(join(directory, name))) names.push(name);
  }
  return names;
}

function isProgram(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
  } catch {
    // A link that leads nowhere was to be a program.
    return true;
  }
  return isExecutable(path) || isScript(path);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** False for a file that is unreadable. */
function isScript(path: string): boolean {
  try {
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(2);
      readSync(file, start);
      return start.toString('latin1') === '#!';
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/** null: the path is no link. */
function findLinkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** null: there is no such path. Throws the system's error for a folder that is not readable. */
function findRealPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '')) return null;
    throw thrown;
  }
}
