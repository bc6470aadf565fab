/** Records by the names that they have beside their keys. */
import type { Collection } from '../store/port.ts';

/** The key of the record that has this key or name; the key counts first. */
export function findKey(
  collection: Pick<Collection, 'bytesOf' | 'idByName'>, name: string,
): string | undefined {
  return collection.bytesOf(name) === undefined ? collection.idByName.get(name) : name;
}
