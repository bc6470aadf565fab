/**
 * Whether the next batch is written and synced on the loop, in the thread pool, or written on the
 * loop and synced in the pool.
 *
 * Blocking saves two hops through the pool: on a fast disk (fdatasync 0.15 ms) 64 writers reach
 * 1.2 times the throughput and a lone writer half the latency. On a slow disk it stops every reader
 * for as long as the disk takes. What a sync takes can only be measured while blocking (in the
 * pool the loop's own work is in the figure), so the pool is left now and then for one batch; one
 * slow batch leads back, and each spell that ends soon makes the next trial come later.
 *
 * While nobody waits for a batch the loop has better to do than to wait for the disk: deliveries to
 * one webhook, eight at a time, go a third faster with the results of those before in the pool.
 *
 * The write alone goes to the page cache in microseconds; in the pool it would cost a turn of a
 * busy loop. Only while the disk has other work can it block, as the kernel throttles writers.
 */
import type { Urgency } from '../port.ts';

export type SyncWay = 'loop' | 'pooled-sync' | 'pool';

const SLOW_MS = 1;
const TRIAL_AFTER_BATCHES_MIN = 16;
const TRIAL_AFTER_BATCHES_MAX = 4096;
const SHORT_SPELL_BATCHES = 64;
// A large batch takes long on any disk.
const LOOP_BYTES_MAX = 256 * 1024;

export class SyncPolicy {
  #isFast = false;
  #batches = 0;
  #trialAfter = 4;

  /** Asked before each batch. */
  choose(bytes: number, isDiskBusy: boolean, urgency: Urgency): SyncWay {
    if (isDiskBusy || bytes > LOOP_BYTES_MAX) return 'pool';
    if (urgency === 'background') return 'pooled-sync';
    if (this.#isFast) return 'loop';
    this.#batches += 1;
    return this.#batches > this.#trialAfter ? 'loop' : 'pooled-sync';
  }

  /** Told what each batch on the loop took. */
  record(tookMs: number): void {
    if (tookMs < SLOW_MS) {
      if (!this.#isFast) this.#batches = 0;
      this.#isFast = true;
      this.#batches += 1;
      return;
    }
    const wasShort = !this.#isFast || this.#batches < SHORT_SPELL_BATCHES;
    const longer = Math.min(this.#trialAfter * 2, TRIAL_AFTER_BATCHES_MAX);
    this.#trialAfter = wasShort
      ? Math.max(longer, TRIAL_AFTER_BATCHES_MIN) : TRIAL_AFTER_BATCHES_MIN;
    this.#isFast = false;
    this.#batches = 0;
  }
}
