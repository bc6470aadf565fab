/** The segments of the word index, and which of them should become one. */
import type { Segment } from './segment.ts';

const SEGMENTS_PER_MERGE = 8;

export class SegmentTiers {
  readonly #overlayBooks: number;
  #segments: readonly Segment[] = [];

  constructor(overlayBooks: number) {
    this.#overlayBooks = overlayBooks;
  }

  /** As they are now; what is added or replaced later does not show. */
  get all(): readonly Segment[] {
    return this.#segments;
  }

  /** About what they hold in memory. */
  get bytes(): number {
    return bytesOf(this.#segments);
  }

  /** Dead documents take room too. */
  get documentCount(): number {
    return this.#segments.reduce((sum, { documentCount }) => sum + documentCount, 0);
  }

  /** Puts `segment`, if there is anything in it, in the place of `group`. */
  replace(group: readonly Segment[], segment: Segment | null): void {
    const rest = this.#segments.filter((one) => !group.includes(one));
    this.#segments = segment === null ? rest : [...rest, segment];
  }

  clear(): void {
    this.#segments = [];
  }

  /** Forgets the book in a slot. */
  kill(slot: number): void {
    this.#segments.some((segment) => segment.kill(slot));
  }

  /**
   * Eight segments of one size, or one that is mostly dead; none where they and what becomes of
   * them would take more than `bytesMax` together with all others.
   */
  nextMerge(bytesMax: number): readonly Segment[] {
    const group = this.#nextGroup();
    return this.bytes + bytesOf(group) <= bytesMax ? group : [];
  }

  #nextGroup(): readonly Segment[] {
    const tiers = new Map<number, Segment[]>();
    for (const segment of this.#segments) {
      if (segment.liveCount * 2 < segment.documentCount) return [segment];
      const size = Math.max(1, segment.liveCount / this.#overlayBooks);
      const tier = Math.floor(Math.log(size) / Math.log(SEGMENTS_PER_MERGE) + 0.1);
      const group = [...tiers.get(tier) ?? [], segment];
      if (group.length === SEGMENTS_PER_MERGE) return group;
      tiers.set(tier, group);
    }
    return [];
  }
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.bytes, 0);
}
