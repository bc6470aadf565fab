/** Reads and writes files over several calls, as a call may do less than it was asked for. */
import { dirname } from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import type { Descriptor, Files, OpenMode } from './files.ts';
import { temporaryName } from './inventory.ts';

const READ_BYTES = 1 << 20;
const LINE_FEED = 0x0a;

/** Receives the line in `[start, end)` of `buffer`, without line feed, valid during the call. */
type LineVisitor = (
  buffer: Buffer, start: number, end: number, offset: number, isComplete: boolean,
) => void;

/**
 * Visits every line, in memory that does not grow with the file. `isComplete` is false for a last
 * line that has no line feed.
 */
export async function readLines(
  files: Files, descriptor: Descriptor, visit: LineVisitor,
): Promise<void> {
  const size = files.sizeSync(descriptor);
  let buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size + 1));
  let pendingBytes = 0;
  let position = 0;
  while (true) {
    if (pendingBytes === buffer.length) {
      const largerBuffer = Buffer.allocUnsafeSlow(buffer.length * 2);
      buffer.copy(largerBuffer, 0, 0, pendingBytes);
      buffer = largerBuffer;
    }
    const count = await files.read(descriptor, buffer.subarray(pendingBytes), position);
    const filledBytes = pendingBytes + count;
    const fileStart = position - pendingBytes;
    position += count;
    let start = 0;
    // The bytes that the last read left over hold no line feed.
    let end = buffer.subarray(0, filledBytes).indexOf(LINE_FEED, pendingBytes);
    while (end >= 0) {
      visit(buffer, start, end, fileStart + start, true);
      start = end + 1;
      end = buffer.indexOf(LINE_FEED, start);
      if (end >= filledBytes) end = -1;
    }
    pendingBytes = filledBytes - start;
    if (count === 0) {
      if (pendingBytes > 0) visit(buffer, start, filledBytes, fileStart + start, false);
      return;
    }
    buffer.copyWithin(0, start, filledBytes);
  }
}

/** Fills `target` from `position` on. Returns the count of bytes, lower at the file's end. */
export async function readFully(
  files: Files, descriptor: Descriptor, target: Uint8Array, position: number,
): Promise<number> {
  let total = 0;
  while (total < target.length) {
    const remainder = target.subarray(total);
    const count = await files.read(descriptor, remainder, position + total);
    if (count === 0) break;
    total += count;
  }
  return total;
}

/** Writes all of `source` at `position`, in the thread pool. */
export async function writeFully(
  files: Files, descriptor: Descriptor, source: Uint8Array, position: number,
): Promise<void> {
  let total = 0;
  while (total < source.length) {
    const remainder = source.subarray(total);
    total += checkBytesWritten(await files.write(descriptor, remainder, position + total));
  }
}

/** Returns the count of bytes that a write took. Throws ENOSPC for 0: the disk found no room. */
export function checkBytesWritten(count: number): number {
  if (count > 0) return count;
  throw Object.assign(new Error('the file system took no bytes'), { code: 'ENOSPC' });
}

/** Opens a file for `use`, and closes it once that has ended. */
export async function withFile<T>(
  files: Files, path: string, mode: OpenMode, use: (descriptor: Descriptor) => Promise<T>,
): Promise<T> {
  const descriptor = files.openSync(path, mode);
  try {
    return await use(descriptor);
  } finally {
    files.closeSync(descriptor);
  }
}

/** Reads the first `bytesMax` bytes of a file; null: there is none. */
export async function readSmallFile(
  files: Files, path: string, bytesMax: number,
): Promise<Buffer | null> {
  if (!files.existsSync(path)) return null;
  const content = Buffer.alloc(bytesMax);
  const count = await withFile(files, path, 'read', (descriptor) =>
    readFully(files, descriptor, content, 0));
  return content.subarray(0, count);
}

/** Writes a file durably. After a crash its old content is there (or none was), or the new one. */
export async function replaceFile(files: Files, path: string, content: Buffer): Promise<void> {
  const temporaryPath = temporaryName(path);
  if (files.existsSync(temporaryPath)) files.unlinkSync(temporaryPath);
  await withFile(files, temporaryPath, 'create', async (descriptor) => {
    await writeFully(files, descriptor, content, 0);
    await files.datasync(descriptor);
  });
  files.renameSync(temporaryPath, path);
  await files.syncDirectory(dirname(path));
}

/** Makes a directory and its missing parents, and puts their names on disk. */
export function makeDurableDirectory(files: Files, directory: string): void {
  const parent = dirname(directory);
  if (!files.existsSync(directory)) {
    if (parent !== directory) makeDurableDirectory(files, parent);
    files.makeDirectorySync(directory);
  }
  // A start that was cut off may have made the directory without syncing its name. We cannot have
  // made anything in a parent that we may not read.
  try {
    files.syncDirectorySync(parent);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EINVAL'].includes(systemCodeOf(error) ?? '')) throw error;
  }
}
