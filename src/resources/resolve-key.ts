/** Records by the names that they have beside their keys. */
import type { Collection } from '../store/store-port.ts';

/** The key of the record that has this key or name; the key counts first. */
export function resolveKey(
  collection: Pick<Collection, 'findBytes' | 'idByName'>, name: string,
): string | undefined {
  return collection.findBytes(name) === undefined ? collection.idByName.get(name) : name;
}
