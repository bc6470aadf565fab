/**
 * When a batch has gathered enough: once two turns of the loop in a row bring no new transaction,
 * at the latest after so many turns. No timer is set. Without it 64 connections fall into cohorts
 * that take turns. With one quiet turn they still do, as this is asked before the bodies of the
 * same turn are handed over: a third more batches, and a twelfth more CPU time for each durable
 * write of 64 connections, a tenth for 8.
 */
const TURNS_MAX = 8;
const QUIET_TURNS = 2;
const BATCH_BYTES_MAX = 4 << 20;

export class BatchWindow {
  #lastCount = 0;
  #turns = 0;
  /** In a row, without a new transaction. */
  #quietTurns = 0;

  /** Asked once a turn; starts anew after it has said yes. */
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
