/**
 * Lines of queues that wait for the same thing. The queue whose last start is longest ago comes
 * first, whenever it joined: so who waits again and again is passed by each other queue once.
 */
import { PriorityQueue } from '../../base/structures/priority-queue.ts';

type LineEntry<Q> = { readonly queue: Q; readonly lastStartNumber: number };

export class QueueLine<Q extends { readonly lastStartNumber: number }> {
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

  remove(queue: Q): boolean {
    return this.#lastStarts.delete(queue);
  }

  /** undefined: the line is empty, or its first queue has started after `lastStartMax`. */
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
 * ones as if they were one queue: each may hold its permit for a whole time-out, so a prompt queue
 * waits for no more than one of them.
 */
export class TargetLine<Q extends TargetQueue> {
  readonly #prompt = new QueueLine<Q>();
  readonly #others = new QueueLine<Q>();
  /** The queues that were given a permit and may start next. No other queue gets ahead of them. */
  readonly #permitHolders = new Set<Q>();
  /** The number of starts when an attempt of a queue in `#others` last began or ended. */
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

  take(): Q | undefined {
    const queue = this.#prompt.take(this.#othersLastStart) ?? this.#others.take()
      ?? this.#prompt.take();
    if (queue !== undefined) this.#permitHolders.add(queue);
    return queue;
  }

  withdrawPermit(queue: Q): void {
    this.#permitHolders.delete(queue);
  }

  noteAttempt(queue: Q, startCount: number): void {
    if (queue.responsiveness !== 'prompt') this.#othersLastStart = startCount;
  }
}
