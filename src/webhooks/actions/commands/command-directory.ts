/**
 * The folder whose programs hooks may run. A program runs with our rights, so the folder and the
 * program must be ours or root's, and nobody else may write in them. A link counts as its target,
 * which is held to the same rule with every folder on the way to it. A program must be no
 * interpreter, and have no rights of others. The author of the settings vouches for the folders
 * above the folder itself, unless we are root. All of it is checked again for each run: somebody
 * may have changed it since a configuration was saved.
 */
import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../../../base/errors.ts';
import { checkOwnership, checkWayAsRoot } from '../../../base/files/ownership.ts';
import { walkPath, type PathStep } from '../../../base/files/path-owners.ts';
import { quote, suggestName } from '../../../base/text/error-message.ts';
import { isInterpreterName } from './interpreters.ts';

type ListedCommand = { readonly name: string; readonly problem: string | null };

/** More files are not listed: people choose from the list. */
const LISTED_MAX = 1000;
const STICKY = 0o1000;
const SETUID_OR_SETGID = 0o6000;

export class CommandDirectory {
  readonly path: string;
  readonly #workingDirectories: readonly string[];

  /** All paths are absolute. */
  constructor(options: {
    readonly path: string; readonly workingDirectories: readonly string[];
  }) {
    this.path = options.path;
    this.#workingDirectories = options.workingDirectories;
  }

  /** Throws `usage`, with the remedy, for a folder that is missing or that others may change. */
  check(): void {
    this.#resolve();
  }

  /** Throws `usage`, with the remedy, if it is missing, not executable, or open to others. */
  resolveCommand(name: string): string {
    return this.#resolveCommand(name, this.#resolve());
  }

  /** Lists the executable files by name, with problems. Throws as `check`. */
  list(): readonly ListedCommand[] {
    const directory = this.#resolve();
    return listExecutableFiles(directory).map((name) =>
      ({ name, problem: this.#findProblem(name, directory) }));
  }

  /** `path` may be relative. Throws `usage` unless it is below this folder, or in the settings. */
  resolveWorkingDirectory(path: string): string {
    const directory = this.#resolve();
    const whole = resolve(this.path, path);
    const real = findRealPath(whole);
    if (real === null) throw new AppError('usage', `${whole}: is not there; make the folder`);
    if (!statSync(real).isDirectory()) throw new AppError('usage', `${whole}: is not a folder`);
    const isBelow = real === directory || real.startsWith(directory + sep);
    if (isBelow || this.#workingDirectories.some((folder) => findRealPath(folder) === real)) {
      return real;
    }
    throw new AppError('usage', `${whole}: is not below ${this.path}; name it in the setting `
      + 'actions.workingDirectories to have commands run there');
  }

  #resolve(): string {
    const walk = walkPath(this.path);
    const { nearest, exists } = walk;
    if (!exists) {
      throw new AppError('usage', `${this.path}: is not there; make the folder, or correct the `
        + 'setting actions.commandDirectory');
    }
    if (!nearest.isDirectory) {
      throw new AppError('usage', `${this.path}: is not a folder; correct the setting `
        + 'actions.commandDirectory');
    }
    checkWayAsRoot(walk);
    // In a sticky folder others could put a program of their own under a name that is missing.
    checkOwnership({ ...nearest, mode: nearest.mode & ~STICKY });
    return nearest.path;
  }

  #resolveCommand(name: string, directory: string): string {
    const walk = walkPath(join(directory, name));
    const { nearest, exists } = walk;
    if (!exists || !nearest.isFile) {
      const hint = suggestName(name, listExecutableFiles(directory));
      throw new AppError('usage', `${quote(name)} is no file in ${this.path}${hint}`);
    }
    checkWayAsRoot(walk);
    // Behind a link the walk begins at the root again.
    const within = walk.steps.slice(walkPath(directory).steps.length);
    for (const step of within) checkOwnership(step);
    checkOwnWill(name, nearest);
    if (isExecutableFile(nearest.path)) return nearest.path;
    throw new AppError('usage',
      `${nearest.path}: is not executable; run: chmod u+x '${nearest.path}'`);
  }

  #findProblem(name: string, directory: string): string | null {
    try {
      this.#resolveCommand(name, directory);
      return null;
    } catch (thrown) {
      return messageOf(thrown);
    }
  }
}

/**
 * Throws `usage` for a program that does what the arguments of a hook say, or has rights of others:
 * whoever may save configurations would have it at will.
 */
function checkOwnWill(name: string, { path, mode }: PathStep): void {
  if ([name, basename(path)].some(isInterpreterName)) {
    throw new AppError('usage', `${path}: is an interpreter, or starts other programs, and would `
      + 'run what a hook says; put a script of your own there that calls it');
  }
  if ((mode & SETUID_OR_SETGID) === 0) return;
  throw new AppError('usage', `${path}: runs with the rights of its owner or group (setuid, `
    + 'setgid), whatever a hook says; put a script of your own there that calls it');
}

function listExecutableFiles(directory: string): readonly string[] {
  const names: string[] = [];
  for (const name of readdirSync(directory).sort()) {
    if (names.length === LISTED_MAX) break;
    if (isExecutableFile(join(directory, name))) names.push(name);
  }
  return names;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
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
