/**
 * When a batch has gathered enough. It waits until so many turns of the loop in a row bring no new
 * transaction, and hardly longer than a quarter of what a sync takes; no timer is set. On a slow
 * disk it pays to have everybody in one sync: 64 connections would else fall into two cohorts that
 * take turns. On a faster one the loop's own work on the next requests is the longer part, and had
 * better go on while the disk works than be waited for with the disk idle (simulated, 64 writers,
 * 1 ms a sync: up to a fifth more throughput).
 */
const QUIET_TURNS = 2;
const TURNS_MAX = 64;
const GATHER_MS_MIN = 0.2;
const GATHER_MS_MAX = 5;
const GATHER_SHARE_OF_SYNC = 0.25;
// Weight of the newest sync in the running mean.
const NEWEST_SHARE = 0.2;
const BATCH_BYTES_MAX = 4 << 20;

export class GatherPace {
  #seen = 0;
  #quietTurns = 0;
  #turns = 0;
  #startedMs = 0;
  #syncMs = 0;

  /** Told what each write and sync took. */
  noteSync(tookMs: number): void {
    this.#syncMs += (tookMs - this.#syncMs) * NEWEST_SHARE;
  }

  /** Asked once a turn; starts anew after it has said yes. */
  isOver(transactions: number, bytes: number, nowMs: number): boolean {
    if (this.#turns === 0) this.#startedMs = nowMs;
    const shareMs = this.#syncMs * GATHER_SHARE_OF_SYNC;
    const limitMs = Math.min(Math.max(shareMs, GATHER_MS_MIN), GATHER_MS_MAX);
    this.#turns += 1;
    this.#quietTurns = transactions > this.#seen ? 0 : this.#quietTurns + 1;
    this.#seen = transactions;
    const isOver = this.#quietTurns >= QUIET_TURNS || this.#turns >= TURNS_MAX
      || bytes >= BATCH_BYTES_MAX || nowMs - this.#startedMs > limitMs;
    if (isOver) this.reset();
    return isOver;
  }

  reset(): void {
    this.#seen = 0;
    this.#quietTurns = 0;
    this.#turns = 0;
  }
}
