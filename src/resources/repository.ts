/**
 * The repository of a resource creates, reads, replaces, patches and deletes its records. A write
 * parses the body by the model's schema, sets the timestamps, checks the caller's precondition and
 * stores the record, all in one transaction. The format of a stored record is record.ts's.
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
import type { Resource } from './resource.ts';

/** Called inside the transaction of a change; operations that it stages are committed with it. */
export type ChangeHook = (
  transaction: Transaction, change: Change, inputs: TransactionInputs,
) => void;

/** Called inside the transaction with the stored record; throws to make the write fail. */
export type Precondition = (current: Representation) => void;

/** Called inside the transaction that adds the record. */
type OnAdded = (transaction: Transaction, added: Representation) => void;

/** The part of a resource's description that a repository needs. */
export type RepositoryResource = Pick<Resource,
  'noun' | 'schema' | 'collection' | 'isKeyGiven' | 'toPublic' | 'observe' | 'reconcile'
  | 'patchBase'>;

/**
 * `hops` is the number of webhooks that a chain to this change has gone through: see
 * base/webhook-chain.ts. An `id` may also be a name of the record, where the collection has names.
 * Ids and times are drawn before the transaction, as it may run again.
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
  /** Throws `invalid`, and `conflict` for a key that exists already. */
  add(body: unknown, hops?: number, onAdded?: OnAdded): Promise<Representation>;
  /** Throws `not_found`, then what `precondition` throws, then `invalid`; so does `patch`. */
  replace(
    id: string, body: unknown, precondition?: Precondition, hops?: number,
  ): Promise<Representation>;
  /** `patch` is a JSON Merge Patch. */
  patch(
    id: string, patch: unknown, precondition?: Precondition, hops?: number,
  ): Promise<Representation>;
  remove(id: string, precondition?: Precondition, hops?: number): Promise<void>;
}

type KeyPredicate = (id: string) => boolean;

export function createRepository(options: {
  readonly store: Store;
  readonly resource: RepositoryResource;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly makeId: () => string;
  readonly onChange?: ChangeHook;
  /** Awaited once a removal is on disk. */
  readonly afterRemoved?: (id: string) => Promise<void>;
}): Repository {
  const { store, resource, now, makeId, onChange, afterRemoved } = options;
  const { noun, reconcile, toPublic, observe } = resource;
  const { name: collection, key, hasNames = false } = resource.collection;
  const records = store.collection(collection);

  const toPublicBytes = (stored: Buffer): Buffer => {
    if (toPublic === undefined) return stored;
    const record = decodeRecord(stored);
    return Buffer.from(JSON.stringify({ ...toPublic(record), ...observe?.(record).members }));
  };
  const represent = (id: string, stored: Buffer): Representation => {
    const updatedMs = readUpdatedMs(key, id, stored);
    if (toPublic === undefined || observe === undefined) {
      return new Representation(id, toPublicBytes(stored), updatedMs);
    }
    const record = decodeRecord(stored);
    const configuration = Buffer.from(JSON.stringify(toPublic(record)));
    const { members, changedAtMs } = observe(record);
    const observation = Buffer.from(JSON.stringify(members));
    return new Representation(id, joinObjects(configuration, observation), updatedMs,
      { configuration, observation, changedAtMs });
  };
  const getStaged = (
    transaction: Transaction, idOrName: string,
  ): { readonly id: string; readonly before: Buffer } => {
    const id = hasNames ? transaction.findId(collection, idOrName) ?? idOrName : idOrName;
    const before = transaction.find(collection, id);
    if (before === undefined) throw notFoundError(noun, idOrName);
    return { id, before };
  };
  const createInputs = (hops = 0): TransactionInputs => new LazyInputs(now(), makeId, hops);
  const put = (
    transaction: Transaction, id: string, before: Buffer | null,
    { json, updatedMs, inputs }: { json: string; updatedMs: number; inputs: TransactionInputs },
  ): Representation => {
    const stored = transaction.put(collection, id, json);
    onChange?.(transaction, { collection, id, before, after: stored.bytes }, inputs);
    if (toPublic !== undefined) return represent(id, stored.bytes);
    const representation = new Representation(id, stored.bytes, updatedMs);
    stored.representation = representation;
    return representation;
  };
  const update = (
    idOrName: string, precondition: Precondition | undefined, cause: 'replace' | 'patch',
      body: unknown,
    hops?: number,
  ): Promise<Representation> => {
    const inputs = createInputs(hops);
    return store.transact((transaction) => {
      const { id, before } = getStaged(transaction, idOrName);
      precondition?.(represent(id, before));
      const isParseNeeded = cause === 'patch' || reconcile !== undefined;
      const current = isParseNeeded ? decodeRecord(before) : null;
      const trimmed = isParseNeeded ? trimUnknown(resource.schema, body) : body;
      const base = current === null ? null : resource.patchBase?.(current) ?? current;
      const whole = cause === 'patch' ? applyMergePatch(base, trimmed) : trimmed;
      const reconciled = reconcile !== undefined && isJsonObject(whole)
        ? reconcile(whole, current, cause, inputs.nowMs) : whole;
      const fields = parseFields(resource, reconciled, id);
      const timestamps = nextTimestamps(key, id, before, inputs.nowMs);
      const json = encodeRecord(key, id, timestamps, fields);
      return put(transaction, id, before, { json, updatedMs: timestamps.updatedMs, inputs });
    });
  };

  // Not async, which would add a promise to each POST.
  const add = (body: unknown, hops?: number, onAdded?: OnAdded): Promise<Representation> => {
    const inputs = createInputs(hops);
    const trimmed = reconcile === undefined ? body : trimUnknown(resource.schema, body);
    const reconciled = reconcile !== undefined && isJsonObject(trimmed)
      ? reconcile(trimmed, null, 'add', inputs.nowMs) : trimmed;
    const fields = parseFields(resource, reconciled, null);
    const bodyKey = resource.isKeyGiven === true ? findBodyKey(reconciled, key) : undefined;
    const id = bodyKey ?? makeId();
    const timestamps = createTimestamps(inputs.nowMs);
    // Encoded before the transaction, which may run again where other nodes write too.
    const json = encodeRecord(key, id, timestamps, fields);
    return store.transact((transaction) => {
      if (bodyKey !== undefined && transaction.find(collection, id) !== undefined) {
        throw new AppError('conflict', `another ${noun} has the ${key} ${id} already`);
      }
      const added = put(transaction, id, null, { json, updatedMs: timestamps.updatedMs, inputs });
      onAdded?.(transaction, added);
      return added;
    });
  };

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
          if (matches(id)) return { id, bytes: toPublicBytes(bytes) };
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
      const stored = records.find(id);
      if (stored === undefined) return undefined;
      // A form other than the stored bytes takes memory of its own, so it is not cached.
      return toPublic === undefined ? getOrCreateRepresentation(stored, id, represent)
        : represent(id, stored.bytes);
    },
    add(body, hops, onAdded) {
      try {
        return add(body, hops, onAdded);
      } catch (thrown) {
        return Promise.reject(thrown);
      }
    },
    async replace(id, body, precondition, hops) {
      return update(id, precondition, 'replace', body, hops);
    },
    async patch(id, patch, precondition, hops) {
      return update(id, precondition, 'patch', patch, hops);
    },
    async remove(idOrName, precondition, hops) {
      const inputs = createInputs(hops);
      const removedId = await store.transact((transaction) => {
        const { id, before } = getStaged(transaction, idOrName);
        precondition?.(represent(id, before));
        transaction.delete(collection, id);
        onChange?.(transaction, { collection, id, before, after: null }, inputs);
        return id;
      });
      await afterRemoved?.(removedId);
    },
  };
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

/** The cached representation: making one costs more than finding the record. */
function getOrCreateRepresentation(
  stored: StoredRecord, id: string, represent: (id: string, bytes: Buffer) => Representation,
): Representation {
  const cached = stored.representation;
  if (cached instanceof Representation) return cached;
  const representation = represent(id, stored.bytes);
  stored.representation = representation;
  return representation;
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
