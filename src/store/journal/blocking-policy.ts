/**
 * Whether a batch is written and synced on the loop, or in the thread pool. Blocking saves the way
 * through the pool and back: on a fast disk 64 writers take a twentieth less CPU time. On a slow
 * disk it stops every reader for as long as the disk takes. What a sync takes can only be measured
 * while blocking (in the pool the loop's own work is in the figure), so after one slow batch the
 * pool takes the next ones, and then the loop is tried again.
 */
const SLOW_MS = 1;
const POOLED_BATCHES = 256;
// A large batch takes long on any disk.
const BLOCKING_BYTES_MAX = 256 * 1024;

export class BlockingPolicy {
  #pooledLeft = 0;

  /** Asked before each batch. */
  mayBlock(bytes: number): boolean {
    if (bytes > BLOCKING_BYTES_MAX) return false;
    if (this.#pooledLeft === 0) return true;
    this.#pooledLeft -= 1;
    return false;
  }

  /** Told how long each batch blocked the loop. */
  recordDuration(durationMs: number): void {
    if (durationMs >= SLOW_MS) this.#pooledLeft = POOLED_BATCHES;
  }
}
