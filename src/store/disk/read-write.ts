/** Reads a file line by line, in pieces, in memory that does not grow with the file. */
import { checkBytesWritten } from './disk-error.ts';
import type { Descriptor, Files } from './files.ts';

const READ_BYTES = 1 << 20;
const LINE_FEED = 0x0a;

/** A line in `[start, end)` of `buffer`, without its line feed; good only during the visit. */
type LineVisitor = (
  buffer: Buffer, start: number, end: number, offset: number, isComplete: boolean,
) => void;

/** Shows every line; the last with `isComplete` false when the file does not end in a line feed. */
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
    const filled = pendingBytes + count;
    const fileStart = position - pendingBytes;
    position += count;
    let start = 0;
    // What was kept of the last piece holds no line feed.
    let end = buffer.subarray(0, filled).indexOf(LINE_FEED, pendingBytes);
    while (end >= 0) {
      visit(buffer, start, end, fileStart + start, true);
      start = end + 1;
      end = buffer.indexOf(LINE_FEED, start);
      if (end >= filled) end = -1;
    }
    pendingBytes = filled - start;
    if (count === 0) {
      if (pendingBytes > 0) visit(buffer, start, filled, fileStart + start, false);
      return;
    }
    buffer.copyWithin(0, start, filled);
  }
}

/** Fills `target` from `position` on; how many bytes there were. */
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
