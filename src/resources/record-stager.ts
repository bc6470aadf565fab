/**
 * Stages the writes of a resource in a transaction of the caller's: the repository has a
 * transaction for each write, an apply (webhooks/configuration/) has one for many writes. record.ts
 * has the format of a stored record.
 */
import type { Clock } from '../base/clock.ts';
import type { FieldError } from '../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto, trimUnknown } from '../base/fields.ts';
import { applyMergePatch } from '../base/json/merge-patch.ts';
import type { JsonObject } from '../base/schema.ts';
import type { Change, Transaction, TransactionInputs } from '../store/store-port.ts';
import { createTimestamps, decodeRecord, encodeRecord, nextTimestamps } from './record.ts';
import { Representation, createRepresentation } from './representation.ts';
import type { Resource, WriteCause } from './resource.ts';

/**
 * Called inside the transaction of a change, before that is committed. Operations that it stages
 * are committed with the change; if it throws, nothing is. A listener of changes that are committed
 * is `Collection.onChange` (store-port.ts).
 */
export type ChangeHook = (
  transaction: Transaction, change: Change, inputs: TransactionInputs,
) => void;

export type RepositoryResource = Pick<Resource,
  'noun' | 'schema' | 'collection' | 'isKeyGiven' | 'toPublic' | 'observe' | 'reconcile'
  | 'keepStored' | 'patchBase'>;

export type StagerOptions = {
  readonly resource: RepositoryResource;
  readonly clock: Pick<Clock, 'now'>;
  readonly makeId: () => string;
  readonly stageWithChange?: ChangeHook;
  /**
   * Called once all changes of the transaction are staged; throws to make it fail. It is for rules
   * that a later change of the same transaction may satisfy.
   */
  readonly checkStaged?: ChangeHook;
};

/** The stored record that a write replaces or removes. */
export type RecordBefore = { readonly id: string; readonly bytes: Buffer };

/** A record as it is to be stored: a new record, or the next version of a record. */
export type RecordVersion = {
  readonly id: string;
  readonly before: Buffer | null;
  readonly json: string;
  readonly updatedMs: number;
};

export class RecordStager {
  readonly #options: StagerOptions;

  constructor(options: StagerOptions) {
    this.#options = options;
  }

  /** The seed is drawn at its first use: it costs as much as an id, and most changes need none. */
  createInputs(hops = 0): TransactionInputs {
    const { clock, makeId } = this.#options;
    let seed: string | null = null;
    return {
      nowMs: clock.now(), hops,
      get seed() {
        return seed ??= makeId();
      },
    };
  }

  /**
   * The members to store, without the key: `body` parsed by the schema. `before` is the stored
   * record; null for a new one. Throws `invalid`.
   */
  parse(
    body: unknown, before: RecordBefore | null, cause: WriteCause, nowMs: number,
  ): ParsedMembers {
    const { resource } = this.#options;
    const wholeBody = prepareBody(resource, body, before?.bytes ?? null, cause, nowMs);
    const bodyFields = parseFields(resource, wholeBody, before?.id ?? null);
    const fields = before === null ? bodyFields
      : resource.keepStored?.(bodyFields, before.bytes) ?? bodyFields;
    const isKeyGiven = before === null && resource.isKeyGiven === true;
    const key = isKeyGiven ? findBodyKey(wholeBody, resource.collection.key) : undefined;
    return { fields, key };
  }

  /** Encodes a new record with these members, or the next version of `before`. */
  encode(
    id: string, fields: JsonObject, before: Buffer | null, nowMs: number,
  ): RecordVersion {
    const { key } = this.#options.resource.collection;
    const timestamps = before === null ? createTimestamps(nowMs)
      : nextTimestamps(key, id, before, nowMs);
    const json = encodeRecord(key, id, timestamps, fields);
    return { id, before, json, updatedMs: timestamps.updatedMs };
  }

  /** Stages a version, all but its last check: `check` has to follow with the change. */
  put(transaction: Transaction, version: RecordVersion, inputs: TransactionInputs): StagedVersion {
    const { resource, stageWithChange } = this.#options;
    const { id, before, json, updatedMs } = version;
    const { name: collection } = resource.collection;
    const storedRecord = transaction.put(collection, id, json);
    const { bytes } = storedRecord;
    const change = { collection, id, before, after: bytes };
    stageWithChange?.(transaction, change, inputs);
    if (resource.toPublic !== undefined) {
      return { change, representation: createRepresentation(resource, id, bytes) };
    }
    const representation = new Representation(id, bytes, updatedMs);
    storedRecord.representation = representation;
    return { change, representation };
  }

  /** Stages the removal of a record, all but its last check: `check` has to follow. */
  remove(transaction: Transaction, before: RecordBefore, inputs: TransactionInputs): Change {
    const { resource: { collection: { name: collection } }, stageWithChange } = this.#options;
    transaction.delete(collection, before.id);
    const change = { collection, id: before.id, before: before.bytes, after: null };
    stageWithChange?.(transaction, change, inputs);
    return change;
  }

  /** Throws what makes the transaction fail, now that all of its changes are staged. */
  check(transaction: Transaction, change: Change, inputs: TransactionInputs): void {
    this.#options.checkStaged?.(transaction, change, inputs);
  }
}

/** The members of a body; `key` is the new record's own, undefined where the service gives one. */
type ParsedMembers = { readonly fields: JsonObject; readonly key: string | undefined };

type StagedVersion = {
  readonly change: Change; readonly representation: Representation;
};

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
  if (!Object.hasOwn(fields, key)) return fields;
  const { [key]: _, ...others } = fields;
  return others;
}

/** The key in a body, as text whatever its type; null counts as absent. */
function findBodyKey(body: unknown, key: string): string | undefined {
  if (!isJsonObject(body) || !Object.hasOwn(body, key)) return undefined;
  const value = body[key];
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
