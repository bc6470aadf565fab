/**
 * Decides whether a batch is written and synced on the loop, or in the thread pool. Blocking the
 * loop saves the way through the pool and back: on a fast disk 64 writers take a twentieth less CPU
 * time. On a slow disk it stops every reader for as long as the disk takes. The duration of a sync
 * can only be measured while blocking, as in the pool the figure includes the loop's own work. So
 * after one slow batch the pool takes the next 256, and then the loop is tried again.
 */
const SLOW_MS = 1;
const POOLED_BATCHES = 256;
// A large batch takes long on any disk.
const BLOCKING_BYTES_MAX = 256 * 1024;

export class BlockingPolicy {
  #pooledLeft = 0;

  /** Called once for each batch, with its length. */
  mayBlock(bytes: number): boolean {
    if (bytes > BLOCKING_BYTES_MAX) return false;
    if (this.#pooledLeft === 0) return true;
    this.#pooledLeft -= 1;
    return false;
  }

  /** Called with the time for which a batch has blocked the loop. */
  recordDuration(durationMs: number): void {
    if (durationMs >= SLOW_MS) this.#pooledLeft = POOLED_BATCHES;
  }
}
