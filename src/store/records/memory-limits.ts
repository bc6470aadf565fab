/** What the store may hold in memory besides the records themselves. */

export type MemoryLimits = {
  /** Records of a collection, found lately, that are kept as objects with their headers. */
  readonly hotRecordsMax: number;
  /** Bytes that wait for the disk; beyond it writers are told to come again. */
  readonly stagedBytesMax: number;
};

export const STANDARD_LIMITS: MemoryLimits = { hotRecordsMax: 32_768, stagedBytesMax: 64 << 20 };

// With its headers and its place in the map: 520 were measured, and ids may be longer.
const HOT_RECORD_BYTES = 1024;
const HOT_SHARE = 1 / 16;
const STAGED_SHARE = 1 / 8;

/** For a process that may take `bytes` in all. */
export function limitsFor(bytes: number): MemoryLimits {
  return {
    hotRecordsMax:
      Math.min(STANDARD_LIMITS.hotRecordsMax, Math.floor(bytes * HOT_SHARE / HOT_RECORD_BYTES)),
    stagedBytesMax: Math.min(STANDARD_LIMITS.stagedBytesMax, Math.floor(bytes * STAGED_SHARE)),
  };
}
