/**
 * An immutable part of the word index: a sorted dictionary of terms and, for each, the places of
 * the books that have it. A book's place is its slot in the store, counted from the segment's first
 * slot. Only `live` changes: removing a book clears its bit (a tombstone), and a book that has
 * changed is indexed again in another part. All words of a book are in the same part, so a segment
 * can be searched by itself.
 *
 * A term is a byte string: its tag (see memtable.ts), then the folded word in UTF-8. As a string it
 * has one character for each byte (latin1), so that strings sort as the bytes do. Its places are
 * packed as a list or as a bitmap, which their first byte tells: see packed-postings.ts.
 */
import { BitSet } from '../../base/structures/bit-set.ts';
import { writeBitmap, writeList } from './packed-postings.ts';

export class Segment {
  readonly postings: Uint8Array;
  readonly termCount: number;
  /** The slot of place 0; a multiple of 32, so that bits of places are moved in whole elements. */
  readonly firstSlot: number;
  /** All places are below it. */
  readonly placeBound: number;
  /** The places whose books have not changed since the segment was written. */
  readonly live: BitSet;
  /** How many books were live when the segment was written. */
  readonly bookCount: number;
  liveCount: number;
  /** The bytes of all terms, one term after another. */
  readonly terms: Buffer;
  readonly #termEnds: Uint32Array;
  readonly #postingEnds: Uint32Array;

  constructor(data: SegmentData) {
    this.terms = data.terms;
    this.#termEnds = data.termEnds;
    this.#postingEnds = data.postingEnds;
    this.postings = data.postings;
    this.termCount = data.termCount;
    this.firstSlot = data.firstSlot;
    this.placeBound = data.placeBound;
    this.live = data.live;
    this.liveCount = data.live.count();
    this.bookCount = this.liveCount;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.termBytes + this.postingBytes + this.termCount * 8 + this.placeBound / 8;
  }

  get termBytes(): number { return this.#termEnds[this.termCount - 1] ?? 0; }
  get postingBytes(): number { return this.#postingEnds[this.termCount - 1] ?? 0; }

  /** Removes the book in a slot, if it is here. Returns whether it was. */
  remove(slot: number): boolean {
    const place = slot - this.firstSlot;
    if (place < 0 || place >= this.placeBound || !this.live.delete(place)) return false;
    this.liveCount -= 1;
    return true;
  }

  term(index: number): string {
    return this.terms.toString('latin1', this.termStart(index), this.termEnd(index));
  }

  /** Sets a term as the one that `writer` writes next. */
  copyTermTo(index: number, writer: SegmentWriter): void {
    writer.setTerm(this.terms, this.termStart(index), this.termEnd(index));
  }

  termStart(index: number): number { return this.#termEnds[index - 1] ?? 0; }
  termEnd(index: number): number { return this.#termEnds[index] ?? 0; }
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

  /**
   * The index of the first term after `index` that does not begin with its first `length` bytes.
   * That term is near in most cases, so the search doubles its steps.
   */
  skipPrefix(index: number, length: number): number {
    let low = index;
    let high = index + 1;
    while (high < this.termCount && this.#sharesPrefix(index, high, length)) {
      low = high;
      high = index + 2 * (high - index);
    }
    high = Math.min(high, this.termCount);
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#sharesPrefix(index, middle, length)) low = middle;
      else high = middle;
    }
    return high;
  }

  #sharesPrefix(left: number, right: number, length: number): boolean {
    const leftStart = this.termStart(left);
    const rightStart = this.termStart(right);
    if (this.termEnd(right) - rightStart < length) return false;
    for (let index = 0; index < length; index += 1) {
      if (this.terms[leftStart + index] !== this.terms[rightStart + index]) return false;
    }
    return true;
  }
}

type SegmentData = {
  /** The bytes of all terms, one term after another. */
  readonly terms: Buffer;
  readonly termEnds: Uint32Array;
  readonly termCount: number;
  readonly postings: Uint8Array;
  readonly postingEnds: Uint32Array;
  readonly firstSlot: number;
  readonly placeBound: number;
  readonly live: BitSet;
};

/** How much room the writer takes. Unused room is never touched, so it costs no memory. */
type SegmentCapacity = {
  /** At least as many terms as will be written. */
  readonly termCount: number;
  /** At least the bytes of these terms. */
  readonly termBytes: number;
  /** About the bytes of their places: the writer takes more room when that is too little. */
  readonly postingBytes: number;
  readonly firstSlot: number;
  readonly placeBound: number;
};

const VARINT_BYTES_MAX = 5;
/** The zero byte that a bitmap begins with. */
const BITMAP_MARK_BYTES = 1;
const ELEMENT_BYTES = Uint32Array.BYTES_PER_ELEMENT;
const NO_TERM = Buffer.alloc(0);

/** Writes a segment: for each term, in rising order, `setTerm`, then `addList` or `addBitmap`. */
export class SegmentWriter {
  readonly #capacity: SegmentCapacity;
  readonly #terms: Buffer;
  readonly #termEnds: Uint32Array;
  readonly #postingEnds: Uint32Array;
  #postings: Uint8Array;
  #term: Buffer = NO_TERM;
  #termStart = 0;
  #termEnd = 0;
  #termCount = 0;
  #termBytes = 0;
  #postingBytes = 0;

  constructor(capacity: SegmentCapacity) {
    this.#capacity = capacity;
    this.#terms = Buffer.allocUnsafeSlow(capacity.termBytes);
    this.#termEnds = new Uint32Array(capacity.termCount);
    this.#postingEnds = new Uint32Array(capacity.termCount);
    this.#postings = Buffer.allocUnsafeSlow(capacity.postingBytes);
  }

  /** Sets the term whose places come next. Its bytes must not change until these are added. */
  setTerm(bytes: Buffer, start: number, end: number): void {
    this.#term = bytes;
    this.#termStart = start;
    this.#termEnd = end;
  }

  /**
   * Writes the term with its places, those from `start` to `end` in `places`, which must rise.
   * Writes nothing when there are none.
   */
  addList(places: Uint32Array, start: number, end: number): void {
    if (start === end) return;
    this.#reserve((end - start) * VARINT_BYTES_MAX);
    this.#finishTerm(writeList(this.#postings, this.#postingBytes, places, start, end));
  }

  /** Writes the term with its places as bits, 32 an element, for terms that many books have. */
  addBitmap(bits: Uint32Array): void {
    this.#reserve(bits.length * ELEMENT_BYTES + BITMAP_MARK_BYTES);
    this.#finishTerm(writeBitmap(this.#postings, this.#postingBytes, bits));
  }

  finish(live: BitSet): Segment {
    return new Segment({
      terms: this.#terms, termEnds: this.#termEnds, termCount: this.#termCount,
      postings: this.#postings, postingEnds: this.#postingEnds,
      firstSlot: this.#capacity.firstSlot, placeBound: this.#capacity.placeBound, live,
    });
  }

  #finishTerm(postingEnd: number): void {
    // Terms are short: a loop takes half the time of a copy by the runtime.
    for (let at = this.#termStart; at < this.#termEnd; at += 1) {
      this.#terms[this.#termBytes] = this.#term[at] ?? 0;
      this.#termBytes += 1;
    }
    this.#postingBytes = postingEnd;
    this.#termEnds[this.#termCount] = this.#termBytes;
    this.#postingEnds[this.#termCount] = postingEnd;
    this.#termCount += 1;
  }

  /** Makes room for as many bytes as the next places take in the worst case. */
  #reserve(bytes: number): void {
    const bytesNeeded = this.#postingBytes + bytes;
    if (bytesNeeded <= this.#postings.length) return;
    const larger = Buffer.allocUnsafeSlow(bytesNeeded + (bytesNeeded >>> 2));
    larger.set(this.#postings.subarray(0, this.#postingBytes));
    this.#postings = larger;
  }
}
