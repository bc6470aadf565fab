/**
 * How far the clocks of other nodes are off ours, by the time that each of their beats bears: when
 * its node began to send it. No I/O, and the time only as it is told.
 *
 * A beat is applied here some time after it was sent, so that it shows its node's clock as much too
 * early. A difference above 0 is therefore at least as large in truth. One below 0 may be the way
 * alone: of the last few beats the one counts that was fastest, and what our own beats take to come
 * back to us is not counted. Beats that come together were held up, as those that a process finds
 * that stood still: the first of them stands for all.
 */
import { parseTimestamp } from '../base/clock.ts';
import type { Instant } from './lease-table.ts';
import type { NodeRecord } from './records.ts';

/** A node beats each 5 s, so that this is about half a minute. */
const BEATS = 6;
/** For a difference above 0. */
const BEATS_MIN = 3;
const APART_MS_MIN = 2000;
const TOLERATED_MS = 1000;
/** Below this it may become too much once more. */
const RIGHT_MS = 500;

type ObservedNode = {
  readonly run: string;
  /** Their clock minus ours, as the last beats showed it; the newest last. */
  differencesMs: readonly number[];
  appliedMs: number;
  /** It was told that the clock is off. */
  isKnown: boolean;
};

export class ClockOffsets {
  readonly #self: string;
  readonly #nodes = new Map<string, ObservedNode>();

  constructor(self: string) {
    this.#self = self;
  }

  /**
   * A beat is applied. Returns by how much the clock of its node is off ours, in milliseconds, when
   * that has become more than a second, and null otherwise.
   */
  observe(id: string, { run, at }: NodeRecord, now: Instant): number | null {
    const known = this.#nodes.get(id);
    const node = known?.run === run ? known
      : { run, differencesMs: [], appliedMs: -Infinity, isKnown: false };
    this.#nodes.set(id, node);
    if (now.monotonicMs - node.appliedMs < APART_MS_MIN) return null;
    node.appliedMs = now.monotonicMs;
    node.differencesMs = [...node.differencesMs, parseTimestamp(at) - now.wallMs].slice(-BEATS);
    const offsetMs = this.offsetMs(id);
    if (offsetMs === null) return null;
    const wasKnown = node.isKnown;
    node.isKnown = Math.abs(offsetMs) > (wasKnown ? RIGHT_MS : TOLERATED_MS);
    return node.isKnown && !wasKnown ? offsetMs : null;
  }

  forget(id: string): void {
    this.#nodes.delete(id);
  }

  /** The clock of another node minus ours; null while too few of its beats were seen. */
  offsetMs(id: string): number | null {
    const { differencesMs = [] } = this.#nodes.get(id) ?? {};
    if (id === this.#self || differencesMs.length < BEATS_MIN) return null;
    const largestMs = Math.max(...differencesMs);
    if (largestMs >= 0) return largestMs;
    if (differencesMs.length < BEATS) return null;
    return Math.min(0, largestMs + this.#ownDelayMs());
  }

  /** What the fastest of our own beats took. */
  #ownDelayMs(): number {
    const { differencesMs = [] } = this.#nodes.get(this.#self) ?? {};
    return differencesMs.length === 0 ? 0 : Math.max(0, -Math.max(...differencesMs));
  }
}
