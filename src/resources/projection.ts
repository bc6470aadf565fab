/** Derived state of a collection, fed from applied entries and nothing else. */
import { isJsonObject } from '../base/fields.ts';
import type { JsonObject } from '../base/schema.ts';
import type { Collection } from '../store/port.ts';

export type Applied = {
  readonly id: string;
  readonly before: Buffer | null;
  /** null: the record is gone. */
  readonly after: Buffer | null;
};

/** Calls `apply` for every record there is, then for every change. Returns what ends it. */
export function follow(collection: Collection, apply: (applied: Applied) => void): () => void {
  const walk = collection.walk();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const id = collection.idAt(slot);
    const after = collection.bytesAt(slot);
    if (id !== undefined && after !== undefined) apply({ id, before: null, after });
  }
  return collection.onChange(apply);
}

/** A stored record of this room; it was validated when it was stored. */
export function readRecord<T>(
  json: Buffer | string, isSound: (record: JsonObject) => boolean,
): T {
  const record: unknown = JSON.parse(String(json));
  if (!isJsonObject(record) || !isSound(record)) {
    throw new TypeError('a stored record is not sound');
  }
  return record as T;
}
