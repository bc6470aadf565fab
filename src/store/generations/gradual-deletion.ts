/**
 * Deletes a large file in chunks, so that other syncs of the disk do not stall. The blocks of a
 * deleted file are freed by the next sync of any file, and with ext4 and `discard` the device is
 * told of each block: when 400 MB were deleted at once, a sync of the journal took 115 to 180 ms.
 * Here the file is shortened step by step. Each step is synced and followed by a pause of the same
 * length: no other sync took more than 15 ms.
 *
 * The file is renamed first, on disk too, so that no crash leaves a shortened file under its name.
 * A file with another hard link, which a backup may have made, only loses its own name.
 */
import { dirname } from 'node:path';
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { temporaryName } from '../disk/inventory.ts';

const CHUNK_BYTES = 4 << 20;
// A chunk takes some milliseconds. Bounds the wait when the process itself was paused meanwhile.
const PAUSE_MS_MAX = 100;

type DeletionOptions = {
  readonly files: Files;
  readonly clock: Clock;
  /** True when the rest must be deleted at once. */
  readonly skipThrottling: () => boolean;
  readonly chunkBytes?: number;
};

/** Must only be called for a file that nobody has open. It is renamed before the first pause. */
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

/** Null for a file that may not be written. Deleting it needs no such permission. */
function tryOpen(files: Files, path: string): Descriptor | null {
  try {
    return files.openSync(path, 'append-existing');
  } catch {
    return null;
  }
}
