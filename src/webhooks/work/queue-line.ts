/**
 * Lines of queues that wait for the same thing. The queue whose last start is longest ago comes
 * first, whenever it joined: so who waits again and again is passed by each other queue once.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';

type LineEntry<Q> = { readonly queue: Q; readonly lastStartNumber: number };

export class QueueLine<Q extends { readonly lastStartNumber: number }> {
  /** The queues in the line, with their last starts when they joined it. */
  readonly #lastStarts = new Map<Q, number>();
  /** May hold entries of queues that have left the line, or joined it again. */
  readonly #entries =
    new PriorityQueue<LineEntry<Q>>((left, right) => left.lastStartNumber < right.lastStartNumber);

  add(queue: Q): void {
    const { lastStartNumber } = queue;
    if (this.#lastStarts.get(queue) === lastStartNumber) return;
    this.#lastStarts.set(queue, lastStartNumber);
    this.#entries.push({ queue, lastStartNumber });
  }

  /** Returns whether the queue was in the line. */
  remove(queue: Q): boolean {
    return this.#lastStarts.delete(queue);
  }

  /**
   * Takes the first queue out of the line. Returns undefined if the line is empty, or the last
   * start of its first queue came after `lastStartMax`.
   */
  take(lastStartMax = Infinity): Q | undefined {
    this.#entries.popWhile(({ queue, lastStartNumber }) =>
      this.#lastStarts.get(queue) !== lastStartNumber);
    const first = this.#entries.peek();
    if (first === undefined || first.lastStartNumber > lastStartMax) return undefined;
    this.#entries.pop();
    this.#lastStarts.delete(first.queue);
    return first.queue;
  }
}

type TargetQueue = { readonly lastStartNumber: number; readonly responsiveness: string };

/**
 * The line for the permits of one target. All queues that are not prompt alternate with the prompt
 * ones as if they were one queue: each may hold its permit for a whole time-out, and so a prompt
 * one waits for no more than one of them.
 */
export class TargetLine<Q extends TargetQueue> {
  readonly #prompt = new QueueLine<Q>();
  readonly #others = new QueueLine<Q>();
  /** The queues that were given a permit, and may start next. Nobody gets ahead of them. */
  readonly #permitHolders = new Set<Q>();
  /** How many starts there were when an attempt of the others last began or ended. */
  #othersLastStart = -Infinity;

  get permitHolderCount(): number {
    return this.#permitHolders.size;
  }

  add(queue: Q): void {
    if (queue.responsiveness === 'prompt') this.#prompt.add(queue);
    else this.#others.add(queue);
  }

  remove(queue: Q): void {
    this.#prompt.remove(queue);
    this.#others.remove(queue);
    this.#permitHolders.delete(queue);
  }

  /** Gives a permit to the first queue. */
  take(): Q | undefined {
    const queue = this.#prompt.take(this.#othersLastStart) ?? this.#others.take()
      ?? this.#prompt.take();
    if (queue !== undefined) this.#permitHolders.add(queue);
    return queue;
  }

  /** Takes back the permit that a queue may have been given. */
  withdrawPermit(queue: Q): void {
    this.#permitHolders.delete(queue);
  }

  /** Must be called when an attempt of a queue has begun or ended, after so many starts. */
  noteAttempt(queue: Q, startCount: number): void {
    if (queue.responsiveness !== 'prompt') this.#othersLastStart = startCount;
  }
}
