/** What the store may hold in memory besides the records themselves. */

export type MemoryLimits = {
  /** Records of a collection in its LRU cache. */
  readonly cachedRecordsMax: number;
  /** Bytes that wait for the disk; beyond it writers are told to come again. */
  readonly stagedBytesMax: number;
};

export const STANDARD_LIMITS: MemoryLimits = { cachedRecordsMax: 32_768, stagedBytesMax: 64 << 20 };

// With what is derived from it and its entry in the map: 520 were measured; ids may be longer.
const CACHED_RECORD_BYTES = 1024;
const CACHE_SHARE = 1 / 16;
const STAGED_SHARE = 1 / 8;

/** For a process that may take `bytes` of memory in all. */
export function computeMemoryLimits(bytes: number): MemoryLimits {
  return {
    cachedRecordsMax: Math.min(
      STANDARD_LIMITS.cachedRecordsMax, Math.floor(bytes * CACHE_SHARE / CACHED_RECORD_BYTES)),
    stagedBytesMax: Math.min(STANDARD_LIMITS.stagedBytesMax, Math.floor(bytes * STAGED_SHARE)),
  };
}
