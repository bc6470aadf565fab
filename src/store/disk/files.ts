/**
 * Every file call of the store, as one replaceable object, so that tests can stand a simulated
 * file system (crashes, torn writes, failed syncs, full disks) in its place. Nothing else in
 * `store/` may import `node:fs`, but for the passwords and keys that engines read. Errors are
 * Node's, with `code`.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { systemCodeOf } from '../../base/errors.ts';

/** An open file. Descriptors are opaque to the store. */
export type Descriptor = number;

export type OpenMode =
  | 'read' // must exist
  | 'create' // must not exist; opened for reading and writing
  | 'append-existing'; // must exist; opened for reading and writing, positions are explicit

export interface Files {
  /** Opens `path`; a created file has mode 0600. */
  open(path: string, mode: OpenMode): Descriptor;
  close(descriptor: Descriptor): void;
  /** Count of bytes read into `target` from `position`; may be fewer than asked, 0 at the end. */
  read(descriptor: Descriptor, target: Uint8Array, position: number): number;
  readAsync(descriptor: Descriptor, target: Uint8Array, position: number): Promise<number>;
  /** Bytes written from `source` at `position`; may be fewer than given. */
  write(descriptor: Descriptor, source: Uint8Array, position: number): number;
  writeAsync(descriptor: Descriptor, source: Uint8Array, position: number): Promise<number>;
  datasync(descriptor: Descriptor): void;
  datasyncAsync(descriptor: Descriptor): Promise<void>;
  truncate(descriptor: Descriptor, length: number): void;
  truncateAsync(descriptor: Descriptor, length: number): Promise<void>;
  sizeOf(descriptor: Descriptor): number;
  /** Count of the names of a file, hard links all. */
  linksOf(descriptor: Descriptor): number;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** In the thread pool: freeing the blocks of a large file can take long. */
  unlinkAsync(path: string): Promise<void>;
  /** Names in a directory, regular files only (never links), in no order. */
  list(directory: string): string[];
  /** Makes entries of a directory (creations, renames, deletions) durable. */
  syncDirectory(directory: string): void;
  syncDirectoryAsync(directory: string): Promise<void>;
  makeDirectory(path: string): void;
  /** Must be empty. */
  removeDirectory(path: string): void;
  exists(path: string): boolean;
  /** A directory as it is now, whatever takes its name later: `path` leads there until `close`. */
  openDirectory(path: string): { readonly path: string; close(): void };
}

const readAsync = promisify(fs.read);
const writeAsync = promisify(fs.write);
const datasyncAsync = promisify(fs.fdatasync);
const syncAsync = promisify(fs.fsync);
const truncateAsync = promisify(fs.ftruncate);
const unlinkAsync = promisify(fs.unlink);

// A pipe in the place of a file is never waited at.
const EXISTING = fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
const FLAGS: Readonly<Record<OpenMode, number>> = {
  'read': fs.constants.O_RDONLY | EXISTING,
  'create': fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL,
  'append-existing': fs.constants.O_RDWR | EXISTING,
};

/** The real file system. */
export function createNodeFiles(): Files {
  return {
    open: (path, mode) => fs.openSync(path, FLAGS[mode], 0o600),
    close: (descriptor) => fs.closeSync(descriptor),
    read: (descriptor, target, position) =>
      fs.readSync(descriptor, target, 0, target.length, position),
    readAsync: async (descriptor, target, position) =>
      (await readAsync(descriptor, target, 0, target.length, position)).bytesRead,
    write: (descriptor, source, position) =>
      fs.writeSync(descriptor, source, 0, source.length, position),
    writeAsync: async (descriptor, source, position) =>
      (await writeAsync(descriptor, source, 0, source.length, position)).bytesWritten,
    datasync: (descriptor) => fs.fdatasyncSync(descriptor),
    datasyncAsync: (descriptor) => datasyncAsync(descriptor),
    truncate: (descriptor, length) => fs.ftruncateSync(descriptor, length),
    truncateAsync: (descriptor, length) => truncateAsync(descriptor, length),
    sizeOf: (descriptor) => fs.fstatSync(descriptor).size,
    linksOf: (descriptor) => fs.fstatSync(descriptor).nlink,
    rename: (from, to) => fs.renameSync(from, to),
    unlink: (path) => fs.unlinkSync(path),
    unlinkAsync: (path) => unlinkAsync(path),
    list: (directory) => fs.readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile()).map((entry) => entry.name),
    syncDirectory(directory) {
      const descriptor = fs.openSync(directory, fs.constants.O_RDONLY);
      try {
        fs.fsyncSync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    },
    async syncDirectoryAsync(directory) {
      const descriptor = fs.openSync(directory, fs.constants.O_RDONLY);
      try {
        await syncAsync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    },
    makeDirectory: makeDirectories,
    removeDirectory: (path) => fs.rmdirSync(path),
    exists: (path) => fs.existsSync(path),
    openDirectory(path) {
      const descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
      const own = `/proc/self/fd/${descriptor}`;
      const close = (): void => fs.closeSync(descriptor);
      return { path: fs.existsSync(own) ? own : path, close };
    },
  };
}

/**
 * Makes `path` and what is missing above it, mode 0700. Node's own recursive way never ends where
 * the system answers ENOENT for a folder that has its parent, as /proc does.
 */
export function makeDirectories(path: string): void {
  const missing: string[] = [];
  let current = path;
  while (!fs.existsSync(current) && dirname(current) !== current) {
    missing.unshift(current);
    current = dirname(current);
  }
  missing.forEach(makeOne);
}

function makeOne(path: string): void {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was quicker.
    if (systemCodeOf(error) !== 'EEXIST' || !fs.existsSync(path)) throw error;
  }
}
