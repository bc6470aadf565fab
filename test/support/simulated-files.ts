/**
 * The store's file calls over a simulated disk. Records every change, so that a test can cut the
 * history anywhere and open what a crash there would have left; fails calls when told to.
 */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import type { Descriptor, Files, OpenMode } from '../../src/store/disk/files.ts';
import { Disk, type Operation, type Survival } from './simulated-disk.ts';

export type CallKind =
  | 'open' | 'read' | 'write' | 'datasync' | 'truncate' | 'rename' | 'unlink' | 'list'
  | 'sync-directory' | 'make-directory';

/** A call about to run. `bytes` is the length that is read, written or truncated to, else 0. */
export type Call = {
  readonly kind: CallKind;
  readonly path: string;
  readonly bytes: number;
  readonly isAsync: boolean;
};

/**
 * What goes wrong: `bytes` read or written before `code` is thrown, or a short count where there
 * is no code; `survival` of what a failed datasync covered.
 */
export type Fault = {
  readonly code?: string;
  readonly bytes?: number;
  readonly survival?: Survival;
};

type Open = { readonly node: number; readonly path: string; readonly mode: OpenMode };

export class SimulatedFiles implements Files {
  readonly history: Operation[] = [];
  readonly initial: Disk;
  readonly disk: Disk;
  /** Asked before every call; null lets it run. */
  onCall: (call: Call) => Fault | null = () => null;
  bytesMax = Infinity;
  /** Turns of the event loop that an asynchronous call takes. */
  turnsOf: (kind: CallKind) => number = () => 1;
  #open = new Map<Descriptor, Open>();
  #nextDescriptor = 3;

  constructor(disk: Disk = new Disk()) {
    this.initial = disk.clone();
    this.disk = disk;
  }

  get openPaths(): string[] {
    return [...this.#open.values()].map(({ path }) => path);
  }

  openSync(path: string, mode: OpenMode): Descriptor {
    this.#run('open', path);
    const existing = this.disk.find(path);
    if (mode === 'create') {
      this.#findDirectory(dirname(path));
      if (existing !== undefined) throw systemError('EEXIST', 'open', path);
      this.#record({ kind: 'create', path, node: this.disk.nodeBound });
    } else if (existing === undefined) {
      throw systemError('ENOENT', 'open', path);
    }
    const descriptor = this.#nextDescriptor++;
    this.#open.set(descriptor, { node: this.disk.find(path) ?? -1, path, mode });
    return descriptor;
  }

  closeSync(descriptor: Descriptor): void {
    if (!this.#open.delete(descriptor)) throw systemError('EBADF', 'close', String(descriptor));
  }

  readSync(descriptor: Descriptor, target: Uint8Array, position: number, isAsync = false): number {
    const { node, path } = this.#opened(descriptor, 'read');
    const fault = this.#run('read', path, target.length, isAsync);
    const bytes = this.disk.node(node).current.subarray(position, position + target.length);
    return bytes.subarray(0, fault?.bytes ?? bytes.length).copy(target);
  }

  async read(descriptor: Descriptor, target: Uint8Array, position: number): Promise<number> {
    await this.#turns('read');
    return this.readSync(descriptor, target, position, true);
  }

  writeSync(descriptor: Descriptor, source: Uint8Array, position: number, isAsync = false): number {
    const { node, path, mode } = this.#opened(descriptor, 'write');
    if (mode === 'read') throw systemError('EBADF', 'write', path);
    const fault = this.onCall({ kind: 'write', path, bytes: source.length, isAsync });
    const growth = position + source.length - this.disk.node(node).current.length;
    const missing = Math.max(0, Math.min(growth, this.disk.bytesUsed + growth - this.bytesMax));
    const room = Math.max(0, source.length - missing);
    const count = Math.min(room, fault?.bytes ?? (fault?.code === undefined ? room : 0));
    const bytes = Buffer.from(source.subarray(0, count));
    if (count > 0) this.#record({ kind: 'write', path, node, position, bytes });
    if (fault?.code !== undefined) throw systemError(fault.code, 'write', path);
    if (count === 0 && source.length > 0) throw systemError('ENOSPC', 'write', path);
    return count;
  }

  async write(descriptor: Descriptor, source: Uint8Array, position: number): Promise<number> {
    const given = Buffer.from(source);
    await this.#turns('write');
    assert.ok(given.equals(source), 'the bytes of a write under way do not change');
    return this.writeSync(descriptor, source, position, true);
  }

  datasyncSync(descriptor: Descriptor): void {
    this.#datasync(descriptor, this.history.length, false);
  }

  async datasync(descriptor: Descriptor): Promise<void> {
    const before = this.history.length;
    await this.#turns('datasync');
    this.#datasync(descriptor, before, true);
  }

  truncateSync(descriptor: Descriptor, length: number): void {
    const { node, path, mode } = this.#opened(descriptor, 'truncate');
    if (mode === 'read') throw systemError('EINVAL', 'truncate', path);
    this.#run('truncate', path, length);
    this.#record({ kind: 'truncate', path, node, length });
  }

  sizeSync(descriptor: Descriptor): number {
    return this.disk.node(this.#opened(descriptor, 'stat').node).current.length;
  }

  identifySync(descriptor: Descriptor): string {
    return `0:${this.#opened(descriptor, 'stat').node}`;
  }

  renameSync(from: string, to: string): void {
    this.#run('rename', from);
    if (this.disk.find(from) === undefined) throw systemError('ENOENT', 'rename', from);
    this.#findDirectory(dirname(to));
    this.#record({ kind: 'rename', path: from, to });
  }

  unlinkSync(path: string): void {
    this.#run('unlink', path);
    if (this.disk.find(path) === undefined) throw systemError('ENOENT', 'unlink', path);
    this.#record({ kind: 'unlink', path });
  }

  async unlink(path: string): Promise<void> {
    await this.#turns('unlink');
    this.unlinkSync(path);
  }

  listSync(directory: string): string[] {
    this.#run('list', directory);
    this.#findDirectory(directory);
    return this.disk.paths
      .filter((path) => path !== '/' && dirname(path) === directory)
      .filter((path) => !this.disk.node(this.disk.find(path) ?? -1).isDirectory)
      .map((path) => path.slice(directory.length + 1));
  }

  isEmptySync(directory: string): boolean {
    this.#run('list', directory);
    this.#findDirectory(directory);
    return !this.disk.paths.some((path) => path !== '/' && dirname(path) === directory);
  }

  syncDirectorySync(directory: string, before = this.history.length, isAsync = false): void {
    this.#run('sync-directory', directory, 0, isAsync);
    this.#findDirectory(directory);
    this.#record({ kind: 'sync-directory', path: directory, before });
  }

  async syncDirectory(directory: string): Promise<void> {
    // What changes while the sync runs is not covered by it.
    const before = this.history.length;
    await this.#turns('sync-directory');
    this.syncDirectorySync(directory, before, true);
  }

  makeDirectorySync(path: string): void {
    this.#run('make-directory', path);
    if (this.disk.find(path) !== undefined) return;
    this.makeDirectorySync(dirname(path));
    this.#record({ kind: 'make-directory', path, node: this.disk.nodeBound });
  }

  removeDirectorySync(path: string): void {
    assert.deepEqual(this.listSync(path), []);
    this.unlinkSync(path);
  }

  openDirectorySync(path: string): ReturnType<Files['openDirectorySync']> {
    return { path, close: () => {} };
  }

  existsSync(path: string): boolean {
    return this.disk.find(path) !== undefined;
  }

  #datasync(descriptor: Descriptor, before: number, isAsync: boolean): void {
    const { node, path } = this.#opened(descriptor, 'datasync');
    const fault = this.onCall({ kind: 'datasync', path, bytes: 0, isAsync });
    const failure = fault === null ? null : fault.survival ?? { kind: 'dropped' };
    this.#record({ kind: 'datasync', path, node, before, failure });
    if (fault !== null) throw systemError(fault.code ?? 'EIO', 'fdatasync', path);
  }

  async #turns(kind: CallKind): Promise<void> {
    for (let turn = this.turnsOf(kind); turn > 0; turn--) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }

  #run(kind: CallKind, path: string, bytes = 0, isAsync = false): Fault | null {
    const fault = this.onCall({ kind, path, bytes, isAsync });
    if (fault?.code !== undefined) throw systemError(fault.code, kind, path);
    return fault;
  }

  #record(operation: Operation): void {
    this.disk.apply(operation, this.history.length);
    this.history.push(operation);
  }

  #opened(descriptor: Descriptor, call: string): Open {
    const open = this.#open.get(descriptor);
    if (open === undefined) throw systemError('EBADF', call, String(descriptor));
    return open;
  }

  #findDirectory(path: string): void {
    const node = this.disk.find(path);
    if (node === undefined) throw systemError('ENOENT', 'open', path);
    if (!this.disk.node(node).isDirectory) throw systemError('ENOTDIR', 'open', path);
  }
}

/**
 * A moment at which the power may fail: after `index` operations, and where `tornBytes` is a
 * number after so many bytes of the write that follows. `disk` is only good until the next cut.
 */
export type Cut = {
  readonly index: number;
  readonly tornBytes: number | null;
  readonly disk: Disk;
};

export type CutOptions = {
  /** The first and the last moment that count. */
  readonly from?: number;
  readonly until?: number;
  /** Every how many bytes a write is torn; 1 is every byte. */
  readonly tornEvery?: number;
};

/** Every moment of a history, beginning with the one before its first operation. */
export function* cuts(
  files: Pick<SimulatedFiles, 'initial' | 'history'>,
  { from = 0, until = Infinity, tornEvery = 1 }: CutOptions = {},
): Generator<Cut> {
  const disk = files.initial.clone();
  for (const [index, operation] of files.history.entries()) {
    if (index > until) return;
    if (index >= from) yield { index, tornBytes: null, disk };
    if (operation.kind === 'write' && index >= from) {
      const { length } = operation.bytes;
      for (let tornBytes = tornEvery; tornBytes < length; tornBytes += tornEvery) {
        const torn = disk.clone();
        torn.apply({ ...operation, bytes: operation.bytes.subarray(0, tornBytes) }, index);
        yield { index, tornBytes, disk: torn };
      }
    }
    disk.apply(operation, index);
  }
  if (files.history.length <= until) {
    yield { index: files.history.length, tornBytes: null, disk };
  }
}

function systemError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${call} '${path}'`), { code, syscall: call });
}
