/** Feeds a projection: state that is derived from a collection's applied changes alone. */
import type { Change, Collection } from '../store/store-port.ts';

/** Calls `apply` for every record there is, then for every change, until the result is called. */
export function followRecords(
  collection: Collection, apply: (change: Change, slot: number) => void,
): () => void {
  const walk = collection.walk();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const id = collection.idAt(slot);
    const after = collection.bytesAt(slot);
    if (id === undefined || after === undefined) continue;
    apply({ collection: collection.spec.name, id, before: null, after }, slot);
  }
  return collection.onChange(apply);
}
