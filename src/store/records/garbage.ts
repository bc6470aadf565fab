/** Measures the memory of removed records, which a compaction would free. */
import type { StoredCollection } from './collection.ts';

// Garbage below either of these does not matter.
const GARBAGE_BYTES_MIN = 32 << 20;
const GARBAGE_SHARE_MAX = 0.5;

/** The bytes of all records, and whether there is so much garbage that a snapshot pays. */
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
