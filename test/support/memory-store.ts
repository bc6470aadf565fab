/**
 * A store in memory behind the same port: what is transacted is staged, and committed in the next
 * turn of the loop, so that tests see staged and committed state apart. Every transaction is run
 * twice, as the port allows, and has to stage the same both times. What is staged as implied has to
 * be what the record before it implies, byte for byte: a journal would not hold it.
 */
import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.ts';
import type {
  Change, Collection, CollectionSpec, Store, StoredRecord, Transaction, Walk, WalkStart,
} from '../../src/store/store-port.ts';

export type MemoryStore = Store & {
  /** Makes the batch that is staged now, or next, fail. */
  failNextBatch(error: AppError): void;
  /** From here on every batch fails, until it is told null. */
  setFailure(error: AppError | null): void;
  /** Has batches wait, as for a slow disk, until the result is called. */
  holdBatches(): () => void;
  /** Every committed line: what each transaction staged. */
  readonly lines: readonly (readonly Operation[])[];
};

export type Operation = {
  readonly collection: string; readonly id: string; readonly json: string | null;
};

/** Those that were staged as implied. */
const impliedOperations = new WeakSet<Operation>();

type Reservation = { readonly resource: string; readonly amount: number };

type Entry = {
  readonly operations: readonly Operation[];
  readonly reservations: readonly Reservation[];
  readonly commit: () => void;
  readonly reject: (error: Error) => void;
};

export function createMemoryStore(specs: readonly CollectionSpec[]): MemoryStore {
  const collections = new Map(specs.map((spec) => [spec.name, new MemoryCollection(spec)]));
  const lines: (readonly Operation[])[] = [];
  let staged: Entry[] = [];
  // Of all entries: made anew for each transaction they would take square time.
  let stagedOperations: Operation[] = [];
  let batchError: AppError | null = null;
  let failure: AppError | null = null;
  const failureListeners = new Set<(reason: string | null) => void>();
  let isHeld = false;

  const get = (name: string): MemoryCollection => {
    const collection = collections.get(name);
    if (collection === undefined) throw new Error(`no collection ${name}`);
    return collection;
  };
  const flush = (): void => {
    if (isHeld) return;
    const entries = staged;
    const error = failure ?? batchError;
    staged = [];
    stagedOperations = [];
    batchError = null;
    for (const { operations, commit, reject } of entries) {
      if (error !== null) {
        reject(error);
        continue;
      }
      if (operations.length > 0) lines.push(operations);
      for (const { collection, id, json } of operations) get(collection).apply(id, json);
      commit();
    }
  };
  return {
    collection: get,
    replica: null,
    lines,
    failNextBatch(error) {
      batchError = error;
    },
    setFailure(error) {
      failure = error;
      for (const listener of failureListeners) listener(error?.message ?? null);
    },
    holdBatches() {
      isHeld = true;
      return () => {
        isHeld = false;
        flush();
      };
    },
    onFailure(listener) {
      failureListeners.add(listener);
      return () => void failureListeners.delete(listener);
    },
    transact: (prepare) => new Promise((resolve, reject) => {
      const operations: Operation[] = [];
      const before = stagedOperations;
      const reservedBefore = staged.flatMap((entry) => entry.reservations);
      const rehearsed: Operation[] = [];
      prepare(transactionOver(get, { before, operations: rehearsed,
        reservations: [...reservedBefore] }));
      const reservations = [...reservedBefore];
      const result = prepare(transactionOver(get, { before, operations, reservations }));
      checkImplied(get, operations);
      assert.deepEqual(operations, rehearsed, 'a transaction that ran again staged something else');
      if (staged.length === 0) setImmediate(flush);
      staged.push({
        operations, reservations: reservations.slice(reservedBefore.length),
        commit: () => resolve(result), reject,
      });
      stagedOperations.push(...operations);
    }),
    changes: {
      follow: () => () => {},
      since: async () => null,
    },
    get failure() { return failure?.message ?? null; },
    checkWritable() {
      if (failure !== null) throw failure;
    },
    get statistics() {
      return {
        sequence: lines.length, generation: 1, batches: lines.length, transactions: lines.length,
        journalBytes: 0, isCompacting: false, compactedMs: null,
      };
    },
    compact: async () => {},
    close: async () => {},
  };
}

function checkImplied(
  get: (name: string) => MemoryCollection, operations: readonly Operation[],
): void {
  const isImplied = (operation: Operation | undefined): boolean =>
    operation !== undefined && impliedOperations.has(operation);
  for (const [index, operation] of operations.entries()) {
    if (isImplied(operation) || !isImplied(operations[index + 1])) continue;
    const rest = operations.slice(index + 1);
    const end = rest.findIndex((other) => !isImplied(other));
    const implied = end === -1 ? rest : rest.slice(0, end);
    const { collection, json } = operation;
    const made = get(collection).spec.imply?.(Buffer.from(json ?? ''));
    assert.deepEqual(implied, made?.map(({ bytes, ...other }) =>
      ({ ...other, json: String(bytes) })), `what a record of ${collection} implies`);
  }
}

function transactionOver(
  get: (name: string) => MemoryCollection,
  { before, operations, reservations }: {
    readonly before: readonly Operation[]; readonly operations: Operation[];
    readonly reservations: Reservation[];
  },
): Transaction {
  const find = (collection: string, id: string): Buffer | undefined => {
    const isSame = (operation: Operation): boolean =>
      operation.collection === collection && operation.id === id;
    const last = operations.findLast(isSame) ?? before.findLast(isSame);
    if (last === undefined) return get(collection).find(id)?.bytes;
    return last.json === null ? undefined : Buffer.from(last.json);
  };
  const findHolder = (
    name: string, members: readonly string[], value: string, except?: string,
  ): string | undefined => {
    const ids = new Set([...get(name).ids, ...before.map(({ id }) => id),
      ...operations.map(({ id }) => id)]);
    return [...ids].find((id) => {
      const bytes = id === except ? undefined : find(name, id);
      return bytes !== undefined && members.some((member) => memberOf(bytes, member) === value);
    });
  };
  return {
    find,
    findId(collection, name) {
      if (find(collection, name) !== undefined) return name;
      const { hasNames = false, unique = [] } = get(collection).spec;
      return hasNames ? findHolder(collection, unique, name) : undefined;
    },
    listIds(collection, prefix = '') {
      const ids = new Set([...get(collection).ids,
        ...[...before, ...operations].filter((operation) => operation.collection === collection)
          .map(({ id }) => id)]);
      return [...ids].filter((id) => id.startsWith(prefix) && id !== prefix
        && find(collection, id) !== undefined).sort();
    },
    * listStaged(collection) {
      const latest = new Map([...before, ...operations]
        .filter((operation) => operation.collection === collection)
        .map((operation) => [operation.id, operation]));
      for (const { id, json } of latest.values()) {
        yield { collection, id, bytes: json === null ? null : Buffer.from(json) };
      }
    },
    put(collection, id, given, isImplied = false) {
      const json = given.toString();
      const bytes = Buffer.from(json);
      const { key, unique = [] } = get(collection).spec;
      if (!json.startsWith(`{"${key}":"${id}"`)) throw new Error(`${json} has not the key ${id}`);
      assert(!json.includes('\n'), 'a record is one line');
      for (const member of unique) {
        const value = memberOf(bytes, member);
        if (value !== undefined && findHolder(collection, unique, value, id) !== undefined) {
          throw new AppError('conflict', `${member} ${value} is taken`);
        }
      }
      const operation = { collection, id, json };
      operations.push(operation);
      if (isImplied) impliedOperations.add(operation);
      return { bytes, representation: undefined };
    },
    delete(collection, id) {
      if (find(collection, id) === undefined) return false;
      operations.push({ collection, id, json: null });
      return true;
    },
    reserve: (resource, amount) => void reservations.push({ resource, amount }),
    countReserved: (resource) => reservations.reduce((sum, reservation) =>
      reservation.resource === resource ? sum + reservation.amount : sum, 0),
  };
}

function memberOf(bytes: Buffer, member: string): string | undefined {
  const value: unknown = JSON.parse(bytes.toString())[member];
  return typeof value === 'string' ? value : undefined;
}

class MemoryCollection implements Collection {
  readonly spec: CollectionSpec;
  readonly #records: ({ readonly id: string; readonly record: StoredRecord } | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  /** Keys in order, until the next one comes or goes. */
  #order: readonly string[] | null = null;
  readonly #listeners = new Set<(change: Change, slot: number) => void>();

  constructor(spec: CollectionSpec) {
    this.spec = spec;
  }

  get size(): number { return this.#slots.size; }
  get slotBound(): number { return this.#records.length; }
  get ids(): Iterable<string> { return this.#slots.keys(); }
  get bytesTotal(): number {
    return this.#records.reduce((sum, entry) => sum + (entry?.record.bytes.length ?? 0), 0);
  }

  get idByName(): ReadonlyMap<string, string> {
    const { hasNames = false, unique = [] } = this.spec;
    if (!hasNames) return new Map();
    return new Map([...this.ids].flatMap((id) => unique.flatMap((member) => {
      const value = memberOf(this.findBytes(id) ?? Buffer.from('{}'), member);
      return value === undefined ? [] : [[value, id] as const];
    })));
  }

  find(id: string): StoredRecord | undefined {
    return this.#records[this.findSlot(id)]?.record;
  }

  findBytes(id: string): Buffer | undefined { return this.find(id)?.bytes; }

  findSlot(id: string): number { return this.#slots.get(id) ?? -1; }
  bytesAt(slot: number): Buffer | undefined { return this.#records[slot]?.record.bytes; }
  idAt(slot: number): string | undefined { return this.#records[slot]?.id; }

  walk(from: WalkStart = {}): Walk {
    const isDescending = from.isDescending === true;
    let after = from.after ?? null;
    const next = (): number => {
      const start = after;
      const id = isDescending
        ? this.#sorted().findLast((candidate) => start === null || candidate < start)
        : this.#firstAfter(start);
      if (id === undefined) return -1;
      after = id;
      return this.findSlot(id);
    };
    const nextRuns = (bytesMax: number): readonly Buffer[] => {
      const runs: Buffer[] = [];
      for (let bytes = 0; bytes < bytesMax;) {
        const record = this.bytesAt(next());
        if (record === undefined) break;
        runs.push(...runs.length > 0 ? [Buffer.from(',\n')] : [], record);
        bytes += record.length;
      }
      return runs;
    };
    return { next, nextSlices: nextRuns };
  }

  onChange(listener: (change: Change, slot: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #sorted(): readonly string[] {
    this.#order ??= [...this.#slots.keys()].sort();
    return this.#order;
  }

  #firstAfter(start: string | null): string | undefined {
    const ids = this.#sorted();
    let low = 0;
    for (let high = ids.length; low < high;) {
      const middle = (low + high) >> 1;
      if (start === null || (ids[middle] ?? '') > start) high = middle;
      else low = middle + 1;
    }
    return ids[low];
  }

  apply(id: string, json: string | null): void {
    const found = this.findSlot(id);
    const slot = found === -1 ? this.#records.length : found;
    const before = this.bytesAt(slot) ?? null;
    const after = json === null ? null : Buffer.from(json);
    this.#records[slot] = after === null
      ? undefined : { id, record: { bytes: after, representation: undefined } };
    if (before === null || after === null) this.#order = null;
    if (after === null) this.#slots.delete(id);
    else this.#slots.set(id, slot);
    const change = { collection: this.spec.name, id, before, after };
    for (const listener of this.#listeners) listener(change, slot);
  }
}
