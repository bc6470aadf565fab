/**
 * The lock where flock(1) is not available: files `lock-<n>`, each created exclusively and naming
 * its owner (lock-owner.ts). The highest number counts. A process takes the lock by creating the
 * next number, while the owner of the highest one is dead or has released it. It holds the lock
 * only if its number is still the highest afterwards. A file is removed only after a higher one was
 * created, so nobody can create a number below a live owner's: of two simultaneous starts one
 * fails, however long either sleeps.
 */
import { join } from 'node:path';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { systemCodeOf } from '../../base/errors.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { removeIfPresent, startListening } from './liveness.ts';
import { OwnedLock, getLivenessPath, isAlive, readOwner } from './lock-owner.ts';
import type { LockKind, NamedOwner } from './lock-owner.ts';

const NAME_PATTERN = /^lock-(\d+)$/;
// A file is written microseconds after its creation; a crash between the two is very rare.
const CREATION_MS_MAX = 500;
const POLL_MS = 5;

type ExclusiveLockOptions = {
  readonly files: Files;
  readonly clock: Clock;
  readonly kind: LockKind;
  /** Whether another process holds the directory with flock(2). Called after this lock is taken. */
  isHeldByFlock(): Promise<boolean>;
};

/** Tries to take the lock. Resolves with null when another process holds it. */
export async function tryExclusiveLock(
  directory: string, { files, clock, kind, isHeldByFlock }: ExclusiveLockOptions,
): Promise<OwnedLock | null> {
  const numbers = listLockNumbers(directory, files);
  const highest = numbers.at(-1) ?? 0;
  if (highest > 0 && await isHeld(getLockPath(directory, highest), files, clock)) return null;
  const number = highest + 1;
  const path = getLockPath(directory, number);
  let descriptor: Descriptor;
  try {
    descriptor = files.openSync(path, 'create');
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return null;
    throw error;
  }
  const liveness = await startListening(getLivenessPath(path), files);
  const lock = new OwnedLock(files, descriptor, kind, liveness);
  if (listLockNumbers(directory, files).at(-1) !== number || await isHeldByFlock()) {
    lock.release();
    return null;
  }
  for (const oldNumber of numbers) {
    const oldPath = getLockPath(directory, oldNumber);
    removeIfPresent(oldPath, files);
    removeIfPresent(getLivenessPath(oldPath), files);
  }
  return lock;
}

/** Reads the owner of the highest lock file; null when it is released, or there is none. */
export function readExclusiveOwner(
  directory: string, files: Files,
): { readonly owner: NamedOwner; readonly path: string } | null {
  const highest = listLockNumbers(directory, files).at(-1);
  if (highest === undefined) return null;
  const path = getLockPath(directory, highest);
  const owner = readOwner(files, path);
  return owner === null ? null : { owner, path };
}

async function isHeld(path: string, files: Files, clock: Clock): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + CREATION_MS_MAX;
  // The owner of an empty file is just writing itself into it.
  while (isEmpty(files, path) && clock.monotonicMs() < deadlineMs) await sleep(clock, POLL_MS);
  const owner = readOwner(files, path);
  return owner !== null && isAlive(files, owner, path);
}

function getLockPath(directory: string, number: number): string {
  return join(directory, `lock-${number}`);
}

function isEmpty(files: Files, path: string): boolean {
  try {
    const descriptor = files.openSync(path, 'read');
    try {
      return files.sizeSync(descriptor) === 0;
    } finally {
      files.closeSync(descriptor);
    }
  } catch {
    return false;
  }
}

function listLockNumbers(directory: string, files: Files): number[] {
  return files.listSync(directory)
    .flatMap((name) => NAME_PATTERN.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((left, right) => left - right);
}
