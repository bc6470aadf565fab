/**
 * The service behind every resource that is created, read, replaced, patched and deleted: it parses
 * with the model's table, stamps, checks the caller's expectation and writes, all in one
 * transaction. Its methods are those that the server's resource routes ask for.
 *
 * A record is one line of JSON: the key, `createdAt`, `updatedAt`, then the rest in the table's
 * order. What a caller sees of it are the stored bytes, or what `present` makes of them.
 */
import { assert } from '../base/assert.ts';
import { timeText } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { FieldError } from '../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto } from '../base/fields.ts';
import { applyMergePatch } from '../base/json/merge-patch.ts';
import type { JsonObject, ObjectSchema } from '../base/schema.ts';
import type { Drawn, Store, StoredRecord, Transaction } from '../store/port.ts';

export type RecordChange = {
  readonly id: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
};

/** Runs inside the transaction that makes the change; what it stages is committed with it. */
export type ChangeHook = (transaction: Transaction, change: RecordChange, drawn: Drawn) => void;

export type RepositorySpec = {
  readonly collection: string;
  readonly key: 'id' | 'identifier';
  /** What a record is called in messages: `book`. */
  readonly noun: string;
  /** Lists the key, `createdAt` and `updatedAt` (read-only) with the model's members. */
  readonly schema: ObjectSchema;
  readonly makeId: () => string;
  /** A new record may bring its key; without one it gets `makeId`'s. */
  readonly isKeyGiven?: boolean;
  /**
   * The body that is parsed, made from the one that came (a merge patch: the stored record with the
   * patch applied) and the stored record, null for a new one. For write-only members.
   */
  readonly reconcile?: (
    body: JsonObject, current: JsonObject | null, cause: 'add' | 'replace' | 'patch',
  ) => JsonObject;
  /** What a patch is applied to, made from the stored record; that itself when not given. */
  readonly patchBase?: (stored: JsonObject) => JsonObject;
  /** What callers see of a record. */
  readonly present?: (record: JsonObject) => JsonObject;
  readonly onChange?: ChangeHook;
};

/** A record as callers see it. `headers` is the server's, to remember what it derived. */
export type RecordView = { readonly bytes: Buffer; headers: readonly string[] | undefined };

export type RecordEntry = { readonly id: string; readonly bytes: Buffer };

/** Called with the shown bytes inside the transaction; throws what the write then fails with. */
export type RecordExpectation = (shown: Buffer) => void;

/**
 * Ids and times are drawn before the transaction: it may run again. `hops` led to the change, as
 * `onChange` is told. Errors: see each method.
 */
export interface Repository {
  readonly size: number;
  /** Views in key order after the key `after`: each call gives the next, null at the end. */
  walk(after: string | null): () => RecordEntry | null;
  find(id: string): RecordView | undefined;
  /** Throws `invalid`, and `conflict` for a key that is taken. */
  add(body: unknown, hops?: number): Promise<RecordView>;
  /** Throws `not_found`, then what `expect` throws, then `invalid`; so do the next two. */
  replace(
    id: string, body: unknown, expect?: RecordExpectation, hops?: number,
  ): Promise<RecordView>;
  /** `patch` is a JSON Merge Patch. */
  patch(
    id: string, patch: unknown, expect?: RecordExpectation, hops?: number,
  ): Promise<RecordView>;
  remove(id: string, expect?: RecordExpectation, hops?: number): Promise<void>;
}

export function createRepository(options: {
  readonly store: Store;
  readonly spec: RepositorySpec;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}): Repository {
  const { store, spec, now } = options;
  const { collection, key, reconcile, onChange } = spec;
  const records = store.collection(collection);
  const view = viewerOf(spec);

  const getStaged = (transaction: Transaction, id: string): Buffer => {
    const current = transaction.find(collection, id);
    if (current === undefined) throw notFound(spec, id);
    return current;
  };
  const draw = (hops = 0): Drawn => ({ nowMs: now(), seed: spec.makeId(), hops });
  const put = (
    transaction: Transaction, id: string, before: Buffer | null, json: string, drawn: Drawn,
  ): RecordView => {
    const stored = transaction.put(collection, id, json);
    onChange?.(transaction, { id, before, after: stored.bytes }, drawn);
    return view(stored);
  };
  const update = (
    id: string, expect: RecordExpectation | undefined, cause: 'replace' | 'patch', body: unknown,
    hops?: number,
  ): Promise<RecordView> => {
    const drawn = draw(hops);
    return store.transact((transaction) => {
      const before = getStaged(transaction, id);
      expect?.(view({ bytes: before, headers: undefined }).bytes);
      const isParseNeeded = cause === 'patch' || reconcile !== undefined;
      const current = isParseNeeded ? decodeRecord(before) : null;
      const base = current === null ? null : spec.patchBase?.(current) ?? current;
      const whole = cause === 'patch' ? applyMergePatch(base, body) : body;
      const wanted = reconcile !== undefined && isJsonObject(whole)
        ? reconcile(whole, current, cause) : whole;
      const fields = parseFields(spec, wanted, id);
      const stamps = nextStamps(key, id, before, drawn.nowMs);
      return put(transaction, id, before, encodeRecord(key, id, stamps, fields), drawn);
    });
  };

  return {
    get size() {
      return records.size;
    },
    walk(after) {
      const walk = records.walk({ after });
      return () => {
        const slot = walk.next();
        const bytes = records.bytesAt(slot);
        if (bytes === undefined) return null;
        return { id: records.idAt(slot) ?? '', bytes: view({ bytes, headers: undefined }).bytes };
      };
    },
    find(id) {
      const stored = records.find(id);
      return stored === undefined ? undefined : view(stored);
    },
    async add(body, hops) {
      const wanted = reconcile !== undefined && isJsonObject(body)
        ? reconcile(body, null, 'add') : body;
      const fields = parseFields(spec, wanted, null);
      const givenId = spec.isKeyGiven === true ? givenKey(wanted, key) : undefined;
      const id = givenId ?? spec.makeId();
      const drawn = draw(hops);
      const time = timeText(drawn.nowMs);
      const json = encodeRecord(key, id, { createdAt: time, updatedAt: time }, fields);
      return store.transact((transaction) => {
        if (givenId !== undefined && transaction.find(collection, id) !== undefined) {
          throw new AppError('conflict', `another ${spec.noun} has the ${key} ${id} already`);
        }
        return put(transaction, id, null, json, drawn);
      });
    },
    async replace(id, body, expect, hops) {
      return update(id, expect, 'replace', body, hops);
    },
    async patch(id, patch, expect, hops) {
      return update(id, expect, 'patch', patch, hops);
    },
    async remove(id, expect, hops) {
      const drawn = draw(hops);
      return store.transact((transaction) => {
        const before = getStaged(transaction, id);
        expect?.(view({ bytes: before, headers: undefined }).bytes);
        transaction.delete(collection, id);
        onChange?.(transaction, { id, before, after: null }, drawn);
      });
    },
  };
}

export type Stamps = { readonly createdAt: string; readonly updatedAt: string };

/** The line that is stored; `fields` hold neither the key nor the stamps. */
export function encodeRecord(
  key: 'id' | 'identifier', id: string, stamps: Stamps, fields: JsonObject,
): string {
  const { createdAt, updatedAt } = stamps;
  const head = `{"${key}":"${id}","createdAt":"${createdAt}","updatedAt":"${updatedAt}"`;
  const rest = JSON.stringify(fields);
  return rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`;
}

/** A stored record as an object. It was validated when it was stored. */
export function decodeRecord(bytes: Buffer): JsonObject {
  const record: unknown = JSON.parse(bytes.toString());
  assert(isJsonObject(record));
  return record;
}

/** Stamps of the next version of a stored record: `updatedAt` rises, whatever the clock does. */
export function nextStamps(
  key: 'id' | 'identifier', id: string, before: Buffer, nowMs: number,
): Stamps {
  const { createdAt, updatedAt } = stampsOf(key, id, before);
  const updatedMs = Math.max(nowMs, Date.parse(updatedAt) + 1);
  return { createdAt, updatedAt: timeText(updatedMs) };
}

// Every record begins alike, so that its stamps are found without parsing it.
const STAMP_LENGTH = '2026-01-01T00:00:00.000Z'.length;

function stampsOf(key: 'id' | 'identifier', id: string, bytes: Buffer): Stamps {
  const createdStart = `{"${key}":"${id}","createdAt":"`.length;
  const createdEnd = createdStart + STAMP_LENGTH;
  const updatedStart = createdEnd + '","updatedAt":"'.length;
  const createdAt = bytes.toString('latin1', createdStart, createdEnd);
  const updatedAt = bytes.toString('latin1', updatedStart, updatedStart + STAMP_LENGTH);
  assert(createdAt.endsWith('Z') && updatedAt.endsWith('Z'), 'a record begins with its stamps');
  return { createdAt, updatedAt };
}

/** The parsed body without its key. `pathId` is null for a new record. */
function parseFields(spec: RepositorySpec, body: unknown, pathId: string | null): JsonObject {
  const { schema, key } = spec;
  const errors: FieldError[] = [];
  const fields = readObjectInto(schema, body, errors);
  const given = givenKey(body, key);
  const pointer = pointerStep(key);
  if (given !== undefined && pathId !== null && given !== pathId) {
    errors.push({ pointer, detail: `must be the path's (${pathId}) or absent` });
  }
  if (given !== undefined && pathId === null && spec.isKeyGiven !== true) {
    errors.push({ pointer, detail: 'is assigned by the service and must be absent' });
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

function viewerOf(spec: RepositorySpec): (stored: StoredRecord) => RecordView {
  const { present } = spec;
  if (present === undefined) return (stored) => stored;
  return ({ bytes }) => {
    const shown = JSON.stringify(present(decodeRecord(bytes)));
    return { bytes: Buffer.from(shown), headers: undefined };
  };
}

function notFound(spec: RepositorySpec, id: string): AppError {
  return new AppError('not_found', `there is no ${spec.noun} ${JSON.stringify(id.slice(0, 128))}`);
}
