/**
 * Files that people name: values of options, settings, keys, tokens, passwords. They are read whole
 * and never beyond a limit, since a device such as /dev/zero, or a pipe, need not have an end.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { AppError, systemCodeOf } from '../errors.ts';
import { ByteCollector } from '../structures/byte-collector.ts';

/** The limit for a secret, a token or a password, and for a text that may hold one: a URL. */
export const SECRET_FILE_BYTES_MAX = 8192;
/** The limit for settings, headers, keys and certificates. */
export const CONFIGURATION_BYTES_MAX = 1 << 20;
/** The limit for a configuration document, as a file and as a request: it has all records. */
export const DOCUMENT_BYTES_MAX = 16 << 20;

type ReadOptions = {
  readonly bytesMax: number;
  /**
   * Refuses a pipe, a device and a folder: for what a running server reads, which must not wait,
   * and for what must still be there when it is read again. Else a pipe is waited for.
   */
  readonly isRegular?: boolean;
};

const CHUNK_BYTES = 65_536;

/**
 * All bytes of a file, and what the system says of it. Throws `too_large` for more than `bytesMax`,
 * `invalid` for what is no regular file where it must be one, and what the system throws.
 */
export function readBounded(
  path: string, { bytesMax, isRegular = false }: ReadOptions,
): { readonly bytes: Buffer; readonly status: Stats } {
  const { descriptor, isOurs } = openBounded(path, isRegular);
  try {
    const status = fstatSync(descriptor);
    if (isRegular && !status.isFile()) {
      throw new AppError('invalid', `${path} is not a regular file`);
    }
    return { bytes: readDescriptor(descriptor, bytesMax), status };
  } finally {
    if (isOurs) closeSync(descriptor);
  }
}

export function createTooLargeError(bytesMax: number): AppError {
  return new AppError('too_large', `it is larger than ${bytesMax} bytes`);
}

function readDescriptor(descriptor: number, bytesMax: number): Buffer {
  const bytes = new ByteCollector();
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytesMax + 1));
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return bytes.take();
    bytes.add(chunk.subarray(0, count));
    if (bytes.length > bytesMax) throw createTooLargeError(bytesMax);
  }
}

function openBounded(
  path: string, isRegular: boolean,
): { readonly descriptor: number; readonly isOurs: boolean } {
  try {
    // Opening a pipe would wait for its writer.
    const flags = isRegular ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_RDONLY;
    return { descriptor: openSync(path, flags), isOurs: true };
  } catch (thrown) {
    // Linux opens no socket by a name, and some programs give us one as standard input.
    const descriptor = systemCodeOf(thrown) === 'ENXIO' ? findDescriptor(path) : null;
    if (descriptor === null || isRegular) throw thrown;
    return { descriptor, isOurs: false };
  }
}

/** The open descriptor that a path stands for; null for another path. */
function findDescriptor(path: string): number | null {
  if (path === '/dev/stdin') return 0;
  const number = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1];
  return number === undefined ? null : Number(number);
}
