/**
 * A model of a disk and of what it may hold after a crash. It promises no more than POSIX does:
 * - bytes of a file are durable after a datasync that began after they were written, else any
 *   subset of their pages may survive, each in any version it ever had, and the file's length may
 *   be any it ever had (so a tail may read as zeros);
 * - an entry (creation, rename, deletion) is durable after its directory was synced, whatever was
 *   synced in the file itself; before that any subset of the entries' changes may survive;
 * - after a failed datasync the pages it covered may be lost, though reads still show them, and a
 *   later datasync has nothing to do and succeeds.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { below, createRandom, type Random } from './random.ts';

/** What changed the disk, in order. `path` of data operations is there for people only. */
export type Operation =
  | { readonly kind: 'create'; readonly path: string; readonly node: number }
  | { readonly kind: 'make-directory'; readonly path: string; readonly node: number }
  | { readonly kind: 'write'; readonly path: string; readonly node: number;
    readonly position: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly node: number;
    readonly length: number }
  /** Covers what was written before operation `before`; survivors only when it failed. */
  | { readonly kind: 'datasync'; readonly path: string; readonly node: number;
    readonly before: number; readonly failure: Survival | null }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'sync-directory'; readonly path: string; readonly before: number };

/** What a crash leaves of unsynced changes. */
export type Survival =
  /** Only the process died: everything is seen, and what was not synced still is not. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'random'; readonly seed: number; readonly pageBytes: number };

type DataChange = { readonly index: number } & (
  | { readonly kind: 'write'; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly length: number }
);
type Node = {
  readonly isDirectory: boolean;
  readonly durable: Buffer;
  readonly current: Buffer;
  readonly pending: readonly DataChange[];
};
type EntryChange = {
  readonly index: number;
  readonly directory: string;
  readonly remove: string | null;
  readonly add: { readonly path: string; readonly node: number } | null;
};

const ROOT_NODE = 0;
// The index of changes that an earlier process made.
const BEFORE_ALL = -1;
const EMPTY = Buffer.alloc(0);

export class Disk {
  #nodes = new Map<number, Node>([[ROOT_NODE, emptyNode(true)]]);
  #entries = new Map<string, number>([['/', ROOT_NODE]]);
  #durableEntries = new Map<string, number>([['/', ROOT_NODE]]);
  #pendingEntries: readonly EntryChange[] = [];

  /** Nodes and buffers are never changed in place, so a copy is cheap. */
  clone(): Disk {
    const copy = new Disk();
    copy.#nodes = new Map(this.#nodes);
    copy.#entries = new Map(this.#entries);
    copy.#durableEntries = new Map(this.#durableEntries);
    copy.#pendingEntries = this.#pendingEntries;
    return copy;
  }

  get paths(): string[] {
    return [...this.#entries.keys()];
  }

  get nodeBound(): number {
    return Math.max(...this.#nodes.keys()) + 1;
  }

  /** Sum of the lengths of all files that have a name. */
  get bytesUsed(): number {
    const named = new Set(this.#entries.values());
    return [...named].reduce((sum, node) => sum + this.node(node).current.length, 0);
  }

  find(path: string): number | undefined {
    return this.#entries.get(path);
  }

  node(number: number): Node {
    const node = this.#nodes.get(number);
    assert.ok(node, `node ${number} exists`);
    return node;
  }

  /** A file as a reader sees it. */
  read(path: string): Buffer {
    return this.node(this.find(path) ?? -1).current;
  }

  /** Puts a file there as if it had always been there, or takes it away: damage from outside. */
  replace(path: string, bytes: Buffer | null): void {
    if (bytes === null) {
      this.#entries.delete(path);
      this.#durableEntries.delete(path);
      return;
    }
    const number = this.find(path) ?? this.nodeBound;
    this.#nodes.set(number, { isDirectory: false, durable: bytes, current: bytes, pending: [] });
    this.#entries.set(path, number);
    this.#durableEntries.set(path, number);
  }

  apply(operation: Operation, index: number): void {
    const { path } = operation;
    switch (operation.kind) {
      case 'create':
      case 'make-directory':
        this.#nodes.set(operation.node, emptyNode(operation.kind === 'make-directory'));
        return this.#changeEntry(index, path, null, { path, node: operation.node });
      case 'write':
      case 'truncate':
        return this.#changeData(operation.node, { ...operation, index });
      case 'datasync':
        return this.#datasync(operation.node, operation.before, operation.failure);
      case 'rename': {
        const node = this.find(path) ?? -1;
        assert.ok(!this.node(node).isDirectory, 'directories are not renamed here');
        return this.#changeEntry(index, operation.to, path, { path: operation.to, node });
      }
      case 'unlink':
        return this.#changeEntry(index, path, path, null);
      case 'sync-directory':
        return this.#syncDirectory(path, operation.before);
    }
  }

  /** The disk as the next start finds it. */
  crash(survival: Survival): Disk {
    if (survival.kind === 'kept') return this.#restart();
    const random = survival.kind === 'random' ? createRandom(survival.seed) : () => 0;
    const after = new Disk();
    after.#entries = this.#survivingEntries(survival, random);
    after.#durableEntries = new Map(after.#entries);
    for (const number of new Set(after.#entries.values())) {
      const node = this.node(number);
      const bytes = survivingBytes(node, survival, random);
      after.#nodes.set(number, { ...node, durable: bytes, current: bytes, pending: [] });
    }
    return after;
  }

  /** A text that tells this disk from others, what is durable on it included. */
  get digest(): string {
    const hash = createHash('sha1');
    const add = (name: 'current' | 'durable', entries: ReadonlyMap<string, number>): void => {
      for (const path of [...entries.keys()].sort()) {
        const bytes = this.node(entries.get(path) ?? -1)[name];
        hash.update(`${name}\0${path}\0${bytes.length}\0`).update(bytes);
      }
    };
    add('current', this.#entries);
    add('durable', this.#durableEntries);
    return hash.digest('hex');
  }

  #restart(): Disk {
    const after = this.clone();
    after.#pendingEntries = this.#pendingEntries
      .map((change) => ({ ...change, index: BEFORE_ALL }));
    for (const [number, node] of this.#nodes) {
      const pending = node.pending.map((change) => ({ ...change, index: BEFORE_ALL }));
      after.#nodes.set(number, { ...node, pending });
    }
    return after;
  }

  #survivingEntries(survival: Survival, random: Random): Map<string, number> {
    const entries = new Map(this.#durableEntries);
    if (survival.kind === 'random') {
      const keep = below(random, 3) / 2;
      for (const change of this.#pendingEntries) {
        if (random() < keep) applyEntry(entries, change);
      }
    }
    const isOrphan = (path: string): boolean =>
      path !== '/' && (!entries.has(dirname(path)) || isOrphan(dirname(path)));
    return new Map([...entries].filter(([path]) => !isOrphan(path)));
  }

  #changeEntry(
    index: number, inDirectoryOf: string, remove: string | null, add: EntryChange['add'],
  ): void {
    const change = { index, directory: dirname(inDirectoryOf), remove, add };
    applyEntry(this.#entries, change);
    this.#pendingEntries = [...this.#pendingEntries, change];
  }

  #syncDirectory(directory: string, before: number): void {
    const isCovered = (change: EntryChange): boolean =>
      change.directory === directory && change.index < before;
    for (const change of this.#pendingEntries.filter(isCovered)) {
      applyEntry(this.#durableEntries, change);
    }
    this.#pendingEntries = this.#pendingEntries.filter((change) => !isCovered(change));
  }

  #changeData(number: number, change: DataChange): void {
    const node = this.node(number);
    const current = changed(node.current, change);
    this.#nodes.set(number, { ...node, current, pending: [...node.pending, change] });
  }

  #datasync(number: number, before: number, failure: Survival | null): void {
    const node = this.node(number);
    const covered = node.pending.filter((change) => change.index < before);
    const pending = node.pending.filter((change) => change.index >= before);
    const random = failure?.kind === 'random' ? createRandom(failure.seed) : () => 0;
    const durable = failure === null || failure.kind === 'kept'
      ? covered.reduce(changed, node.durable)
      : survivingBytes({ ...node, pending: covered }, failure, random);
    this.#nodes.set(number, { ...node, durable, pending });
  }
}

function emptyNode(isDirectory: boolean): Node {
  return { isDirectory, durable: EMPTY, current: EMPTY, pending: [] };
}

function applyEntry(entries: Map<string, number>, change: EntryChange): void {
  if (change.remove !== null) entries.delete(change.remove);
  if (change.add !== null) entries.set(change.add.path, change.add.node);
}

function changed(bytes: Buffer, change: DataChange): Buffer {
  const length = lengthAfter(bytes.length, change);
  const result = Buffer.alloc(length);
  bytes.copy(result);
  if (change.kind === 'write') change.bytes.copy(result, change.position);
  return result;
}

function lengthAfter(length: number, change: DataChange): number {
  return change.kind === 'truncate'
    ? change.length : Math.max(length, change.position + change.bytes.length);
}

function survivingBytes(node: Node, survival: Survival, random: Random): Buffer {
  if (survival.kind === 'kept') return node.current;
  if (survival.kind === 'dropped' || node.pending.length === 0) return node.durable;
  const lengths = [node.durable.length];
  for (const change of node.pending) lengths.push(lengthAfter(lengths.at(-1) ?? 0, change));
  const result = Buffer.alloc(Math.max(...lengths));
  node.durable.copy(result);
  const versions = pageVersions(result.length, survival.pageBytes, lengths.length - 1, random);
  node.pending.forEach((change, index) => {
    const [start, end] = change.kind === 'write'
      ? [change.position, change.position + change.bytes.length] : [change.length, result.length];
    for (let at = start; at < end;) {
      const page = Math.floor(at / survival.pageBytes);
      const pageEnd = Math.min(end, (page + 1) * survival.pageBytes);
      if ((versions[page] ?? 0) > index) {
        if (change.kind === 'truncate') result.fill(0, at, pageEnd);
        else change.bytes.copy(result, at, at - start, pageEnd - start);
      }
      at = pageEnd;
    }
  });
  const length = random() < 0.5 ? lengths.at(-1) : lengths[below(random, lengths.length)];
  return result.subarray(0, length);
}

/** For each page how many of the pending changes reached the disk. */
function pageVersions(bytes: number, pageBytes: number, count: number, random: Random): number[] {
  const keep = below(random, 5) / 4;
  return Array.from({ length: Math.ceil(bytes / pageBytes) }, () =>
    random() < keep ? count : below(random, count));
}
