/**
 * Where the entries of a BibTeX file begin, by their keys. A file may have ten million entries, so
 * an entry takes ten bytes: a hash of its key, where it begins, and some room. Two keys may have
 * one hash: a caller reads the entries that are found, and compares their keys. The table is made
 * once: to grow would hold the event loop, and leave behind more memory than the table has.
 */
import { crc32 } from 'node:zlib';

const LOAD_MAX = 0.8;
/** How many entries of one hash are remembered. The first of a key counts: more is an attack. */
const ALIKE_MAX = 8;

export class EntryOffsets {
  /** Pairs of a hash and an offset plus one, with open addressing; 0 and 0 is an empty place. */
  readonly #pairs: Uint32Array;

  /** With room for so many entries, which takes no memory until they come. */
  constructor(entriesMax: number) {
    this.#pairs = new Uint32Array(Math.ceil(entriesMax / LOAD_MAX + 1) * 2);
  }

  add(key: string, offset: number): void {
    const hash = crc32(key);
    const pairs = this.#pairs;
    let alikeCount = 0;
    let place = startOf(hash, pairs);
    for (; pairs[place + 1] !== 0; place = (place + 2) % pairs.length) {
      if (pairs[place] !== hash) continue;
      alikeCount += 1;
      if (alikeCount === ALIKE_MAX) return;
    }
    pairs[place] = hash;
    pairs[place + 1] = offset + 1;
  }

  /** Where the entries begin that may have the key, in the order in which they were added. */
  find(key: string): readonly number[] {
    const hash = crc32(key);
    const pairs = this.#pairs;
    const offsets: number[] = [];
    let place = startOf(hash, pairs);
    for (; pairs[place + 1] !== 0; place = (place + 2) % pairs.length) {
      if (pairs[place] === hash) offsets.push((pairs[place + 1] ?? 0) - 1);
    }
    return offsets;
  }
}

/** The place where a hash is looked for first. */
function startOf(hash: number, pairs: Uint32Array): number {
  return Math.floor(hash / 2 ** 32 * (pairs.length / 2)) * 2;
}
