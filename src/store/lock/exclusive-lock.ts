/**
 * The lock where flock(1) cannot be had: files `lock-<n>`, each created exclusively and holding its
 * owner (lock-owner.ts). The highest number counts. A lock is taken by creating the next number
 * while the highest one's owner is dead or has let go, and only while the own number is still the
 * highest afterwards. A file goes only when a higher one is there: nobody can create a number that
 * a live owner's is not above, so of two starts at once one fails, however long either sleeps.
 */
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import type { Descriptor, Files } from '../files.ts';
import { isAlive, readOwner, thisProcess, writeOwner } from './lock-owner.ts';
import type { LockKind, LockOwner } from './lock-owner.ts';

const NAME = /^lock-(\d+)$/;
// What a file holds after its owner has let go: an empty one is still being made.
const RELEASED = Buffer.from('{"released":true}\n');
// Between creating a file and writing into it lie microseconds; a crash there is rarer still.
const CREATION_MS_MAX = 500;

/** Null when somebody else holds the directory; `isHeldOtherwise` is asked last. */
export function tryExclusiveLock(
  directory: string, files: Files, kind: LockKind, isHeldOtherwise: () => boolean,
): { announce(socketPath: string | null): void; release(): void } | null {
  const numbers = listLocks(directory, files);
  const highest = numbers.at(-1) ?? 0;
  if (highest > 0 && isHeld(directory, files, highest)) return null;
  const number = highest + 1;
  const path = join(directory, `lock-${number}`);
  let descriptor: Descriptor;
  try {
    descriptor = files.open(path, 'create');
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return null;
    throw error;
  }
  writeOwner(files, descriptor, thisProcess(files, kind, null));
  const release = (): void => {
    files.write(descriptor, RELEASED, 0);
    files.truncate(descriptor, RELEASED.length);
    files.close(descriptor);
  };
  if (listLocks(directory, files).at(-1) !== number || isHeldOtherwise()) {
    release();
    return null;
  }
  for (const old of numbers) removeIfThere(files, join(directory, `lock-${old}`));
  let isReleased = false;
  return {
    announce: (socketPath) =>
      writeOwner(files, descriptor, thisProcess(files, kind, socketPath)),
    release() {
      if (!isReleased) release();
      isReleased = true;
    },
  };
}

/** The live owner of the highest lock, or null. */
export function findExclusiveOwner(directory: string, files: Files): LockOwner | null {
  const highest = listLocks(directory, files).at(-1);
  if (highest === undefined) return null;
  const owner = readOwner(files, join(directory, `lock-${highest}`));
  return owner !== null && isAlive(files, owner) ? owner : null;
}

function isHeld(directory: string, files: Files, number: number): boolean {
  const path = join(directory, `lock-${number}`);
  const deadlineMs = performance.now() + CREATION_MS_MAX;
  while (isEmpty(files, path) && performance.now() < deadlineMs) {
    // Its owner is just writing its name.
  }
  const owner = readOwner(files, path);
  return owner !== null && isAlive(files, owner);
}

function isEmpty(files: Files, path: string): boolean {
  try {
    const descriptor = files.open(path, 'read');
    try {
      return files.sizeOf(descriptor) === 0;
    } finally {
      files.close(descriptor);
    }
  } catch {
    return false;
  }
}

function listLocks(directory: string, files: Files): number[] {
  return files.list(directory)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((left, right) => left - right);
}

function removeIfThere(files: Files, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}
