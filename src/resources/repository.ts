/**
 * The repository of a resource creates, reads, replaces, patches and deletes its records. A write
 * parses the body by the model's schema, sets the timestamps and stores the record in one
 * transaction. A new record is encoded before its transaction. A replacement or patch is encoded
 * within it, as it depends on the stored record, which the caller's precondition is asked about.
 * `RecordStager` stages both.
 */
import { assert } from '../base/assert.ts';
import { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/schema.ts';
import type {
  Change, Collection, Store, Transaction, TransactionInputs,
} from '../store/store-port.ts';
import { resolveKey } from '../store/find-record.ts';
import { notFoundError } from './not-found.ts';
import { decodeRecord, putNextVersion, readUpdatedMs } from './record.ts';
import {
  RecordStager, type RecordBefore, type RecordVersion, type StagerOptions,
} from './record-stager.ts';
import { RemovedRecords } from './removed-records.ts';
import {
  createRepresentation, encodePublicRecord, getRepresentation, type PublicRecord,
  type Representation,
} from './representation.ts';

/** Called inside the transaction with the stored record; throws to make the write fail. */
export type Precondition = (current: Representation) => void;

export type WriteOptions = {
  /** How many webhooks a chain to this write has gone through: see base/webhook-chain.ts. */
  readonly hops?: number;
  /**
   * Called inside the transaction with each record that it changes; the last call for a record
   * counts, as a transaction may run again.
   */
  readonly onStaged?: (change: Change) => void;
};

/** Called inside the transaction that adds the record. */
type OnAdded = (transaction: Transaction, representation: Representation) => void;

type ChangeMembers = (record: JsonObject, nowMs: number) => JsonObject;

export type RepositoryOptions = StagerOptions & {
  readonly store: Store;
  /** Awaited once a removal is on disk. */
  readonly afterRemoved?: (id: string) => Promise<void>;
};

/**
 * `idOrName` may be a name of the record where the collection has names. A write also throws what
 * the store's `transact` and the repository's `stageWithChange` throw.
 */
export class Repository {
  /** Stages writes in a transaction of the caller's, who awaits `afterRemoved` after it. */
  readonly stager: RecordStager;
  readonly #options: RepositoryOptions;
  readonly #records: Collection;
  readonly #removedRecords: RemovedRecords;

  constructor(options: RepositoryOptions) {
    const { store, clock, resource: { noun, collection } } = options;
    this.stager = new RecordStager(options);
    this.#options = options;
    this.#records = store.collection(collection.name);
    this.#removedRecords = new RemovedRecords(noun, clock,
      collection.hasNames === true ? collection.unique : []);
  }

  get size(): number {
    return this.#records.size;
  }

  /** The keys of the records after the key `after`, in order. */
  *ids(after: string | null = null): IterableIterator<string> {
    const walk = this.#records.walk({ after });
    const next = (): string | undefined => this.#records.idAt(walk.next());
    for (let id = next(); id !== undefined; id = next()) yield id;
  }

  /** Finds a record as lists show it; null: there is none with this key. */
  findListed(id: string): PublicRecord | null {
    const bytes = this.#records.findBytes(id);
    return bytes === undefined ? null
      : { id, bytes: encodePublicRecord(this.#options.resource, bytes) };
  }

  find(idOrName: string): Representation | undefined {
    const { resource } = this.#options;
    const { hasNames = false } = resource.collection;
    const id = hasNames ? resolveKey(this.#records, idOrName) ?? idOrName : idOrName;
    const storedRecord = this.#records.find(id);
    return storedRecord === undefined ? undefined : getRepresentation(resource, id, storedRecord);
  }

  /** Throws `invalid`, and `conflict` for a key or a unique value that exists already. */
  async add(
    body: unknown, { hops, onStaged }: WriteOptions = {}, onAdded?: OnAdded,
  ): Promise<Representation> {
    const { store, resource: { noun, collection }, makeId } = this.#options;
    const inputs = this.stager.createInputs(hops);
    const { fields, key } = this.stager.parse(body, null, 'add', inputs.nowMs);
    // The record is encoded before the transaction, which may run again if other nodes write, too.
    const version = this.stager.encode(key ?? makeId(), fields, null, inputs.nowMs);
    const { id } = version;
    return store.transact((transaction) => {
      if (key !== undefined && transaction.find(collection.name, id) !== undefined) {
        throw new AppError('conflict', `another ${noun} has the ${collection.key} ${id} already: `
          + 'choose another, or change what has it');
      }
      const representation = this.#put(transaction, version, inputs, onStaged);
      onAdded?.(transaction, representation);
      return representation;
    });
  }

  /**
   * Throws `not_found`, then what `precondition` throws, then `invalid`, then `conflict` for a
   * unique value that another record has.
   */
  replace(
    idOrName: string, body: unknown, precondition?: Precondition, options?: WriteOptions,
  ): Promise<Representation> {
    return this.#update({ idOrName, cause: 'replace', body, precondition }, options);
  }

  /** `patch` is a JSON Merge Patch. Throws as `replace` does. */
  patch(
    idOrName: string, patch: unknown, precondition?: Precondition, options?: WriteOptions,
  ): Promise<Representation> {
    return this.#update({ idOrName, cause: 'patch', body: patch, precondition }, options);
  }

  async #update(
    { idOrName, cause, body, precondition }: RecordUpdate, { hops, onStaged }: WriteOptions = {},
  ): Promise<Representation> {
    const { store, resource } = this.#options;
    const inputs = this.stager.createInputs(hops);
    return store.transact((transaction) => {
      const before = this.#getStaged(transaction, idOrName);
      const { id, bytes } = before;
      precondition?.(createRepresentation(resource, id, bytes));
      const { fields } = this.stager.parse(body, before, cause, inputs.nowMs);
      const version = this.stager.encode(id, fields, bytes, inputs.nowMs);
      return this.#put(transaction, version, inputs, onStaged);
    });
  }

  /**
   * Stores the result of `change` for a stored record, for members that the service writes: it is
   * not parsed, and nothing is staged with it or checked. Writes nothing if the result is the
   * record itself. Throws `not_found`, and what `change` throws. `change` may run again.
   */
  async changeServiceMembers(
    idOrName: string, change: ChangeMembers, { onStaged }: Pick<WriteOptions, 'onStaged'>,
  ): Promise<Representation> {
    const { store, resource, clock } = this.#options;
    const { collection } = resource;
    const nowMs = clock.now();
    return store.transact((transaction) => {
      const { id, bytes: before } = this.#getStaged(transaction, idOrName);
      const storedRecord = decodeRecord(before);
      const record = change(storedRecord, nowMs);
      if (record === storedRecord) return createRepresentation(resource, id, before);
      const after = putNextVersion(transaction, collection, id, before, record, nowMs);
      onStaged?.({ collection: collection.name, id, before, after });
      return createRepresentation(resource, id, after);
    });
  }

  /** Throws `not_found`, then what `precondition` throws. */
  async remove(
    idOrName: string, precondition?: Precondition, { hops, onStaged }: WriteOptions = {},
  ): Promise<void> {
    const { store, resource } = this.#options;
    const inputs = this.stager.createInputs(hops);
    const { id, removedRecords } = await store.transact((transaction) => {
      const before = this.#getStaged(transaction, idOrName);
      precondition?.(createRepresentation(resource, before.id, before.bytes));
      const change = this.stager.remove(transaction, before, inputs);
      this.stager.check(transaction, change, inputs);
      onStaged?.(change);
      return { id: before.id, removedRecords: transaction.listRemoved() };
    });
    this.#removedRecords.add(id, removedRecords);
    await this.afterRemoved(id);
  }

  /**
   * Puts a record back that `remove` has removed here lately, as it was, with the records that went
   * with it (removed-records.ts). Throws `not_found`, `conflict` when a record has taken its place
   * or the record that took it in has changed, and `invalid` when a record that it names is gone.
   */
  async restore(idOrName: string, { hops, onStaged }: WriteOptions = {}): Promise<Representation> {
    const { store, resource: { noun, collection: { name, key } } } = this.#options;
    // Each change has inputs of its own: the ids of its events are drawn from their seed, and two
    // changes with one seed would give two events the same id.
    const [inputs, replacedInputs] =
      [this.stager.createInputs(hops), this.stager.createInputs(hops)];
    const [removed, ...others] = this.#removedRecords.get(idOrName);
    assert(removed !== undefined);
    const { id } = removed;
    const makeVersion = (before: Buffer | null, record: typeof removed): RecordVersion => ({
      id: record.id, before, json: record.bytes.toString(),
      updatedMs: readUpdatedMs(key, record.id, record.bytes),
    });
    const representation = await store.transact((transaction) => {
      if (transaction.find(name, id) !== undefined) {
        throw new AppError('conflict', `another ${noun} has the ${key} ${id} by now`);
      }
      const representation =
        this.#put(transaction, makeVersion(null, removed), inputs, onStaged);
      for (const other of others) {
        const current = transaction.find(other.collection, other.id);
        if (other.replacedBy === undefined) {
          if (current === undefined) transaction.put(other.collection, other.id, other.bytes);
        } else if (current?.equals(other.replacedBy) === true) {
          this.#put(transaction, makeVersion(current, other), replacedInputs, undefined);
        } else {
          throw new AppError('conflict', `the ${noun} that took it in, ${other.id}, has been `
            + 'changed since');
        }
      }
      return representation;
    });
    this.#removedRecords.forget(id);
    return representation;
  }

  /**
   * Holds for `restore` a record that the stager has removed, and the former version of the record
   * that took it in: `replacedBy` is the version on disk.
   */
  holdMerged(removed: RecordBefore, target: RecordBefore & { readonly replacedBy: Buffer }): void {
    const { name: collection } = this.#options.resource.collection;
    this.#removedRecords.add(removed.id, [{ collection, ...removed }, { collection, ...target }]);
  }

  /** Must be awaited once a removal that the stager has staged is on disk. */
  async afterRemoved(id: string): Promise<void> {
    await this.#options.afterRemoved?.(id);
  }

  /** The record as the transaction sees it. Throws `not_found`. */
  #getStaged(transaction: Transaction, idOrName: string): RecordBefore {
    const { noun, collection: { name, hasNames = false } } = this.#options.resource;
    const id = hasNames ? transaction.findId(name, idOrName) ?? idOrName : idOrName;
    const bytes = transaction.find(name, id);
    if (bytes === undefined) throw notFoundError(noun, idOrName);
    return { id, bytes };
  }

  #put(
    transaction: Transaction, version: RecordVersion, inputs: TransactionInputs,
    onStaged: WriteOptions['onStaged'],
  ): Representation {
    const { change, representation } = this.stager.put(transaction, version, inputs);
    this.stager.check(transaction, change, inputs);
    onStaged?.(change);
    return representation;
  }
}

type RecordUpdate = {
  readonly idOrName: string;
  readonly cause: 'replace' | 'patch';
  readonly body: unknown;
  readonly precondition: Precondition | undefined;
};
