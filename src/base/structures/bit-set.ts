/** A set of small numbers (slots, documents) as bits: 125 KB for a million. */
export class BitSet {
  #words: Uint32Array;

  constructor(bound = 0) {
    this.#words = new Uint32Array((bound + 31) >>> 5);
  }

  static of(numbers: Iterable<number>): BitSet {
    const set = new BitSet();
    for (const number of numbers) set.add(number);
    return set;
  }

  /** 32 numbers an element, for loops that cannot afford a call for each. */
  get words(): Uint32Array {
    return this.#words;
  }

  has(index: number): boolean {
    return ((this.#words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
  }

  /** Grows as needed. Returns whether the number is new. */
  add(index: number): boolean {
    const wordIndex = index >>> 5;
    if (wordIndex >= this.#words.length) this.#grow(wordIndex + 1);
    const word = this.#words[wordIndex] ?? 0;
    const bit = 1 << (index & 31);
    if ((word & bit) !== 0) return false;
    this.#words[wordIndex] = word | bit;
    return true;
  }

  addBelow(bound: number): void {
    const whole = bound >>> 5;
    if (whole >= this.#words.length) this.#grow(whole + 1);
    this.#words.fill(0xffff_ffff, 0, whole);
    this.#words[whole] = (this.#words[whole] ?? 0) | ((1 << (bound & 31)) - 1);
  }

  /** Puts the 32 numbers from `32 * wordIndex` on, for loops that fill a set. */
  setWord(wordIndex: number, word: number): void {
    if (wordIndex >= this.#words.length) this.#grow(wordIndex + 1);
    this.#words[wordIndex] = word;
  }

  copy(): BitSet {
    const copy = new BitSet();
    copy.#words = this.#words.slice();
    return copy;
  }

  unite(other: BitSet): void {
    const otherWords = other.#words;
    if (otherWords.length > this.#words.length) this.#grow(otherWords.length);
    const words = this.#words;
    for (let index = 0; index < otherWords.length; index += 1) {
      words[index] = (words[index] ?? 0) | (otherWords[index] ?? 0);
    }
  }

  /** Removes the numbers that the other set has not. */
  retain(other: BitSet): void {
    const words = this.#words;
    const otherWords = other.#words;
    for (let index = 0; index < words.length; index += 1) {
      words[index] = (words[index] ?? 0) & (otherWords[index] ?? 0);
    }
  }

  /** Removes the numbers of the other set. */
  subtract(other: BitSet): void {
    const words = this.#words;
    const otherWords = other.#words;
    for (let index = 0; index < words.length; index += 1) {
      words[index] = (words[index] ?? 0) & ~(otherWords[index] ?? 0);
    }
  }

  /** Returns whether the number was there. */
  delete(index: number): boolean {
    const wordIndex = index >>> 5;
    const word = this.#words[wordIndex] ?? 0;
    const bit = 1 << (index & 31);
    if ((word & bit) === 0) return false;
    this.#words[wordIndex] = word & ~bit;
    return true;
  }

  /** The smallest number that is there from `start` on, or -1. */
  next(start: number): number {
    let wordIndex = start >>> 5;
    let word = (this.#words[wordIndex] ?? 0) & (-1 << (start & 31));
    while (word === 0) {
      wordIndex += 1;
      if (wordIndex >= this.#words.length) return -1;
      word = this.#words[wordIndex] ?? 0;
    }
    return wordIndex * 32 + 31 - Math.clz32(word & -word);
  }

  count(): number {
    let count = 0;
    const words = this.#words;
    for (let index = 0; index < words.length; index += 1) count += countBits(words[index] ?? 0);
    return count;
  }

  #grow(length: number): void {
    const words = new Uint32Array(Math.max(length, this.#words.length * 2, 64));
    words.set(this.#words);
    this.#words = words;
  }
}

/** How many of 32 bits are set. */
function countBits(word: number): number {
  // `| 0`: as a signed number the word stays an integer of the machine.
  const pairs = (word | 0) - ((word >>> 1) & 0x55555555) | 0;
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
