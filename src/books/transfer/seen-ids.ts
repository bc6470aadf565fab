/**
 * Remembers which ids went by, in 8 bytes each and up to a limit, for a rehearsed import, where
 * nothing is stored that could tell. Of ids beyond the limit it does not know.
 */

const ENTRIES_MAX = 4_000_000;
const SLOTS_START = 1024;

export class SeenIds {
  #high = new Uint32Array(SLOTS_START);
  #low = new Uint32Array(SLOTS_START);
  #count = 0;

  /** Whether this UUID was added before; adds it. Two ids look alike once in 2^64. */
  add(id: string): boolean {
    const [high, low] = fingerprint(id);
    const slot = find(this.#high, this.#low, high, low);
    if (this.#low[slot] !== 0) return true;
    if (this.#count === ENTRIES_MAX) return false;
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#count += 1;
    if (this.#count * 2 > this.#low.length) this.#grow();
    return false;
  }

  #grow(): void {
    const high = new Uint32Array(this.#high.length * 2);
    const low = new Uint32Array(this.#low.length * 2);
    for (let index = 0; index < this.#low.length; index += 1) {
      const [left = 0, right = 0] = [this.#high[index], this.#low[index]];
      if (right === 0) continue;
      const slot = find(high, low, left, right);
      high[slot] = left;
      low[slot] = right;
    }
    this.#high = high;
    this.#low = low;
  }
}

/** The slot that holds the pair, or the empty one (low is 0) where it belongs. */
function find(highs: Uint32Array, lows: Uint32Array, high: number, low: number): number {
  const mask = lows.length - 1;
  let slot = (high ^ low) & mask;
  while (lows[slot] !== 0 && (lows[slot] !== low || highs[slot] !== high)) slot = (slot + 1) & mask;
  return slot;
}

/** Two well mixed 32-bit halves (after MurmurHash3) of the id's text; the second is never 0. */
function fingerprint(id: string): [number, number] {
  let high = 0x9747b28c;
  let low = 0x85ebca6b;
  for (let index = 0; index < id.length; index += 1) {
    const unit = id.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x5bd1e995);
    high ^= high >>> 15;
    low = Math.imul(low ^ unit, 0xc2b2ae35);
    low ^= low >>> 13;
  }
  return [finish(high), finish(low) || 1];
}

function finish(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
