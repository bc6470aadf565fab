/**
 * The bytes of a stored record: one line of JSON in UTF-8, the key and two times first, then the
 * members of the model in the order of its table:
 *
 *     {"id":"<key>","createdAt":"<time>","updatedAt":"<time>","title":…}
 *
 * A key is 1-128 of `[A-Za-z0-9._~-]`, a time RFC 3339 in UTC with milliseconds: neither is ever
 * escaped and times have one length, so both times are found without parsing the record.
 */
import { assert } from '../base/assert.ts';
import { formatTimestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import { encodeJson } from '../base/json/encode.ts';
import { parseJsonText } from '../base/json/exact-parser.ts';
import type { JsonObject } from '../base/schema.ts';
import type { CollectionSpec, Transaction } from '../store/store-port.ts';

type Timestamps = { readonly createdAt: string; readonly updatedAt: string };
/** `updatedMs` is `updatedAt` in milliseconds since the epoch. */
type VersionTimestamps = Timestamps & { readonly updatedMs: number };

type KeyName = CollectionSpec['key'];

/** Characters, and bytes, of a stored time. */
export const TIME_LENGTH = '2026-01-01T00:00:00.000Z'.length;

// All that is shown of a record: what follows may be secret.
const KEY_AT_START = /^\{"(?:id|identifier)":"[^"]*"/;

/** The stored line. `fields` hold neither the key nor the timestamps. */
export function encodeRecord(
  key: KeyName, id: string, timestamps: Timestamps, fields: JsonObject,
): string {
  const { createdAt, updatedAt } = timestamps;
  const head = `{"${key}":"${id}","createdAt":"${createdAt}","updatedAt":"${updatedAt}"`;
  const rest = encodeJson(fields);
  return rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`;
}

/** A stored record as an object. It is not validated again. */
export function decodeRecord(bytes: Buffer): JsonObject {
  const record: unknown = parseJsonText(bytes.toString());
  assert(isJsonObject(record));
  return record;
}

/**
 * A stored record as the type that `isValid` checks. Throws `damaged` when the record is invalid.
 * `JSON.parse` parses a record that holds no numbers of users in half the time.
 */
export function decodeRecordAs<T>(
  json: Buffer | string, isValid: (record: JsonObject) => boolean,
  parse: (text: string) => unknown = parseJsonText,
): T {
  const text = String(json);
  const record: unknown = parse(text);
  if (!isJsonObject(record) || !isValid(record)) {
    const key = KEY_AT_START.exec(text)?.[0] ?? '{';
    throw new AppError('damaged', 'a stored record is not sound, or of a version of hookshelf that '
      + `this one does not read: ${key}…}; go on with the hookshelf that wrote it`);
  }
  return record as T;
}

export function createTimestamps(nowMs: number): VersionTimestamps {
  const time = formatTimestamp(nowMs);
  return { createdAt: time, updatedAt: time, updatedMs: nowMs };
}

/** The timestamps of a record's next version: `updatedAt` rises, whatever the clock does. */
export function nextTimestamps(
  key: KeyName, id: string, before: Buffer, nowMs: number,
): VersionTimestamps {
  const createdStart = findCreatedAt(key, id);
  const createdAt = before.toString('latin1', createdStart, createdStart + TIME_LENGTH);
  assert(createdAt.endsWith('Z'), 'a record begins with its stamps');
  const updatedMs = Math.max(nowMs, readUpdatedMs(key, id, before) + 1);
  return { createdAt, updatedAt: formatTimestamp(updatedMs), updatedMs };
}

/**
 * Stages the next version of a record with these members, whatever key and timestamps stand among
 * them. Returns its bytes.
 */
export function putNextVersion(
  transaction: Transaction, { name, key }: CollectionSpec, id: string, before: Buffer,
  { [key]: _, createdAt: __, updatedAt: ___, ...fields }: JsonObject, nowMs: number,
): Buffer {
  const json = encodeRecord(key, id, nextTimestamps(key, id, before, nowMs), fields);
  return transaction.put(name, id, json).bytes;
}

/** When a stored record was last written, in milliseconds since the epoch. */
export function readUpdatedMs(key: KeyName, id: string, bytes: Buffer): number {
  const start = findCreatedAt(key, id) + TIME_LENGTH + '","updatedAt":"'.length;
  const updatedMs = Date.parse(bytes.toString('latin1', start, start + TIME_LENGTH));
  assert(!Number.isNaN(updatedMs), 'a record begins with its stamps');
  return updatedMs;
}

/** The bytes with the key and the times of a stored record: they differ from version to version. */
export function sliceHead(key: KeyName, id: string, bytes: Buffer): Buffer {
  const length = findCreatedAt(key, id) + TIME_LENGTH + '","updatedAt":"'.length + TIME_LENGTH;
  return bytes.subarray(0, length);
}

const TIMESTAMPS_PATTERN = /^\{"[a-z]+":"[^"]+","createdAt":"([^"]+)","updatedAt":"([^"]+)"/;
const TIMESTAMPS_BYTES_MAX = 256;

export function isFirstVersion(bytes: Buffer): boolean {
  const match = TIMESTAMPS_PATTERN.exec(bytes.toString('latin1', 0, TIMESTAMPS_BYTES_MAX));
  assert(match !== null, 'a record begins with its stamps');
  return match[1] === match[2];
}

function findCreatedAt(key: KeyName, id: string): number {
  return '{"":"","createdAt":"'.length + key.length + id.length;
}
