/**
 * The file calls of the store as one object, which tests replace by a simulated file system with
 * crashes, torn writes, failed syncs and full disks. Nothing else in `store/` may import `node:fs`,
 * except for passwords and keys that engines read. As in Node, calls that block end in `Sync`, and
 * errors have a `code`.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { isError, systemCodeOf } from '../../base/errors.ts';
import { promisify } from '../../base/node-modules.ts';

/** An open file. Its number means nothing to the store. */
export type Descriptor = number;

export type OpenMode =
  | 'read' // must exist
  | 'create' // must not exist; opened for reading and writing
  | 'append-existing'; // must exist; opened for reading and writing, positions are explicit

export interface Files {
  /** Opens `path`; a created file has mode 0600. */
  openSync(path: string, mode: OpenMode): Descriptor;
  closeSync(descriptor: Descriptor): void;
  /** Reads into `target` from `position`. Returns the count of bytes: 0 at the end of the file. */
  readSync(descriptor: Descriptor, target: Uint8Array, position: number): number;
  read(descriptor: Descriptor, target: Uint8Array, position: number): Promise<number>;
  /** Writes `source` at `position`. Returns the count of bytes, which may be lower. */
  writeSync(descriptor: Descriptor, source: Uint8Array, position: number): number;
  write(descriptor: Descriptor, source: Uint8Array, position: number): Promise<number>;
  datasyncSync(descriptor: Descriptor): void;
  datasync(descriptor: Descriptor): Promise<void>;
  truncateSync(descriptor: Descriptor, length: number): void;
  sizeSync(descriptor: Descriptor): number;
  /** The device and the inode number, which no other file has at the same time: `2049:131`. */
  identifySync(descriptor: Descriptor): string;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  /** Runs in the thread pool, as freeing the blocks of a large file can take long. */
  unlink(path: string): Promise<void>;
  /** The names of regular files in a directory, without links, in no order. */
  listSync(directory: string): string[];
  /** Whether a directory holds nothing: no file, folder or link. */
  isEmptySync(directory: string): boolean;
  /** Makes entries of a directory (creations, renames, deletions) durable. */
  syncDirectorySync(directory: string): void;
  syncDirectory(directory: string): Promise<void>;
  makeDirectorySync(path: string): void;
  /** Must be empty. */
  removeDirectorySync(path: string): void;
  existsSync(path: string): boolean;
  /** Opens a directory: until `close`, `path` leads there even when it is renamed or replaced. */
  openDirectorySync(path: string): { readonly path: string; close(): void };
}

const read = promisify(fs.read);
const write = promisify(fs.write);
const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);
const unlink = promisify(fs.unlink);

// O_NONBLOCK, so that opening a pipe in place of a file does not wait.
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
    writeSync(descriptor, source, position) {
      try {
        return fs.writeSync(descriptor, source, 0, source.length, position);
      } catch (error) {
        throw nameFile(descriptor, error);
      }
    },
    async write(descriptor, source, position) {
      try {
        return (await write(descriptor, source, 0, source.length, position)).bytesWritten;
      } catch (error) {
        throw nameFile(descriptor, error);
      }
    },
    datasyncSync: (descriptor) => fs.fdatasyncSync(descriptor),
    datasync: (descriptor) => fdatasync(descriptor),
    truncateSync: (descriptor, length) => fs.ftruncateSync(descriptor, length),
    sizeSync: (descriptor) => fs.fstatSync(descriptor).size,
    identifySync(descriptor) {
      // Some file systems use all 64 bits of the inode number.
      const { dev, ino } = fs.fstatSync(descriptor, { bigint: true });
      return `${dev}:${ino}`;
    },
    renameSync: (from, to) => fs.renameSync(from, to),
    unlinkSync: (path) => fs.unlinkSync(path),
    unlink: (path) => unlink(path),
    listSync: (directory) => fs.readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile()).map((entry) => entry.name),
    isEmptySync: (directory) => fs.readdirSync(directory).length === 0,
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

/** Adds the path of the file to an error of a write, which knows the descriptor alone. */
function nameFile(descriptor: Descriptor, error: unknown): unknown {
  if (!isError(error)) return error;
  try {
    const path = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
    return Object.assign(error, { path, message: `${error.message} '${path}'` });
  } catch {
    // The system has no /proc.
    return error;
  }
}

/**
 * Creates `path` and its missing parents, mode 0700. Node's own recursive mode never ends where the
 * system gives ENOENT for a directory whose parent exists, as /proc does.
 */
function makeDirectoriesSync(path: string): void {
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
    // Another process has created the directory meanwhile.
    if (systemCodeOf(error) !== 'EEXIST' || !fs.existsSync(path)) throw error;
  }
}
