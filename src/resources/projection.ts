/**
 * Feeds a projection: state that is derived from a collection's applied changes alone. A projection
 * lives as long as its store, so it is not closed; what also acts on a change has to end that.
 */
import { walkRecords } from '../store/find-record.ts';
import type { Change, Collection } from '../store/store-port.ts';

/** Calls `apply` for every record there is, then for every change, until the result is called. */
export function followRecords(
  collection: Collection, apply: (change: Change, slot: number) => void,
): () => void {
  for (const { slot, id, bytes } of walkRecords(collection)) {
    apply({ collection: collection.spec.name, id, before: null, after: bytes }, slot);
  }
  return collection.onChange(apply);
}
