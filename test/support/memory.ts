/** What the process holds, in bytes, once garbage is collected. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Buffers outside the heap included. */
export function heldBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** What a body of `bytes` may hold, with room for what else the process does meanwhile. */
export function heldBytesMax(bytes: number): number {
  return 2 * bytes + 65_536 + 1_048_576;
}

/** `count` one-byte chunks of a chunked body. */
export function oneByteChunks(count: number): Buffer {
  return Buffer.from('1\r\nx\r\n'.repeat(count));
}
