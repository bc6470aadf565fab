/**
 * Every file call of the store, as one replaceable object, so that tests can stand a simulated
 * file system (crashes, torn writes, failed syncs, full disks) in its place. Nothing else in
 * `store/` may import `node:fs`, but for the passwords and keys that engines read. Errors are
 * Node's, with `code`.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import { promisify } from '../../base/node-modules.ts';

/** An open file. Descriptors are opaque to the store. */
export type Descriptor = number;

export type OpenMode =
  | 'read' // must exist
  | 'create' // must not exist; opened for reading and writing
  | 'append-existing'; // must exist; opened for reading and writing, positions are explicit

export interface Files {
  /** Opens `path`; a created file has mode 0600. */
  openSync(path: string, mode: OpenMode): Descriptor;
  closeSync(descriptor: Descriptor): void;
  /** Count of bytes read into `target` from `position`; may be fewer than asked, 0 at the end. */
  readSync(descriptor: Descriptor, target: Uint8Array, position: number): number;
  read(descriptor: Descriptor, target: Uint8Array, position: number): Promise<number>;
  /** Bytes written from `source` at `position`; may be fewer than given. */
  writeSync(descriptor: Descriptor, source: Uint8Array, position: number): number;
  write(descriptor: Descriptor, source: Uint8Array, position: number): Promise<number>;
  datasyncSync(descriptor: Descriptor): void;
  datasync(descriptor: Descriptor): Promise<void>;
  truncateSync(descriptor: Descriptor, length: number): void;
  truncate(descriptor: Descriptor, length: number): Promise<void>;
  sizeSync(descriptor: Descriptor): number;
  /** Count of the names of a file, hard links all. */
  linkCountSync(descriptor: Descriptor): number;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  /** In the thread pool: freeing the blocks of a large file can take long. */
  unlink(path: string): Promise<void>;
  /** Names in a directory, regular files only (never links), in no order. */
  listSync(directory: string): string[];
  /** Makes entries of a directory (creations, renames, deletions) durable. */
  syncDirectorySync(directory: string): void;
  syncDirectory(directory: string): Promise<void>;
  makeDirectorySync(path: string): void;
  /** Must be empty. */
  removeDirectorySync(path: string): void;
  existsSync(path: string): boolean;
  /** A directory as it is now, whatever takes its name later: `path` leads there until `close`. */
  openDirectorySync(path: string): { readonly path: string; close(): void };
}

const read = promisify(fs.read);
const write = promisify(fs.write);
const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);
const ftruncate = promisify(fs.ftruncate);
const unlink = promisify(fs.unlink);

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
    openSync: (path, mode) => fs.openSync(path, FLAGS[mode], 0o600),
    closeSync: (descriptor) => fs.closeSync(descriptor),
    readSync: (descriptor, target, position) =>
      fs.readSync(descriptor, target, 0, target.length, position),
    read: async (descriptor, target, position) =>
      (await read(descriptor, target, 0, target.length, position)).bytesRead,
    writeSync: (descriptor, source, position) =>
      fs.writeSync(descriptor, source, 0, source.length, position),
    write: async (descriptor, source, position) =>
      (await write(descriptor, source, 0, source.length, position)).bytesWritten,
    datasyncSync: (descriptor) => fs.fdatasyncSync(descriptor),
    datasync: (descriptor) => fdatasync(descriptor),
    truncateSync: (descriptor, length) => fs.ftruncateSync(descriptor, length),
    truncate: (descriptor, length) => ftruncate(descriptor, length),
    sizeSync: (descriptor) => fs.fstatSync(descriptor).size,
    linkCountSync: (descriptor) => fs.fstatSync(descriptor).nlink,
    renameSync: (from, to) => fs.renameSync(from, to),
    unlinkSync: (path) => fs.unlinkSync(path),
    unlink: (path) => unlink(path),
    listSync: (directory) => fs.readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile()).map((entry) => entry.name),
    syncDirectorySync(directory) {
      const descriptor = fs.openSync(directory, fs.constants.O_RDONLY);
      try {
        fs.fsyncSync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    },
    async syncDirectory(directory) {
      const descriptor = fs.openSync(directory, fs.constants.O_RDONLY);
      try {
        await fsync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    },
    makeDirectorySync: makeDirectoriesSync,
    removeDirectorySync: (path) => fs.rmdirSync(path),
    existsSync: (path) => fs.existsSync(path),
    openDirectorySync(path) {
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
export function makeDirectoriesSync(path: string): void {
  const missing: string[] = [];
  let current = path;
  while (!fs.existsSync(current) && dirname(current) !== current) {
    missing.unshift(current);
    current = dirname(current);
  }
  missing.forEach(makeOneDirectory);
}

function makeOneDirectory(path: string): void {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was quicker.
    if (systemCodeOf(error) !== 'EEXIST' || !fs.existsSync(path)) throw error;
  }
}
