/**
 * A file that a command writes. It is written under a temporary name in the same folder, readable
 * only by its owner, and renamed when it is whole: no link is followed, and an older file stays
 * until then. A pipe or device is written to directly, but for a named pipe of another user.
 */
import { constants, fchownSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import { explainFileError } from '../../base/file-error.ts';
import { loadCrypto } from '../../base/node-modules.ts';

const NAME_BYTES = 6;
const CREATE_ONLY = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

export class OutputFile {
  readonly #path: string;
  /** null: the path is a pipe or device, which is written to directly. */
  readonly #temporaryPath: string | null;
  #handle: FileHandle | null = null;

  constructor(path: string) {
    this.#path = path;
    this.#temporaryPath = isPipeOrDevice(path)
      ? null : `${path}.${loadCrypto().randomBytes(NAME_BYTES).toString('hex')}.part`;
  }

  /** Throws `unavailable`, as do the methods below. */
  async open(): Promise<void> {
    try {
      if (this.#temporaryPath === null) {
        this.#handle = await open(this.#path, constants.O_WRONLY);
        checkOpenedPath(this.#path, await this.#handle.stat());
        return;
      }
      this.#handle = await open(this.#temporaryPath, CREATE_ONLY, 0o600);
      giveToFolderOwner(this.#handle.fd, this.#temporaryPath);
    } catch (cause) {
      throw createWriteError(this.#path, cause);
    }
  }

  async write(text: string): Promise<void> {
    try {
      await this.#openHandle.writeFile(text);
    } catch (cause) {
      throw createWriteError(this.#path, cause);
    }
  }

  /** Resolves once the whole file is on disk and has its name. */
  async commit(): Promise<void> {
    try {
      if (this.#temporaryPath !== null) await this.#openHandle.sync();
      await this.#openHandle.close();
      if (this.#temporaryPath !== null) renameSync(this.#temporaryPath, this.#path);
    } catch (cause) {
      throw createWriteError(this.#path, cause);
    }
  }

  /** Leaves an older file as it was; may be called after `commit` has failed, too. */
  async discard(): Promise<void> {
    await this.#handle?.close().catch(() => {});
    this.removeTemporary();
  }

  /** Removes the temporary file: all that is needed when the process ends at once. */
  removeTemporary(): void {
    if (this.#temporaryPath !== null) rmSync(this.#temporaryPath, { force: true });
  }

  get #openHandle(): FileHandle {
    assert(this.#handle !== null);
    return this.#handle;
  }
}

function isPipeOrDevice(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  } catch (cause) {
    throw createWriteError(path, cause);
  }
}

/** Checks the open file: another user may have put it in place of the one we looked at. */
function checkOpenedPath(path: string, status: Stats): void {
  if (status.isFile()) throw new Error('there is a file in the place of the pipe that was there');
  const isNamed = status.isFIFO() && !/^\/(dev|proc)\//.test(path);
  const { uid } = status;
  if (!isNamed || uid === 0 || uid === process.geteuid?.()) return;
  throw new Error(`it is a pipe of user ${uid}, who could read what is written`);
}

// A file that root creates in a user's folder shall belong to that user. The open descriptor is
// changed, not the path, which may name something else by now.
function giveToFolderOwner(descriptor: number, path: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) fchownSync(descriptor, uid, gid);
}

function createWriteError(path: string, cause: unknown): AppError {
  return new AppError('unavailable', `cannot write ${path}: ${explainFileError(cause)}`, {}, cause);
}
