/** Bytes of records that are gone and still take memory. A snapshot packs what is left anew. */
import type { StoredCollection } from './collection.ts';

// Below the one or the other it does not matter.
const GARBAGE_BYTES_MIN = 32 << 20;
const GARBAGE_SHARE_MAX = 0.5;

/** Bytes of all records, and whether a snapshot is worth writing for what it gives back. */
export function measureGarbage(
  collections: ReadonlyMap<string, StoredCollection>,
): { readonly liveBytes: number; readonly isWorthCompacting: boolean } {
  let liveBytes = 0;
  let garbageBytes = 0;
  for (const { bytesTotal, table } of collections.values()) {
    liveBytes += bytesTotal;
    garbageBytes += table.arena.garbageBytes;
  }
  const garbageBytesMax = Math.max(GARBAGE_BYTES_MIN, liveBytes * GARBAGE_SHARE_MAX);
  const isWorthCompacting = garbageBytes > garbageBytesMax;
  return { liveBytes, isWorthCompacting };
}
