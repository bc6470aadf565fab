/**
 * Lines of queues that wait for the same thing. The queue whose last start is longest ago comes
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

  /**
   * Takes the first queue out of the line. Returns undefined if the line is empty, or the last
   * start of its first queue came after `lastTurn`.
   */
  take(lastTurn = Infinity): Q | undefined {
    this.#entries.popWhile(({ queue, turn }) => this.#turns.get(queue) !== turn);
    const first = this.#entries.peek();
    if (first === undefined || first.turn > lastTurn) return undefined;
    this.#entries.pop();
    this.#turns.delete(first.queue);
    return first.queue;
  }
}

type TargetQueue = { readonly turn: number; readonly health: string };

/**
 * The line for the places at one target. All queues that are not known to be healthy take turns
 * with the healthy ones as if they were one queue: each may hold its place for a whole time-out,
 * and so a healthy one waits for no more than one of them.
 */
export class TargetLine<Q extends TargetQueue> {
  readonly #healthy = new QueueLine<Q>();
  readonly #others = new QueueLine<Q>();
  /** The queues that were given a place, and may start next. Nobody gets ahead of them. */
  readonly #placeHolders = new Set<Q>();
  /** The turn when an attempt of the others last began or ended. */
  #othersTurn = -Infinity;

  get placeHolderCount(): number {
    return this.#placeHolders.size;
  }

  add(queue: Q): void {
    if (queue.health === 'healthy') this.#healthy.add(queue);
    else this.#others.add(queue);
  }

  remove(queue: Q): void {
    this.#healthy.remove(queue);
    this.#others.remove(queue);
    this.#placeHolders.delete(queue);
  }

  /** Gives a place to the first queue. */
  take(): Q | undefined {
    const queue = this.#healthy.take(this.#othersTurn) ?? this.#others.take()
      ?? this.#healthy.take();
    if (queue !== undefined) this.#placeHolders.add(queue);
    return queue;
  }

  /** Takes back the place that a queue may have been given. */
  takeBack(queue: Q): void {
    this.#placeHolders.delete(queue);
  }

  /** Must be called when an attempt of a queue has begun or ended. */
  countTurn(queue: Q, turn: number): void {
    if (queue.health !== 'healthy') this.#othersTurn = turn;
  }
}
