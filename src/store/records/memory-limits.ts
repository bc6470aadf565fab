/** Limits of the memory that the store takes besides the records themselves. */

export type MemoryLimits = {
  /** Records in the LRU cache of a collection. */
  readonly cachedRecordsMax: number;
  /** Bytes that wait for the disk; beyond it writers are asked to retry. */
  readonly stagedBytesMax: number;
};

export const STANDARD_LIMITS: MemoryLimits = { cachedRecordsMax: 32_768, stagedBytesMax: 64 << 20 };

// A cached record with its derived value and its map entry: measured 520, but ids may be longer.
const CACHED_RECORD_BYTES = 1024;
const CACHE_SHARE = 1 / 16;
const STAGED_SHARE = 1 / 8;

export function computeMemoryLimits(bytes: number): MemoryLimits {
  return {
    cachedRecordsMax: Math.min(
      STANDARD_LIMITS.cachedRecordsMax, Math.floor(bytes * CACHE_SHARE / CACHED_RECORD_BYTES)),
    stagedBytesMax: Math.min(STANDARD_LIMITS.stagedBytesMax, Math.floor(bytes * STAGED_SHARE)),
  };
}
