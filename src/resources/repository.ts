/**
 * The repository of a resource creates, reads, replaces, patches and deletes its records. A write
 * parses the body by the model's schema, sets the timestamps and stores the record in one
 * transaction. A new record is encoded before its transaction. A replacement or patch is encoded
 * within it, as it depends on the stored record, which the caller's precondition is asked about.
 * The format of a stored record is record.ts's.
 */
import { AppError } from '../base/errors.ts';
import type { FieldError } from '../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto, trimUnknown } from '../base/fields.ts';
import { applyMergePatch } from '../base/json/merge-patch.ts';
import type { JsonObject } from '../base/schema.ts';
import type {
  Change, Store, StoredRecord, Transaction, TransactionInputs,
} from '../store/store-port.ts';
import { resolveKey } from './resolve-key.ts';
import { notFoundError } from './not-found.ts';
import {
  decodeRecord, encodeRecord, createTimestamps, nextTimestamps, readUpdatedMs,
} from './record.ts';
import { Representation, type PublicRecord } from './representation.ts';
import type { Resource, WriteCause } from './resource.ts';

/**
 * Called inside the transaction of a change, before that is committed. Operations that it stages
 * are committed with the change; if it throws, nothing is. A listener of changes that are committed
 * is `Collection.onChange` (store-port.ts).
 */
export type ChangeHook = (
  transaction: Transaction, change: Change, inputs: TransactionInputs,
) => void;

/** Called inside the transaction with the stored record; throws to make the write fail. */
export type Precondition = (current: Representation) => void;

/** Called inside the transaction that adds the record. */
type OnAdded = (transaction: Transaction, representation: Representation) => void;

/** The part of a resource's description that a repository needs. */
export type RepositoryResource = Pick<Resource,
  'noun' | 'schema' | 'collection' | 'isKeyGiven' | 'toPublic' | 'observe' | 'reconcile'
  | 'patchBase'>;

/**
 * `hops` is the number of webhooks that a chain to this change has gone through: see
 * base/webhook-chain.ts. An `id` may also be a name of the record, where the collection has names.
 * Ids and times are the same for all runs of a transaction, as it may run again. A write also
 * throws what the store's `transact` and the repository's `stageWithChange` throw.
 */
export interface Repository {
  readonly size: number;
  /**
   * Walks over the records in key order after the key `after`, or over those whose keys match: each
   * call of the result returns the next, and null at the end.
   */
  walk(after: string | null, matches?: KeyPredicate): () => PublicRecord | null;
  /** The number of records whose keys match. */
  count(matches: KeyPredicate): number;
  find(id: string): Representation | undefined;
  /** Throws `invalid`, and `conflict` for a key or a unique value that exists already. */
  add(body: unknown, hops?: number, onAdded?: OnAdded): Promise<Representation>;
  /**
   * Throws `not_found`, then what `precondition` throws, then `invalid`, then `conflict` for a
   * unique value that another record has.
   */
  replace(
    id: string, body: unknown, precondition?: Precondition, hops?: number,
  ): Promise<Representation>;
  /** `patch` is a JSON Merge Patch. Throws as `replace` does. */
  patch(
    id: string, patch: unknown, precondition?: Precondition, hops?: number,
  ): Promise<Representation>;
  /** Throws `not_found`, then what `precondition` throws. */
  remove(id: string, precondition?: Precondition, hops?: number): Promise<void>;
}

type KeyPredicate = (id: string) => boolean;

type RepositoryOptions = {
  readonly store: Store;
  readonly resource: RepositoryResource;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly makeId: () => string;
  readonly stageWithChange?: ChangeHook;
  /** Awaited once a removal is on disk. */
  readonly afterRemoved?: (id: string) => Promise<void>;
};

export function createRepository(options: RepositoryOptions): Repository {
  const { store, resource } = options;
  const { name: collection, hasNames = false } = resource.collection;
  const records = store.collection(collection);
  const writer = new RecordWriter(options);
  return {
    get size() {
      return records.size;
    },
    walk(after, matches = () => true) {
      const walk = records.walk({ after });
      return () => {
        for (;;) {
          const slot = walk.next();
          const bytes = records.bytesAt(slot);
          if (bytes === undefined) return null;
          const id = records.idAt(slot) ?? '';
          if (matches(id)) return { id, bytes: encodePublicRecord(resource, bytes) };
        }
      };
    },
    count(matches) {
      const walk = records.walk();
      let count = 0;
      for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
        if (matches(records.idAt(slot) ?? '')) count += 1;
      }
      return count;
    },
    find(idOrName) {
      const id = hasNames ? resolveKey(records, idOrName) ?? idOrName : idOrName;
      const storedRecord = records.find(id);
      return storedRecord === undefined ? undefined : getRepresentation(resource, id, storedRecord);
    },
    add: (body, hops, onAdded) => writer.add(body, hops, onAdded),
    replace: (id, body, precondition, hops) =>
      writer.update({ idOrName: id, cause: 'replace', body, precondition, hops }),
    patch: (id, patch, precondition, hops) =>
      writer.update({ idOrName: id, cause: 'patch', body: patch, precondition, hops }),
    remove: (id, precondition, hops) => writer.remove(id, precondition, hops),
  };
}

type RecordUpdate = {
  readonly idOrName: string;
  readonly cause: 'replace' | 'patch';
  readonly body: unknown;
  readonly precondition: Precondition | undefined;
  readonly hops: number | undefined;
};

/** Makes the transactions of the writes, one for each. */
class RecordWriter {
  readonly #options: RepositoryOptions;
  readonly #collection: string;

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#collection = options.resource.collection.name;
  }

  /** Not async, which would add a promise to each POST; yet it rejects and does not throw. */
  add(body: unknown, hops?: number, onAdded?: OnAdded): Promise<Representation> {
    try {
      return this.#add(body, this.#createInputs(hops), onAdded);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #add(
    body: unknown, inputs: TransactionInputs, onAdded: OnAdded | undefined,
  ): Promise<Representation> {
    const { store, resource, makeId } = this.#options;
    const { noun, collection: { key } } = resource;
    const wholeBody = prepareBody(resource, body, null, 'add', inputs.nowMs);
    const fields = parseFields(resource, wholeBody, null);
    const bodyKey = resource.isKeyGiven === true ? findBodyKey(wholeBody, key) : undefined;
    const id = bodyKey ?? makeId();
    const timestamps = createTimestamps(inputs.nowMs);
    // Encoded before the transaction, which may run again where other nodes write too.
    const json = encodeRecord(key, id, timestamps, fields);
    return store.transact((transaction) => {
      if (bodyKey !== undefined && transaction.find(this.#collection, id) !== undefined) {
        throw new AppError('conflict', `another ${noun} has the ${key} ${id} already`);
      }
      const { updatedMs } = timestamps;
      const representation = this.#put(transaction, { id, before: null, json, updatedMs }, inputs);
      onAdded?.(transaction, representation);
      return representation;
    });
  }

  async update(
    { idOrName, cause, body, precondition, hops }: RecordUpdate,
  ): Promise<Representation> {
    const { store, resource } = this.#options;
    const { key } = resource.collection;
    const inputs = this.#createInputs(hops);
    return store.transact((transaction) => {
      const { id, before } = this.#getStaged(transaction, idOrName);
      precondition?.(createRepresentation(resource, id, before));
      const wholeBody = prepareBody(resource, body, before, cause, inputs.nowMs);
      const fields = parseFields(resource, wholeBody, id);
      const timestamps = nextTimestamps(key, id, before, inputs.nowMs);
      const json = encodeRecord(key, id, timestamps, fields);
      const { updatedMs } = timestamps;
      return this.#put(transaction, { id, before, json, updatedMs }, inputs);
    });
  }

  async remove(idOrName: string, precondition?: Precondition, hops?: number): Promise<void> {
    const { store, resource, stageWithChange, afterRemoved } = this.#options;
    const inputs = this.#createInputs(hops);
    const removedId = await store.transact((transaction) => {
      const { id, before } = this.#getStaged(transaction, idOrName);
      precondition?.(createRepresentation(resource, id, before));
      transaction.delete(this.#collection, id);
      const change = { collection: this.#collection, id, before, after: null };
      stageWithChange?.(transaction, change, inputs);
      return id;
    });
    await afterRemoved?.(removedId);
  }

  #createInputs(hops = 0): TransactionInputs {
    const { now, makeId } = this.#options;
    return new LazyInputs(now(), makeId, hops);
  }

  /** The record as the transaction sees it. Throws `not_found`. */
  #getStaged(
    transaction: Transaction, idOrName: string,
  ): { readonly id: string; readonly before: Buffer } {
    const { noun, collection: { hasNames = false } } = this.#options.resource;
    const collection = this.#collection;
    const id = hasNames ? transaction.findId(collection, idOrName) ?? idOrName : idOrName;
    const before = transaction.find(collection, id);
    if (before === undefined) throw notFoundError(noun, idOrName);
    return { id, before };
  }

  #put(
    transaction: Transaction,
    { id, before, json, updatedMs }: {
      readonly id: string; readonly before: Buffer | null;
      readonly json: string; readonly updatedMs: number;
    },
    inputs: TransactionInputs,
  ): Representation {
    const { resource, stageWithChange } = this.#options;
    const storedRecord = transaction.put(this.#collection, id, json);
    const change = { collection: this.#collection, id, before, after: storedRecord.bytes };
    stageWithChange?.(transaction, change, inputs);
    const { bytes } = storedRecord;
    if (resource.toPublic !== undefined) return createRepresentation(resource, id, bytes);
    const representation = new Representation(id, bytes, updatedMs);
    storedRecord.representation = representation;
    return representation;
  }
}

/**
 * The representation of a stored record. One that is the stored bytes is cached beside them, as to
 * make it costs more than to find the record; one with bytes of its own would take too much memory.
 */
function getRepresentation(
  resource: RepositoryResource, id: string, storedRecord: StoredRecord,
): Representation {
  const { bytes, representation: cachedRepresentation } = storedRecord;
  if (resource.toPublic !== undefined) return createRepresentation(resource, id, bytes);
  if (cachedRepresentation instanceof Representation) return cachedRepresentation;
  const representation = createRepresentation(resource, id, bytes);
  storedRecord.representation = representation;
  return representation;
}

function createRepresentation(
  resource: RepositoryResource, id: string, bytes: Buffer,
): Representation {
  const { toPublic, observe, collection: { key } } = resource;
  const updatedMs = readUpdatedMs(key, id, bytes);
  if (toPublic === undefined || observe === undefined) {
    return new Representation(id, encodePublicRecord(resource, bytes), updatedMs);
  }
  const record = decodeRecord(bytes);
  const configuration = Buffer.from(JSON.stringify(toPublic(record)));
  const { members, changedAtMs } = observe(record);
  const observation = Buffer.from(JSON.stringify(members));
  return new Representation(id, joinObjects(configuration, observation), updatedMs,
    { configuration, observation, changedAtMs });
}

/** The JSON of a stored record as callers see it. */
function encodePublicRecord({ toPublic, observe }: RepositoryResource, bytes: Buffer): Buffer {
  if (toPublic === undefined) return bytes;
  const record = decodeRecord(bytes);
  return Buffer.from(JSON.stringify({ ...toPublic(record), ...observe?.(record).members }));
}

/** Joins the JSON of two objects, neither of them empty, to one object. */
function joinObjects(left: Buffer, right: Buffer): Buffer {
  return Buffer.concat([left.subarray(0, -1), Buffer.from(','), right.subarray(1)]);
}

/** Draws the seed at its first use: it costs as much as an id, and most changes do not need it. */
class LazyInputs implements TransactionInputs {
  readonly nowMs: number;
  readonly hops: number;
  readonly #makeId: () => string;
  #seed: string | null = null;

  constructor(nowMs: number, makeId: () => string, hops: number) {
    this.nowMs = nowMs;
    this.hops = hops;
    this.#makeId = makeId;
  }

  /** The same however often the transaction runs. */
  get seed(): string {
    this.#seed ??= this.#makeId();
    return this.#seed;
  }
}

/**
 * The whole body that is parsed by the schema: the request's, applied to the stored record where it
 * is a merge patch, and reconciled with it where the resource asks for that. `before` is null for a
 * new record.
 */
function prepareBody(
  resource: RepositoryResource, body: unknown, before: Buffer | null, cause: WriteCause,
  nowMs: number,
): unknown {
  const { schema, patchBase, reconcile } = resource;
  if (cause !== 'patch' && reconcile === undefined) return body;
  const current = before === null ? null : decodeRecord(before);
  const input = trimUnknown(schema, body);
  const whole = cause === 'patch' && current !== null
    ? applyMergePatch(patchBase?.(current) ?? current, input) : input;
  return reconcile !== undefined && isJsonObject(whole)
    ? reconcile(whole, current, cause, nowMs) : whole;
}

/** The parsed body without its key. `pathId` is null for a new record. */
function parseFields(
  resource: RepositoryResource, body: unknown, pathId: string | null,
): JsonObject {
  const { schema, collection: { key } } = resource;
  const errors: FieldError[] = [];
  const fields = readObjectInto(schema, body, errors);
  const bodyKey = findBodyKey(body, key);
  if (bodyKey !== undefined && pathId !== null && bodyKey !== pathId) {
    errors.push({
      pointer: pointerStep(key), detail: `must be the path's (${pathId}) or absent`,
    });
  }
  if (bodyKey !== undefined && pathId === null && resource.isKeyGiven !== true) {
    errors.push({
      pointer: pointerStep(key), detail: 'is assigned by the service and must be absent',
    });
  }
  if (errors.length > 0 || fields === undefined) throw invalid(errors);
  return Object.hasOwn(fields, key) ? omit(fields, key) : fields;
}

/** The key in a body, as text whatever its type; null counts as absent. */
function findBodyKey(body: unknown, key: string): string | undefined {
  if (!isJsonObject(body) || !Object.hasOwn(body, key)) return undefined;
  const value = body[key];
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function omit(fields: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([member]) => member !== name));
}
