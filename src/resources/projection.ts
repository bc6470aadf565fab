/** Derived state of a collection, fed from applied entries and nothing else. */
import type { Change, Collection } from '../store/store-port.ts';

/** Calls `apply` for every record there is, then for every change. Returns what ends it. */
export function followRecords(
  collection: Collection, apply: (change: Change) => void,
): () => void {
  const walk = collection.walk();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const id = collection.idAt(slot);
    const after = collection.bytesAt(slot);
    if (id === undefined || after === undefined) continue;
    apply({ collection: collection.spec.name, id, before: null, after });
  }
  return collection.onChange(apply);
}
