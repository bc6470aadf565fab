/**
 * The service behind every resource that is created, read, replaced, patched and deleted: it parses
 * with the model's table, stamps, checks the caller's expectation and writes, all in one
 * transaction. How a record lies in the store is record.ts's.
 */
import { AppError } from '../base/errors.ts';
import type { FieldError } from '../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto, trimUnknown } from '../base/fields.ts';
import { applyMergePatch } from '../base/json/merge-patch.ts';
import type { JsonObject } from '../base/schema.ts';
import type {
  Change, Store, StoredRecord, Transaction, TransactionInputs,
} from '../store/store-port.ts';
import { findKey } from './find-key.ts';
import { notFound } from './not-found.ts';
import {
  decodeRecord, encodeRecord, firstStamps, nextStamps, updatedMsOf,
} from './record.ts';
import { Representation, type ShownRecord } from './representation.ts';
import type { Resource } from './resource.ts';

/** Runs inside the transaction that makes the change; what it stages is committed with it. */
export type ChangeHook = (
  transaction: Transaction, change: Change, drawn: TransactionInputs,
) => void;

/** Told what is shown of the record, inside the transaction; throws what the write fails with. */
export type Expectation = (current: Representation) => void;

/** Runs inside the transaction that adds the record. */
type OnAdded = (transaction: Transaction, added: Representation) => void;

/** What the repository needs to know of a resource. */
export type Kept = Pick<Resource,
  'noun' | 'schema' | 'collection' | 'isKeyGiven' | 'present' | 'observe' | 'reconcile'
  | 'patchBase'>;

/**
 * Ids and times are drawn before the transaction: it may run again. `hops` led to the change, as
 * `onChange` is told: see base/chain.ts. An id may also be a name that the record has. Errors: see
 * each method.
 */
export interface Repository {
  readonly size: number;
  /**
   * Records in key order after the key `after`, those that `isWanted` by their keys: each call
   * gives the next, null at the end.
   */
  walk(after: string | null, isWanted?: IsWanted): () => ShownRecord | null;
  /** How many are wanted. */
  count(isWanted: IsWanted): number;
  find(id: string): Representation | undefined;
  /** Throws `invalid`, and `conflict` for a key that is taken. */
  add(body: unknown, hops?: number, onAdded?: OnAdded): Promise<Representation>;
  /** Throws `not_found`, then what `expect` throws, then `invalid`; so do the next two. */
  replace(
    id: string, body: unknown, expect?: Expectation, hops?: number,
  ): Promise<Representation>;
  /** `patch` is a JSON Merge Patch. */
  patch(
    id: string, patch: unknown, expect?: Expectation, hops?: number,
  ): Promise<Representation>;
  remove(id: string, expect?: Expectation, hops?: number): Promise<void>;
}

type IsWanted = (id: string) => boolean;

export function createRepository(options: {
  readonly store: Store;
  readonly resource: Kept;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly makeId: () => string;
  readonly onChange?: ChangeHook;
  /** Called once a removal is on disk. */
  readonly afterRemoved?: (id: string) => Promise<void>;
}): Repository {
  const { store, resource, now, makeId, onChange, afterRemoved } = options;
  const { noun, reconcile, present, observe } = resource;
  const { name: collection, key, hasNames = false } = resource.collection;
  const records = store.collection(collection);

  const show = (stored: Buffer): Buffer => {
    if (present === undefined) return stored;
    const record = decodeRecord(stored);
    return Buffer.from(JSON.stringify({ ...present(record), ...observe?.(record).members }));
  };
  const represent = (id: string, stored: Buffer): Representation => {
    const updatedMs = updatedMsOf(key, id, stored);
    if (present === undefined || observe === undefined) {
      return new Representation(id, show(stored), updatedMs);
    }
    const record = decodeRecord(stored);
    const configuration = Buffer.from(JSON.stringify(present(record)));
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
    if (before === undefined) throw notFound(noun, idOrName);
    return { id, before };
  };
  const draw = (hops = 0): TransactionInputs => new LateSeed(now(), makeId, hops);
  const put = (
    transaction: Transaction, id: string, before: Buffer | null,
    { json, updatedMs, drawn }: { json: string; updatedMs: number; drawn: TransactionInputs },
  ): Representation => {
    const stored = transaction.put(collection, id, json);
    onChange?.(transaction, { collection, id, before, after: stored.bytes }, drawn);
    if (present !== undefined) return represent(id, stored.bytes);
    const shown = new Representation(id, stored.bytes, updatedMs);
    stored.derived = shown;
    return shown;
  };
  const update = (
    idOrName: string, expect: Expectation | undefined, cause: 'replace' | 'patch', body: unknown,
    hops?: number,
  ): Promise<Representation> => {
    const drawn = draw(hops);
    return store.transact((transaction) => {
      const { id, before } = getStaged(transaction, idOrName);
      expect?.(represent(id, before));
      const isParseNeeded = cause === 'patch' || reconcile !== undefined;
      const current = isParseNeeded ? decodeRecord(before) : null;
      const given = isParseNeeded ? trimUnknown(resource.schema, body) : body;
      const base = current === null ? null : resource.patchBase?.(current) ?? current;
      const whole = cause === 'patch' ? applyMergePatch(base, given) : given;
      const wanted = reconcile !== undefined && isJsonObject(whole)
        ? reconcile(whole, current, cause, drawn.nowMs) : whole;
      const fields = parseFields(resource, wanted, id);
      const stamps = nextStamps(key, id, before, drawn.nowMs);
      const json = encodeRecord(key, id, stamps, fields);
      return put(transaction, id, before, { json, updatedMs: stamps.updatedMs, drawn });
    });
  };

  // Not async: its caller would wait for a promise more.
  const add = (body: unknown, hops?: number, onAdded?: OnAdded): Promise<Representation> => {
    const drawn = draw(hops);
    const given = reconcile === undefined ? body : trimUnknown(resource.schema, body);
    const wanted = reconcile !== undefined && isJsonObject(given)
      ? reconcile(given, null, 'add', drawn.nowMs) : given;
    const fields = parseFields(resource, wanted, null);
    const givenId = resource.isKeyGiven === true ? givenKey(wanted, key) : undefined;
    const id = givenId ?? makeId();
    const stamps = firstStamps(drawn.nowMs);
    // Here, as the transaction runs again wherever other nodes write too.
    const json = encodeRecord(key, id, stamps, fields);
    return store.transact((transaction) => {
      if (givenId !== undefined && transaction.find(collection, id) !== undefined) {
        throw new AppError('conflict', `another ${noun} has the ${key} ${id} already`);
      }
      const added = put(transaction, id, null, { json, updatedMs: stamps.updatedMs, drawn });
      onAdded?.(transaction, added);
      return added;
    });
  };

  return {
    get size() {
      return records.size;
    },
    walk(after, isWanted = () => true) {
      const walk = records.walk({ after });
      return () => {
        for (;;) {
          const slot = walk.next();
          const bytes = records.bytesAt(slot);
          if (bytes === undefined) return null;
          const id = records.idAt(slot) ?? '';
          if (isWanted(id)) return { id, bytes: show(bytes) };
        }
      };
    },
    count(isWanted) {
      const walk = records.walk();
      let count = 0;
      for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
        if (isWanted(records.idAt(slot) ?? '')) count += 1;
      }
      return count;
    },
    find(idOrName) {
      const id = hasNames ? findKey(records, idOrName) ?? idOrName : idOrName;
      const stored = records.find(id);
      if (stored === undefined) return undefined;
      // What is shown in another form takes memory of its own, so it is not kept.
      return present === undefined ? remembered(stored, id, represent)
        : represent(id, stored.bytes);
    },
    add(body, hops, onAdded) {
      try {
        return add(body, hops, onAdded);
      } catch (thrown) {
        return Promise.reject(thrown);
      }
    },
    async replace(id, body, expect, hops) {
      return update(id, expect, 'replace', body, hops);
    },
    async patch(id, patch, expect, hops) {
      return update(id, expect, 'patch', patch, hops);
    },
    async remove(idOrName, expect, hops) {
      const drawn = draw(hops);
      const removed = await store.transact((transaction) => {
        const { id, before } = getStaged(transaction, idOrName);
        expect?.(represent(id, before));
        transaction.delete(collection, id);
        onChange?.(transaction, { collection, id, before, after: null }, drawn);
        return id;
      });
      await afterRemoved?.(removed);
    },
  };
}

/** Two objects as JSON, neither of them empty, as one. */
function joinObjects(left: Buffer, right: Buffer): Buffer {
  return Buffer.concat([left.subarray(0, -1), Buffer.from(','), right.subarray(1)]);
}

/** Mostly nobody listens to a change: then its seed, which takes as long as an id, is not drawn. */
class LateSeed implements TransactionInputs {
  readonly nowMs: number;
  readonly hops: number;
  readonly #makeId: () => string;
  #seed: string | null = null;

  constructor(nowMs: number, makeId: () => string, hops: number) {
    this.nowMs = nowMs;
    this.hops = hops;
    this.#makeId = makeId;
  }

  /** Drawn once, however often its transaction runs. */
  get seed(): string {
    this.#seed ??= this.#makeId();
    return this.#seed;
  }
}

/** What is kept beside a record that is asked for often: making it costs more than finding it. */
function remembered(
  stored: StoredRecord, id: string, represent: (id: string, bytes: Buffer) => Representation,
): Representation {
  const { derived } = stored;
  if (derived instanceof Representation) return derived;
  const made = represent(id, stored.bytes);
  stored.derived = made;
  return made;
}

/** The parsed body without its key. `pathId` is null for a new record. */
function parseFields(resource: Kept, body: unknown, pathId: string | null): JsonObject {
  const { schema, collection: { key } } = resource;
  const errors: FieldError[] = [];
  const fields = readObjectInto(schema, body, errors);
  const given = givenKey(body, key);
  if (given !== undefined && pathId !== null && given !== pathId) {
    errors.push({
      pointer: pointerStep(key), detail: `must be the path's (${pathId}) or absent`,
    });
  }
  if (given !== undefined && pathId === null && resource.isKeyGiven !== true) {
    errors.push({
      pointer: pointerStep(key), detail: 'is assigned by the service and must be absent',
    });
  }
  if (errors.length > 0 || fields === undefined) throw invalid(errors);
  return Object.hasOwn(fields, key) ? without(fields, key) : fields;
}

/** The key in a body, of whatever type; null means absent. */
function givenKey(body: unknown, key: string): string | undefined {
  if (!isJsonObject(body) || !Object.hasOwn(body, key)) return undefined;
  const given = body[key];
  if (given === null || given === undefined) return undefined;
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function without(fields: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([member]) => member !== name));
}
