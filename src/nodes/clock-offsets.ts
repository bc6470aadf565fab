/**
 * Measures how far the clocks of other nodes are off ours. Each beat bears the time at which its
 * node began to send it. Pure: no I/O, and the time is a parameter.
 *
 * A beat is applied here some time after it was sent, so it shows its node's clock too early by the
 * delay. A difference above 0 is therefore at least as large in truth. A difference below 0 may be
 * the delay alone: the fastest of the last few beats counts, less the delay of our own beats. Beats
 * that arrive together were held up, as after a pause of this process: the first stands for all.
 */
import { parseTimestamp } from '../base/clock.ts';
import type { Instant } from './lease-table.ts';
import type { NodeRecord } from './node-records.ts';

/** About half a minute: a node beats every 5 s. */
const BEATS_MAX = 6;
/** Beats needed to report a difference above 0. */
const BEATS_MIN = 3;
const BEAT_GAP_MS_MIN = 2000;
const OFFSET_MS_MAX = 1000;
/** A clock counts as right again below this, and may be reported once more. */
const RECOVERED_OFFSET_MS = 500;

type ObservedNode = {
  readonly run: string;
  /** Its clock minus ours by each of the last beats, the newest last. */
  differencesMs: readonly number[];
  /** When the last of those beats was applied here, on the monotonic clock. */
  appliedMs: number;
  /** Whether it was reported that the clock is off. */
  isReported: boolean;
};

export class ClockOffsets {
  readonly #self: string;
  readonly #nodes = new Map<string, ObservedNode>();

  constructor(self: string) {
    this.#self = self;
  }

  /**
   * Records a beat that was applied. Returns the offset of its node's clock in milliseconds when it
   * has just become larger than a second, else null.
   */
  observe(id: string, { run, at }: NodeRecord, now: Instant): number | null {
    const previous = this.#nodes.get(id);
    const node = previous?.run === run ? previous
      : { run, differencesMs: [], appliedMs: -Infinity, isReported: false };
    this.#nodes.set(id, node);
    if (now.monotonicMs - node.appliedMs < BEAT_GAP_MS_MIN) return null;
    node.appliedMs = now.monotonicMs;
    node.differencesMs = [...node.differencesMs, parseTimestamp(at) - now.wallMs].slice(-BEATS_MAX);
    const offsetMs = this.offsetMs(id);
    if (offsetMs === null) return null;
    const wasReported = node.isReported;
    node.isReported = Math.abs(offsetMs) > (wasReported ? RECOVERED_OFFSET_MS : OFFSET_MS_MAX);
    return node.isReported && !wasReported ? offsetMs : null;
  }

  forget(id: string): void {
    this.#nodes.delete(id);
  }

  /** The clock of another node minus ours; null until enough beats were seen to tell. */
  offsetMs(id: string): number | null {
    const { differencesMs = [] } = this.#nodes.get(id) ?? {};
    if (id === this.#self || differencesMs.length < BEATS_MIN) return null;
    const largestMs = Math.max(...differencesMs);
    if (largestMs >= 0) return largestMs;
    if (differencesMs.length < BEATS_MAX) return null;
    return Math.min(0, largestMs + this.#ownDelayMs());
  }

  /** The delay of the fastest of our own beats. */
  #ownDelayMs(): number {
    const { differencesMs = [] } = this.#nodes.get(this.#self) ?? {};
    return differencesMs.length === 0 ? 0 : Math.max(0, -Math.max(...differencesMs));
  }
}
