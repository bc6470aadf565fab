/**
 * A line of queues that wait for the same thing. The queue whose last start is longest ago comes
 * first, whenever it joined: so who waits again and again is passed by each other queue once.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';

type LineEntry<Q> = { readonly queue: Q; readonly turn: number };

export class QueueLine<Q extends { readonly turn: number }> {
  /** The turn with which each queue stands in the line. */
  readonly #turns = new Map<Q, number>();
  /** May hold entries of queues that have left the line, or joined it again. */
  readonly #entries = new PriorityQueue<LineEntry<Q>>((left, right) => left.turn < right.turn);

  add(queue: Q): void {
    const { turn } = queue;
    if (this.#turns.get(queue) === turn) return;
    this.#turns.set(queue, turn);
    this.#entries.push({ queue, turn });
  }

  /** Returns whether the queue was in the line. */
  remove(queue: Q): boolean {
    return this.#turns.delete(queue);
  }

  /** Takes the first queue out of the line; undefined: it is empty. */
  take(): Q | undefined {
    this.#entries.popWhile(({ queue, turn }) => this.#turns.get(queue) !== turn);
    const entry = this.#entries.pop();
    if (entry !== undefined) this.#turns.delete(entry.queue);
    return entry?.queue;
  }
}
