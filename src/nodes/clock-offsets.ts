/**
 * Estimates the offset of another node's clock: how much it shows more than ours. Every 5 s each
 * node writes a beat, which bears the time at which the node began to send it. Pure: no I/O, and
 * the time is a parameter.
 *
 * Each beat gives a difference: the time in it, minus our time when it is applied here. The other
 * clock is ahead where the difference is above 0. An example with a delay of 0.2 s: our clock is at
 * 12:00:00.0 when a beat is sent, and at 12:00:00.2 when it is applied.
 *
 *   their clock is 3 s ahead:    the beat says 12:00:03.0, the difference is +2.8 s
 *   it is right:                 the beat says 12:00:00.0, the difference is -0.2 s
 *   it is 3 s behind:            the beat says 11:59:57.0, the difference is -3.2 s
 *
 * So the delay makes a difference too low, never too high. A positive one proves that the clock is
 * ahead by at least as much. A negative one may be the delay alone: we take the beat with the least
 * delay among the last few, and add the delay of our own beats, whose clock is ours. Beats that
 * arrive together were held up, as after a pause of this process: the first one stands for all.
 */
import { parseTimestamp } from '../base/clock.ts';
import type { Instant } from './lease-table.ts';
import type { NodeRecord } from './node-records.ts';

/** The last beats that count, about half a minute; all are needed to say that a clock is behind. */
const BEATS_MAX = 6;
/** Beats that are needed to say that a clock is ahead. */
const BEATS_MIN = 3;
/** A beat that is applied sooner after the beat before came together with that. */
const BEAT_GAP_MS_MIN = 2000;
/** A larger offset is reported. */
const OFFSET_MS_MAX = 1000;
/** Below this offset a reported clock counts as right again, and may be reported once more. */
const RECOVERED_OFFSET_MS = 500;

type ObservedNode = {
  readonly run: string;
  /** The differences of the last beats, the newest last. */
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
   * Records a beat that was applied at `now`. Returns the offset of its node's clock, in
   * milliseconds, when it has just become larger than a second, ahead or behind. Else returns null.
   */
  observe(id: string, { run, at }: NodeRecord, now: Instant): number | null {
    const previous = this.#nodes.get(id);
    const node = previous?.run === run ? previous
      : { run, differencesMs: [], appliedMs: -Infinity, isReported: false };
    this.#nodes.set(id, node);
    if (now.monotonicMs - node.appliedMs < BEAT_GAP_MS_MIN) return null;
    node.appliedMs = now.monotonicMs;
    node.differencesMs = [...node.differencesMs, parseTimestamp(at) - now.wallMs].slice(-BEATS_MAX);
    const offsetMs = this.estimateOffsetMs(id);
    if (offsetMs === null) return null;
    const wasReported = node.isReported;
    node.isReported = Math.abs(offsetMs) > (wasReported ? RECOVERED_OFFSET_MS : OFFSET_MS_MAX);
    return node.isReported && !wasReported ? offsetMs : null;
  }

  forget(id: string): void {
    this.#nodes.delete(id);
  }

  /** The clock of another node minus ours; null until enough of its beats were applied. */
  estimateOffsetMs(id: string): number | null {
    const { differencesMs = [] } = this.#nodes.get(id) ?? {};
    if (id === this.#self || differencesMs.length < BEATS_MIN) return null;
    const largestMs = Math.max(...differencesMs);
    if (largestMs >= 0) return largestMs;
    if (differencesMs.length < BEATS_MAX) return null;
    return Math.min(0, largestMs + this.#ownDelayMs());
  }

  /** The least delay among our own last beats; 0 when there are none. */
  #ownDelayMs(): number {
    const { differencesMs = [] } = this.#nodes.get(this.#self) ?? {};
    return differencesMs.length === 0 ? 0 : Math.max(0, -Math.max(...differencesMs));
  }
}
