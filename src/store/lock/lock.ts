/**
 * One writing process for a data directory. The file `lock` is locked with flock(2), through the
 * program flock(1) on a descriptor of ours: the lock belongs to the open file, so it holds after
 * the program has exited and ends with our process, however that ends. The file stays, so that
 * nobody can lock one that has just been replaced; what it says is who holds it: one JSON object
 * (lock-owner.ts), nothing when free.
 *
 * Where flock(1) is missing or the file system refuses it, exclusive-lock.ts stands in. Whoever
 * locks looks at the other kind of lock after making its own, so that two processes that lock in
 * different ways cannot both win either.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { sleep, systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { createNodeFiles } from '../files.ts';
import type { Descriptor, Files } from '../files.ts';
import { findExclusiveOwner, tryExclusiveLock } from './exclusive-lock.ts';
import { isAlive, readOwner, thisProcess, writeOwner } from './lock-owner.ts';
import type { LockKind, LockOwner } from './lock-owner.ts';

export type { LockKind, LockOwner } from './lock-owner.ts';

export type LockOptions = {
  readonly kind: LockKind;
  /** How long to wait for a command to end, in milliseconds; a server is never waited for. */
  readonly waitMs?: number;
  readonly files?: Files;
  readonly clock?: Clock;
  /** The program that locks; another name makes the stand-in take over. */
  readonly program?: string;
};

export interface DirectoryLock {
  /** Tells others where the control socket is. */
  announce(socketPath: string | null): void;
  /** Idempotent. */
  release(): void;
}

const POLL_MS = 25;
// Who locks writes its name next; until then the file is empty or names a process that is gone.
const NAMING_MS_MAX = 1000;
// What flock(1) exits with when somebody else holds the lock.
const HELD_STATUS = 1;
const NO_ACCESS = ['EACCES', 'EPERM', 'EROFS'];

/** Locks an existing directory. Throws `conflict`, naming the pid, when somebody else holds it. */
export async function acquireLock(
  directory: string, options: LockOptions,
): Promise<DirectoryLock> {
  const { clock = systemClock, files = createNodeFiles(), waitMs = 0 } = options;
  const startedMs = clock.monotonicMs();
  while (true) {
    const lock = tryLock(directory, files, options);
    if (lock !== null) return lock;
    const owner = readLockOwner(directory, files);
    if (clock.monotonicMs() - startedMs >= patienceMs(files, owner, waitMs)) {
      throw new AppError('conflict', describe(directory, owner));
    }
    await sleep(clock, POLL_MS);
  }
}

function patienceMs(files: Files, owner: LockOwner | null, waitMs: number): number {
  if (owner === null || !isAlive(files, owner)) return Math.max(waitMs, NAMING_MS_MAX);
  return owner.kind === 'server' ? 0 : waitMs;
}

/** Who holds a directory, as far as its lock file tells, or null. */
export function readLockOwner(
  directory: string, files: Files = createNodeFiles(),
): LockOwner | null {
  const owner = readOwner(files, join(directory, 'lock'));
  return owner ?? findExclusiveOwner(directory, files);
}

function tryLock(directory: string, files: Files, options: LockOptions): DirectoryLock | null {
  const { kind, program = 'flock' } = options;
  const descriptor = openLockFile(files, join(directory, 'lock'));
  let isKept = false;
  try {
    const { status } = spawnSync(program, ['-x', '-n', '3'], {
      stdio: ['ignore', 'ignore', 'ignore', descriptor],
    });
    if (status === HELD_STATUS) return null;
    if (status !== 0) {
      return tryExclusiveLock(directory, files, kind, () => {
        const owner = readOwner(files, join(directory, 'lock'));
        return owner !== null && isAlive(files, owner);
      });
    }
    writeOwner(files, descriptor, thisProcess(files, kind, null));
    if (findExclusiveOwner(directory, files) !== null) {
      files.truncate(descriptor, 0);
      return null;
    }
    isKept = true;
    return new FlockLock(files, descriptor, kind);
  } finally {
    if (!isKept) files.close(descriptor);
  }
}

class FlockLock implements DirectoryLock {
  readonly #files: Files;
  readonly #descriptor: Descriptor;
  readonly #kind: LockKind;
  #isReleased = false;

  constructor(files: Files, descriptor: Descriptor, kind: LockKind) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.#kind = kind;
  }

  announce(socketPath: string | null): void {
    writeOwner(this.#files, this.#descriptor, thisProcess(this.#files, this.#kind, socketPath));
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#files.truncate(this.#descriptor, 0);
    this.#files.close(this.#descriptor);
  }
}

function openLockFile(files: Files, path: string): Descriptor {
  try {
    return files.open(path, files.exists(path) ? 'append-existing' : 'create');
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return files.open(path, 'append-existing');
    if (!NO_ACCESS.includes(systemCodeOf(error) ?? '')) throw error;
    throw new AppError('conflict', `cannot write in the data directory ${dirname(path)} (`
      + `${messageOf(error)}): run as its owner, or name another one with --data`, {}, error);
  }
}

function describe(directory: string, owner: LockOwner | null): string {
  const who = owner === null ? 'another process' : `process ${owner.pid} (${owner.kind})`;
  return `the data directory ${directory} is in use by ${who}; stop it first`;
}
