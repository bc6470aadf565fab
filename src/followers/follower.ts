/** Tells how far the copy of a follower is, and for how long it has been behind. */
import { formatTimestamp } from '../base/clock.ts';

/** A follower as operators see it. */
export type FollowerView = {
  /** The identifier of its copy. */
  readonly copy: string;
  /** The name that it gives itself, by default that of its machine. */
  readonly name: string;
  readonly address: string;
  readonly isConnected: boolean;
  /** The last transaction that is on its disk. */
  readonly sequence: number;
  readonly behindTransactions: number;
  /** For how long the oldest transaction that its disk lacks is committed here; 0 when level. */
  readonly behindSeconds: number;
  /** When it was last heard. */
  readonly seenAt: string;
};

/** A time for each quarter of a second, for a quarter of an hour: then the oldest is enough. */
const MARK_EVERY_MS = 250;
const MARKS_MAX = 3600;

/** A transaction that was committed at that time, on the monotonic clock. */
type CommitMark = { readonly sequence: number; readonly ms: number };

export type FollowerPlace = {
  readonly copy: string;
  readonly name: string;
  readonly address: string;
};

export class Follower {
  place: FollowerPlace;
  isConnected = true;
  /** When it was last heard, on the monotonic clock. */
  seenMs: number;
  #seenTimeMs: number;
  #sequence: number;
  /** Transactions that are not on its disk yet, the oldest first. */
  #unconfirmed: CommitMark[] = [];

  /** `nowMs` is on the monotonic clock, `timeMs` that of the wall. */
  constructor(place: FollowerPlace, sequence: number, nowMs: number, timeMs: number) {
    this.place = place;
    this.seenMs = nowMs;
    this.#seenTimeMs = timeMs;
    this.#sequence = sequence;
  }

  /** The last transaction that is on its disk. */
  get sequence(): number { return this.#sequence; }

  /** Called when a transaction was committed. */
  recordCommit(sequence: number, nowMs: number): void {
    const last = this.#unconfirmed.at(-1);
    if (last !== undefined && nowMs - last.ms < MARK_EVERY_MS) return;
    if (this.#unconfirmed.length < MARKS_MAX) this.#unconfirmed.push({ sequence, ms: nowMs });
  }

  /** Called when all up to `sequence` is on its disk; `headSequence` is the last committed here. */
  confirm(sequence: number, headSequence: number, nowMs: number, timeMs: number): void {
    const lastSeenMs = this.seenMs;
    this.seenMs = nowMs;
    this.#seenTimeMs = timeMs;
    this.#sequence = sequence;
    const firstLater = this.#unconfirmed.findIndex((mark) => mark.sequence > sequence);
    const lastBefore = firstLater === -1 ? this.#unconfirmed.at(-1)
      : this.#unconfirmed[firstLater - 1];
    this.#unconfirmed = firstLater === -1 ? [] : this.#unconfirmed.slice(firstLater);
    const isBehind = sequence < headSequence && this.#unconfirmed[0]?.sequence !== sequence + 1;
    // The missing transactions came after that mark; without a mark, while the follower was away.
    if (!isBehind) return;
    this.#unconfirmed.unshift({ sequence: sequence + 1, ms: lastBefore?.ms ?? lastSeenMs });
  }

  view(headSequence: number, nowMs: number): FollowerView {
    const [oldest] = this.#unconfirmed;
    const isBehind = this.#sequence < headSequence;
    const behindMs = isBehind ? nowMs - (oldest?.ms ?? this.seenMs) : 0;
    return {
      ...this.place, isConnected: this.isConnected, sequence: this.#sequence,
      behindTransactions: Math.max(0, headSequence - this.#sequence),
      behindSeconds: Math.round(behindMs / 100) / 10,
      seenAt: formatTimestamp(this.#seenTimeMs),
    };
  }
}
