/**
 * Decides when a batch has gathered enough: after two turns of the loop in a row without a new
 * transaction, at the latest after eight turns. It sets no timer.
 *
 * Without the window 64 connections fall into cohorts that take turns. With one quiet turn they
 * still do, as the question is asked before the request bodies of the same turn arrive: that made a
 * third more batches, and a durable write took a twelfth more CPU time with 64 connections, a tenth
 * more with 8.
 */
const TURNS_MAX = 8;
const QUIET_TURNS = 2;
const BATCH_BYTES_MAX = 4 << 20;

export class BatchWindow {
  #lastCount = 0;
  #turns = 0;
  /** Turns in a row without a new transaction. */
  #quietTurns = 0;

  /** Counts one turn. True when the window closes; the next call opens another one. */
  closesThisTurn(transactions: number, bytes: number): boolean {
    this.#turns += 1;
    this.#quietTurns = transactions === this.#lastCount ? this.#quietTurns + 1 : 0;
    const isOver = this.#quietTurns >= QUIET_TURNS || this.#turns >= TURNS_MAX
      || bytes >= BATCH_BYTES_MAX;
    this.#lastCount = transactions;
    if (isOver) this.#lastCount = this.#turns = this.#quietTurns = 0;
    return isOver;
  }
}
