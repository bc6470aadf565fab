/**
 * When a batch has gathered enough. It waits until so many turns of the loop in a row bring no new
 * transaction: with none, 64 connections fall into two cohorts that chase each other, and half as
 * many writers share a sync. There is no timer. Where writers never pause, as with a thousand
 * connections, waiting longer than a sync takes only adds to what each of them waits.
 */
const QUIET_TURNS = 2;
const TURNS_MAX = 64;
const GATHER_MS_MAX = 5;
const BATCH_BYTES_MAX = 4 << 20;

export class GatherPace {
  #seen = 0;
  #quietTurns = 0;
  #turns = 0;
  #startedMs = 0;

  /** Asked once a turn; starts anew after it has said yes. */
  isOver(transactions: number, bytes: number, nowMs: number): boolean {
    if (this.#turns === 0) this.#startedMs = nowMs;
    this.#turns += 1;
    this.#quietTurns = transactions > this.#seen ? 0 : this.#quietTurns + 1;
    this.#seen = transactions;
    const isOver = this.#quietTurns >= QUIET_TURNS || this.#turns >= TURNS_MAX
      || bytes >= BATCH_BYTES_MAX || nowMs - this.#startedMs > GATHER_MS_MAX;
    if (isOver) this.reset();
    return isOver;
  }

  reset(): void {
    this.#seen = 0;
    this.#quietTurns = 0;
    this.#turns = 0;
  }
}
