/**
 * The lock where flock(1) cannot be had: files `lock-<n>`, each created exclusively and holding its
 * owner (owner.ts). The highest number counts. A lock is taken by creating the next number
 * while the owner of the highest one is dead or has released it, and holds only if the new number
 * is still the highest afterwards. A file is removed only once a higher one is there, so nobody can
 * create a number below a live owner's: of two starts at once one fails, however long either
 * sleeps.
 */
import { join } from 'node:path';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { systemCodeOf } from '../../base/errors.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { startListening, removeSocket } from './liveness.ts';
import { isAlive, livenessPath, readOwner, thisProcess, writeOwner } from './owner.ts';
import type { LockKind, LockOwner } from './owner.ts';

const NAME = /^lock-(\d+)$/;
// What a file holds once its owner has released it. An empty one is still being written.
const RELEASED = Buffer.from('{"released":true}\n');
// Between creating a file and writing into it lie microseconds; a crash there is rarer still.
const CREATION_MS_MAX = 500;
const POLL_MS = 5;

type ExclusiveLockOptions = {
  readonly files: Files;
  readonly clock: Clock;
  readonly kind: LockKind;
  /** Asked last. */
  isHeldOtherwise(): Promise<boolean>;
};

/** Null when somebody else holds the directory. */
export async function tryExclusiveLock(
  directory: string, { files, clock, kind, isHeldOtherwise }: ExclusiveLockOptions,
): Promise<{ announce(socketPath: string | null): void; release(): void } | null> {
  const numbers = listLocks(directory, files);
  const highest = numbers.at(-1) ?? 0;
  if (highest > 0 && await isHeld(pathOf(directory, highest), files, clock)) return null;
  const number = highest + 1;
  const path = pathOf(directory, number);
  let descriptor: Descriptor;
  try {
    descriptor = files.openSync(path, 'create');
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return null;
    throw error;
  }
  const liveness = await startListening(livenessPath(path), files);
  const announce = (socketPath: string | null): void =>
    writeOwner(files, descriptor, thisProcess(files, kind, socketPath, liveness !== null));
  announce(null);
  const release = (): void => {
    liveness?.end();
    files.writeSync(descriptor, RELEASED, 0);
    files.truncateSync(descriptor, RELEASED.length);
    files.closeSync(descriptor);
  };
  if (listLocks(directory, files).at(-1) !== number || await isHeldOtherwise()) {
    release();
    return null;
  }
  for (const old of numbers) {
    removeIfThere(files, pathOf(directory, old));
    removeSocket(livenessPath(pathOf(directory, old)), files);
  }
  let isReleased = false;
  return {
    announce,
    release() {
      if (!isReleased) release();
      isReleased = true;
    },
  };
}

/** Whom the highest lock names, and its path; null when it is free, or there is none. */
export function readExclusiveOwner(
  directory: string, files: Files,
): { readonly owner: LockOwner; readonly path: string } | null {
  const highest = listLocks(directory, files).at(-1);
  if (highest === undefined) return null;
  const path = pathOf(directory, highest);
  const owner = readOwner(files, path);
  return owner === null ? null : { owner, path };
}

async function isHeld(path: string, files: Files, clock: Clock): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + CREATION_MS_MAX;
  // Its owner is just writing its name.
  while (isEmpty(files, path) && clock.monotonicMs() < deadlineMs) await sleep(clock, POLL_MS);
  const owner = readOwner(files, path);
  return owner !== null && isAlive(files, owner, path);
}

function pathOf(directory: string, number: number): string {
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

function listLocks(directory: string, files: Files): number[] {
  return files.listSync(directory)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((left, right) => left - right);
}

function removeIfThere(files: Files, path: string): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}
