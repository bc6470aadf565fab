/**
 * Deletes a large file a portion at a time. A disk frees the blocks of a deleted file with the next
 * sync, whosever that is, and where ext4 is mounted with `discard` it also tells the device of
 * each: with 400 MB at once a sync of the journal beside it took 115 to 180 ms. When the file is
 * cut from its end, and each cut is synced and followed by a pause as long, no other sync took more
 * than 15 ms.
 *
 * The file loses its name first, on disk too, so that no crash leaves one under it that is cut. One
 * that has another name, as a backup made of hard links gives it, only loses its own.
 */
import { dirname } from 'node:path';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { temporaryName } from '../disk/inventory.ts';

const CHUNK_BYTES = 4 << 20;
// A portion takes some milliseconds; what stood still for longer is no reason to wait as long.
const PAUSE_MS_MAX = 100;

type DeletionOptions = {
  readonly files: Files;
  readonly clock: Clock;
  /** Whether the rest is deleted at once. */
  readonly skipThrottling: () => boolean;
  readonly chunkBytes?: number;
};

/** Only for a file that nobody has open. One that is cut has lost its name before any wait. */
export async function deleteGradually(
  path: string, { files, clock, skipThrottling, chunkBytes = CHUNK_BYTES }: DeletionOptions,
): Promise<void> {
  const descriptor = tryOpen(files, path);
  if (descriptor === null) return files.unlink(path);
  let currentPath = path;
  try {
    let nextLength = files.sizeSync(descriptor) - chunkBytes;
    if (nextLength <= 0 || skipThrottling()) return;
    files.renameSync(path, temporaryName(path));
    currentPath = temporaryName(path);
    await files.syncDirectory(dirname(path));
    if (files.linkCountSync(descriptor) > 1) return;
    for (; nextLength > 0 && !skipThrottling(); nextLength -= chunkBytes) {
      const startedMs = clock.monotonicMs();
      await files.truncate(descriptor, nextLength);
      await files.datasync(descriptor);
      await sleep(clock, Math.min(clock.monotonicMs() - startedMs, PAUSE_MS_MAX));
    }
  } finally {
    files.closeSync(descriptor);
    await files.unlink(currentPath);
  }
}

/** Null for one that may not be written, or not now: to delete it takes no such right. */
function tryOpen(files: Files, path: string): Descriptor | null {
  try {
    return files.openSync(path, 'append-existing');
  } catch {
    return null;
  }
}
