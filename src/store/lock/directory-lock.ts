/**
 * The lock of a data directory: only one process writes there. The file `lock` is locked with
 * flock(2), by the program flock(1) on a descriptor of this process. The lock belongs to the open
 * file: it holds after the program has exited, and ends with this process, however that ends. The
 * file is never removed, so that nobody can lock one that has just been replaced. Where a person
 * removes it, the socket of its owner still keeps others out. The file names the owner and itself
 * (lock-owner.ts), so that a copy of it is not taken for a lock. While the lock is free, it names
 * nobody. It also tells an end that the journal had.
 *
 * exclusive-lock.ts is used instead where flock(1) is missing or the file system refuses it. Each
 * kind of lock is checked against the other after it was taken, so that two processes that lock in
 * different ways cannot both win. With either kind the holder listens on a socket (liveness.ts),
 * which shows other containers that it is alive.
 */
import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { sleep, systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, systemCodeOf } from '../../base/errors.ts';
import { SOCKET_PATH_BYTES_MAX } from '../../base/network/unix-socket.ts';
import { diskError } from '../disk/disk-error.ts';
import { createNodeFiles } from '../disk/files.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { readExclusiveOwner, tryExclusiveLock } from './exclusive-lock.ts';
import { hasListener, startListening } from './liveness.ts';
import {
  OwnedLock, getLivenessPath, isAlive, readJournalEnd, readOwner, removeOwner,
} from './lock-owner.ts';
import type { JournalEnd, LockKind, LockOwner, NamedOwner } from './lock-owner.ts';
import { isInThisNamespace } from './process-identity.ts';

export type { JournalEnd, LockKind, LockOwner } from './lock-owner.ts';

type LockOptions = {
  readonly kind: LockKind;
  /** How long to wait for a command that holds the lock. A server is never waited for. */
  readonly waitMs?: number;
  readonly files?: Files;
  readonly clock?: Clock;
  /** The program that locks. If it is missing, exclusive-lock.ts is used. */
  readonly program?: string;
};

export interface DirectoryLock {
  /**
   * Why nothing can be written in the directory, so that it has no lock: its file system is mounted
   * read-only, or full. Absent where the lock is held; a server always has it.
   */
  readonly refusal?: AppError;
  /** The server that held the lock before, and ended without releasing it. */
  readonly deadServer?: LockOwner;
  /** An end that the journal had; null: not known. `announce` and `release` write it down. */
  journalEnd: JournalEnd | null;
  /** Publishes the path of the control socket. */
  announce(socketPath: string | null): void;
  /** Idempotent. */
  release(): void;
}

const POLL_MS = 25;
// A process that has just locked the file writes itself into it next. Until then the file is empty,
// or names a process that has ended.
const OWNER_WRITE_MS_MAX = 1000;
// The exit status of flock(1) when another process holds the lock.
const ALREADY_LOCKED_STATUS = 1;

/** Most commands are done within this time, on a busy machine too. */
export const COMMAND_WAIT_MS = 15_000;

/** Locks an existing directory. Throws `conflict`, with the pid, when another process holds it. */
export async function acquireLock(
  directory: string, options: LockOptions,
): Promise<DirectoryLock> {
  const { clock = systemClock, files = createNodeFiles(), waitMs = 0 } = options;
  const startedMs = clock.monotonicMs();
  while (true) {
    const previous = readHolder(directory, files)?.owner;
    const lock = await tryLock(directory, { ...options, files, clock });
    if (lock !== null) {
      const wasServer = previous?.kind === 'server' && !previous.isCopy;
      return wasServer ? Object.assign(lock, { deadServer: previous }) : lock;
    }
    const holder = readHolder(directory, files);
    if (clock.monotonicMs() - startedMs >= await computeWaitMs(files, holder, waitMs)) {
      throw new AppError('conflict', describeHolder(directory, files, holder));
    }
    await sleep(clock, POLL_MS);
  }
}

/** A lock file and the owner that it names. */
type LockHolder = { readonly owner: NamedOwner; readonly path: string };

/** Computes how long to try in all. The lock of a holder that has ended is soon taken or free. */
async function computeWaitMs(
  files: Files, holder: LockHolder | null, waitMs: number,
): Promise<number> {
  if (!await isHeldBy(files, holder)) return Math.max(waitMs, OWNER_WRITE_MS_MAX);
  return holder?.owner.kind === 'server' ? 0 : waitMs;
}

async function isHeldBy(files: Files, holder: LockHolder | null): Promise<boolean> {
  return holder !== null && isAlive(files, holder.owner, holder.path);
}

/**
 * The owner that a directory's lock file names: a process that holds the lock, or was killed with
 * it; else null. A socket in the directory itself is its owner's: the directory may have been
 * renamed since, or another container mounts it elsewhere.
 */
export function readLockOwner(directory: string): LockOwner | null {
  const files = createNodeFiles();
  const owner = readHolder(directory, files)?.owner ?? null;
  if (owner === null || owner.isCopy) return null;
  if (owner.socketPath === null) return owner;
  const socketPath = join(directory, basename(owner.socketPath));
  const isReachable = Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX;
  return isReachable && files.existsSync(socketPath) ? { ...owner, socketPath } : owner;
}

/** The owner that a lock file names which was copied here with a directory; null: none was. */
export function readCopiedOwner(directory: string): LockOwner | null {
  const owner = readHolder(directory, createNodeFiles())?.owner ?? null;
  return owner?.isCopy === true ? owner : null;
}

/** The end of the journal that a directory's lock file tells; null: none, or nothing was stored. */
export function findJournalEnd(directory: string, files: Files): JournalEnd | null {
  return readJournalEnd(files, join(directory, 'lock'));
}

/** Null when neither kind of lock names an owner, and for a directory that is not there. */
function readHolder(directory: string, files: Files): LockHolder | null {
  if (!files.existsSync(directory)) return null;
  const path = join(directory, 'lock');
  const owner = readOwner(files, path);
  return owner === null ? readExclusiveOwner(directory, files) : { owner, path };
}

/** Null when another process holds a lock of either kind. */
async function tryLock(
  directory: string, options: LockOptions & { readonly files: Files; readonly clock: Clock },
): Promise<DirectoryLock | null> {
  const { kind, files } = options;
  try {
    return await tryToWriteLock(directory, options);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    const refusal = diskError(`cannot write in the data directory ${directory}`, error);
    const mayRead = code === 'EROFS' || refusal.code === 'storage_full';
    if (kind === 'server' || !mayRead) throw refusal;
    return tryWithoutLock(directory, files, refusal);
  }
}

/** Throws what keeps the lock file from being written. */
async function tryToWriteLock(
  directory: string, options: LockOptions & { readonly files: Files; readonly clock: Clock },
): Promise<DirectoryLock | null> {
  const { kind, files, clock, program = 'flock' } = options;
  const path = join(directory, 'lock');
  const descriptor = openLockFile(files, path);
  let isLocked = false;
  try {
    const { status } = spawnSync(program, ['-x', '-n', '3'], {
      stdio: ['ignore', 'ignore', 'ignore', descriptor],
    });
    if (status === ALREADY_LOCKED_STATUS) return null;
    if (status !== 0) {
      return await tryExclusiveLock(directory, {
        files, clock, kind,
        async isHeldByFlock() {
          const owner = readOwner(files, path);
          return owner !== null && isAlive(files, owner, path);
        },
      });
    }
    // A process that listens there has locked a file that was removed since, and lives.
    if (await hasListener(getLivenessPath(path), files, false)) return null;
    // The file must not name the owner before us any more when our socket opens: a connection to it
    // would show that a killed process is alive.
    const journalEnd = readJournalEnd(files, path);
    removeOwner(files, descriptor, journalEnd);
    const liveness = await startListening(getLivenessPath(path), files);
    const lock = new OwnedLock(files, descriptor, kind, liveness, journalEnd);
    isLocked = true;
    if (!await isHeldBy(files, readExclusiveOwner(directory, files))) return lock;
    lock.release();
    return null;
  } finally {
    if (!isLocked) files.closeSync(descriptor);
  }
}

/** Null when another process, which has mounted the directory otherwise, holds it. */
async function tryWithoutLock(
  directory: string, files: Files, refusal: AppError,
): Promise<DirectoryLock | null> {
  const isHeld = await isHeldBy(files, readHolder(directory, files));
  return isHeld ? null : createAbsentLock(directory, files, refusal);
}

/** Stands for the lock of a directory in which nothing can or may be written, as `refusal` says. */
export function createAbsentLock(
  directory: string, files: Files, refusal: AppError,
): DirectoryLock {
  return { refusal, journalEnd: findJournalEnd(directory, files), announce() {}, release() {} };
}

function openLockFile(files: Files, path: string): Descriptor {
  try {
    return files.openSync(path, files.existsSync(path) ? 'append-existing' : 'create');
  } catch (error) {
    // Another process has created the file meanwhile.
    if (systemCodeOf(error) === 'EEXIST') return files.openSync(path, 'append-existing');
    throw error;
  }
}

function describeHolder(directory: string, files: Files, holder: LockHolder | null): string {
  const holderName = holder === null ? 'another process' : formatOwner(files, holder.owner);
  return `the data directory ${directory} is in use by ${holderName}; stop it first`;
}

function formatOwner(files: Files, owner: LockOwner): string {
  const name = `process ${owner.pid} (${owner.kind})`;
  return isInThisNamespace(files, owner) ? name : `${name} of another container or of the host`;
}
