/** Finds records by names that they have besides their keys. */
import type { Collection } from '../store/store-port.ts';

/** The key of the record that has this key, else of the one that has this name. */
export function resolveKey(
  collection: Pick<Collection, 'findBytes' | 'idByName'>, name: string,
): string | undefined {
  return collection.findBytes(name) === undefined ? collection.idByName.get(name) : name;
}
