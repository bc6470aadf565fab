/**
 * The terms of a memtable: byte strings, each with a number, from 0 on in the order in which they
 * came. This is a hash table with open addressing over typed arrays, because a Map would want a
 * string of each word of each book: that took most of the time of the build.
 */
import { growInt32 } from '../../base/structures/typed-arrays.ts';

/** The hash of a term is FNV-1a, 32 bits: for each byte an exclusive or, and times this. */
export const HASH_FACTOR = 0x01000193;
const HASH_START = 0x811c9dc5;
const FIRST_TERMS = 64;
const FIRST_BYTES = 512;
/** How many bytes of a term `sortKey` holds: as many as a double has room for. */
const KEY_BYTES = 6;

/** Maps each byte of a term's source to the byte that the table holds, such as its lower case. */
export type ByteMap = Uint8Array;

export class TermTable {
  #count = 0;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** The end of each term in `#bytes`, from index 1 on. */
  #ends = new Int32Array(FIRST_TERMS);
  #hashes = new Int32Array(FIRST_TERMS);
  /** The number of a term plus one; 0 in an empty bucket. At most half of them are in use. */
  #buckets = new Int32Array(2 * FIRST_TERMS);

  get count(): number { return this.#count; }
  get bytes(): Buffer { return this.#bytes; }

  /** How much memory it takes. */
  get byteLength(): number {
    return this.#bytes.byteLength + this.#ends.byteLength + this.#hashes.byteLength
      + this.#buckets.byteLength;
  }

  start(term: number): number { return this.#ends[term] ?? 0; }
  end(term: number): number { return this.#ends[term + 1] ?? 0; }

  /**
   * The number of the term that is `tag` and then the bytes of `source`, through `map`; it is added
   * if it is new. `hash` is the term's, as from `hashTerm`.
   */
  intern(
    hash: number, tag: number, source: Buffer, start: number, end: number, map: ByteMap,
  ): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    // The last bytes alone would not reach the low bits that say where to look first.
    let bucket = (hash ^ (hash >>> 15)) & mask;
    for (let entry = buckets[bucket] ?? 0; entry !== 0; entry = buckets[bucket] ?? 0) {
      const term = entry - 1;
      if (this.#hashes[term] === hash && this.#isEqual(term, tag, source, start, end, map)) {
        return term;
      }
      bucket = (bucket + 1) & mask;
    }
    return this.#add(hash, bucket, tag, source, start, end, map);
  }

  /** Whether a term begins with `prefix`, or equals it. */
  matches(term: number, prefix: Uint8Array, isWholeTerm: boolean): boolean {
    const start = this.start(term);
    const length = this.end(term) - start;
    if (isWholeTerm ? length !== prefix.length : length < prefix.length) return false;
    for (let index = 0; index < prefix.length; index += 1) {
      if (this.#bytes[start + index] !== prefix[index]) return false;
    }
    return true;
  }

  /** A number that orders terms by their first bytes. */
  sortKey(term: number): number {
    const start = this.start(term);
    const end = this.end(term);
    let key = 0;
    for (let at = start; at < start + KEY_BYTES; at += 1) {
      key = key * 256 + (at < end ? this.#bytes[at] ?? 0 : 0);
    }
    return key;
  }

  /** The order of two terms that are alike in `sortKey`. */
  compareRest(left: number, right: number): number {
    const leftEnd = this.end(left);
    const rightEnd = this.end(right);
    let leftAt = this.start(left) + KEY_BYTES;
    let rightAt = this.start(right) + KEY_BYTES;
    for (; leftAt < leftEnd && rightAt < rightEnd; leftAt += 1) {
      const order = (this.#bytes[leftAt] ?? 0) - (this.#bytes[rightAt] ?? 0);
      if (order !== 0) return order;
      rightAt += 1;
    }
    return (leftEnd - leftAt) - (rightEnd - rightAt);
  }

  #isEqual(
    term: number, tag: number, source: Buffer, start: number, end: number, map: ByteMap,
  ): boolean {
    const bytes = this.#bytes;
    let at = this.start(term);
    if (this.end(term) - at !== end - start + 1 || bytes[at] !== tag) return false;
    for (let from = start; from < end; from += 1) {
      at += 1;
      if (bytes[at] !== map[source[from] ?? 0]) return false;
    }
    return true;
  }

  #add(
    hash: number, bucket: number, tag: number, source: Buffer, start: number, end: number,
    map: ByteMap,
  ): number {
    const term = this.#count;
    let at = this.start(term);
    this.#reserve(at + end - start + 1);
    const bytes = this.#bytes;
    bytes[at] = tag;
    for (let from = start; from < end; from += 1) {
      at += 1;
      bytes[at] = map[source[from] ?? 0] ?? 0;
    }
    this.#count += 1;
    this.#ends[term + 1] = at + 1;
    this.#hashes[term] = hash;
    this.#buckets[bucket] = this.#count;
    if (this.#count * 2 > this.#buckets.length) this.#rehash();
    return term;
  }

  #reserve(bytes: number): void {
    this.#ends = growInt32(this.#ends, this.#count + 2);
    this.#hashes = growInt32(this.#hashes, this.#count + 1);
    if (bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.start(this.#count));
    this.#bytes = larger;
  }

  #rehash(): void {
    const buckets = new Int32Array(this.#buckets.length * 2);
    const mask = buckets.length - 1;
    for (let term = 0; term < this.#count; term += 1) {
      const hash = this.#hashes[term] ?? 0;
      let bucket = (hash ^ (hash >>> 15)) & mask;
      while (buckets[bucket] !== 0) bucket = (bucket + 1) & mask;
      buckets[bucket] = term + 1;
    }
    this.#buckets = buckets;
  }
}

/** The hash of a tag alone, to go on from with the bytes of a term. */
export function hashTag(tag: number): number {
  return Math.imul(HASH_START ^ tag, HASH_FACTOR);
}

export function hashTerm(
  tag: number, source: Buffer, start: number, end: number, map: ByteMap,
): number {
  let hash = hashTag(tag);
  for (let at = start; at < end; at += 1) {
    hash = Math.imul(hash ^ (map[source[at] ?? 0] ?? 0), HASH_FACTOR);
  }
  return hash;
}
