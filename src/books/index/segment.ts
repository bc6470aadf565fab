/**
 * A part of the word index that never changes but for the books that die in it: a sorted dictionary
 * of terms, and for each the places of the books that have it. A book's words all stand in one
 * segment, so that a segment can be asked by itself.
 */
import { Bits } from '../../base/structures/bit-set.ts';
import { writeBitmap, writeList } from './postings.ts';

export class Segment {
  readonly postings: Uint8Array;
  readonly termCount: number;
  /** Place 0 is this slot, a multiple of 32. */
  readonly firstSlot: number;
  readonly placeBound: number;
  /** The places whose books are still as they were when the segment was made. */
  readonly live: Bits;
  readonly documentCount: number;
  liveCount: number;
  readonly #terms: Buffer;
  readonly #termEnds: Uint32Array;
  readonly #postingEnds: Uint32Array;

  constructor(parts: SegmentParts) {
    this.#terms = parts.terms;
    this.#termEnds = parts.termEnds;
    this.#postingEnds = parts.postingEnds;
    this.postings = parts.postings;
    this.termCount = parts.termCount;
    this.firstSlot = parts.firstSlot;
    this.placeBound = parts.placeBound;
    this.live = parts.live;
    this.liveCount = parts.live.count();
    this.documentCount = this.liveCount;
  }

  /** About what it holds in memory. */
  get bytes(): number {
    return this.termBytes + this.postingBytes + this.termCount * 8 + this.placeBound / 8;
  }

  get termBytes(): number { return this.#termEnds[this.termCount - 1] ?? 0; }
  get postingBytes(): number { return this.#postingEnds[this.termCount - 1] ?? 0; }

  /** Forgets the book in a slot, if it is here. Whether it was. */
  remove(slot: number): boolean {
    const place = slot - this.firstSlot;
    if (place < 0 || place >= this.placeBound || !this.live.delete(place)) return false;
    this.liveCount -= 1;
    return true;
  }

  term(index: number): string {
    return this.#terms.toString('latin1', this.#termEnds[index - 1] ?? 0, this.#termEnds[index]);
  }

  postingStart(index: number): number { return this.#postingEnds[index - 1] ?? 0; }
  postingEnd(index: number): number { return this.#postingEnds[index] ?? 0; }

  /** The index of the first term that does not sort before `text`. */
  lowerBound(text: string): number {
    let low = 0;
    let high = this.termCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.term(middle) < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

type SegmentParts = {
  readonly terms: Buffer;
  readonly termEnds: Uint32Array;
  readonly termCount: number;
  readonly postings: Uint8Array;
  readonly postingEnds: Uint32Array;
  readonly firstSlot: number;
  readonly placeBound: number;
  readonly live: Bits;
};

/** Room that a segment needs at most; what is not used costs no memory, as it is never touched. */
export type SegmentRoom = {
  readonly terms: number;
  readonly termBytes: number;
  readonly postingBytes: number;
  readonly firstSlot: number;
  readonly placeBound: number;
};

const VARINT_BYTES_MAX = 5;

/** Takes terms in rising order, each with its places, and makes a segment of them. */
export class SegmentWriter {
  readonly #room: SegmentRoom;
  readonly #terms: Buffer;
  readonly #termEnds: Uint32Array;
  readonly #postingEnds: Uint32Array;
  #postings: Uint8Array;
  #termCount = 0;
  #termBytes = 0;
  #postingBytes = 0;

  constructor(room: SegmentRoom) {
    this.#room = room;
    this.#terms = Buffer.allocUnsafeSlow(room.termBytes);
    this.#termEnds = new Uint32Array(room.terms);
    this.#postingEnds = new Uint32Array(room.terms);
    this.#postings = Buffer.allocUnsafeSlow(room.postingBytes);
  }

  /** `places` rise. */
  addList(term: string, places: Uint32Array, count: number): void {
    if (count === 0) return;
    this.#reserve(count * VARINT_BYTES_MAX);
    this.#end(term, writeList(this.#postings, this.#postingBytes, places, count));
  }

  /** The places as bits, for terms that many books have. */
  addBitmap(term: string, words: Uint32Array): void {
    this.#reserve(words.length * 4 + 1);
    this.#end(term, writeBitmap(this.#postings, this.#postingBytes, words));
  }

  finish(live: Bits): Segment {
    return new Segment({
      terms: this.#terms, termEnds: this.#termEnds, termCount: this.#termCount,
      postings: this.#postings, postingEnds: this.#postingEnds,
      firstSlot: this.#room.firstSlot, placeBound: this.#room.placeBound, live,
    });
  }

  #end(term: string, postingEnd: number): void {
    this.#termBytes += this.#terms.write(term, this.#termBytes, 'latin1');
    this.#postingBytes = postingEnd;
    this.#termEnds[this.#termCount] = this.#termBytes;
    this.#postingEnds[this.#termCount] = postingEnd;
    this.#termCount += 1;
  }

  #reserve(bytes: number): void {
    const needed = this.#postingBytes + bytes;
    if (needed <= this.#postings.length) return;
    const larger = Buffer.allocUnsafeSlow(needed + (needed >>> 2));
    larger.set(this.#postings.subarray(0, this.#postingBytes));
    this.#postings = larger;
  }
}
