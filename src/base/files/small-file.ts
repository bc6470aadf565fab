/** Files that people name: keys, certificates, tokens, passwords. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** None of these is larger. */
const BYTES_MAX = 1 << 20;

/**
 * All bytes of the file, which may be a pipe unless `isAtOnce`: a server that runs must not wait
 * for what somebody else may put there. Throws what the system throws, and an error for one that is
 * too large: a device such as /dev/zero would be read until the machine has no memory left.
 */
export function readSmallFile(path: string, isAtOnce = false): Buffer {
  const descriptor = openSync(path, isAtOnce ? constants.O_NONBLOCK : 'r');
  try {
    if (isAtOnce && !fstatSync(descriptor).isFile()) throw new Error(`${path} is no file`);
    const bytes = Buffer.alloc(BYTES_MAX + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      if (count === 0) return Buffer.from(bytes.subarray(0, length));
      length += count;
    }
  } finally {
    closeSync(descriptor);
  }
  throw new Error(`it is larger than ${BYTES_MAX} bytes`);
}
