/**
 * The codes of the values of neighbouring slots: of each slot how many it has and, one slot after
 * the other, its codes, in one, two or four bytes each.
 */
import type { BitSet } from '../../base/structures/bit-set.ts';

type CodeList = Uint8Array | Uint16Array | Uint32Array;

/** To find a slot takes a look at half as many; a block takes some 400 bytes for itself. */
export const BLOCK_SLOTS = 512;
const GROWTH = 1 + 1 / 4;

export class CodeBlock {
  readonly #counts = new Uint8Array(BLOCK_SLOTS);
  #codes: CodeList = new Uint8Array(BLOCK_SLOTS);
  #length = 0;
  /** The slot that was set last, and where its codes begin. */
  #lastSlot = 0;
  #lastStart = 0;

  get bytes(): number {
    return this.#counts.byteLength + this.#codes.byteLength;
  }

  /** Puts the codes of a slot of the block, at most 255. Returns those that it had. */
  replace(slot: number, codes: readonly number[]): readonly number[] {
    const start = this.#findStart(slot);
    const end = start + (this.#counts[slot] ?? 0);
    const previousCodes: number[] = [];
    for (let at = start; at < end; at += 1) previousCodes.push(this.#codes[at] ?? 0);
    const length = this.#length + start + codes.length - end;
    this.#makeRoom(length, codes);
    if (start + codes.length !== end) {
      this.#codes.copyWithin(start + codes.length, end, this.#length);
    }
    for (let index = 0; index < codes.length; index += 1) {
      this.#codes[start + index] = codes[index] ?? 0;
    }
    this.#counts[slot] = codes.length;
    this.#length = length;
    return previousCodes;
  }

  /** The first code of a slot of the block; undefined: it has none. */
  firstCode(slot: number): number | undefined {
    return this.#counts[slot] === 0 ? undefined : this.#codes[this.#findStart(slot)];
  }

  /** Says of the slots, the first of which is `firstSlot`, whether a code of theirs is 1 there. */
  addMatches(matchingCodes: Uint8Array, firstSlot: number, into: BitSet): void {
    let at = 0;
    for (let start = 0; start < BLOCK_SLOTS; start += 32) {
      let word = 0;
      for (let bit = 0; bit < 32; bit += 1) {
        let isMatch = 0;
        for (const end = at + (this.#counts[start + bit] ?? 0); at < end; at += 1) {
          isMatch |= matchingCodes[this.#codes[at] ?? 0] ?? 0;
        }
        word |= isMatch << bit;
      }
      into.setWord((firstSlot + start) >>> 5, word);
    }
  }

  /** Calls `visit` for each of the slots in the block, with its codes from `start` to `end`. */
  visitCodes(
    slots: BitSet, firstSlot: number,
    visit: (codes: ArrayLike<number>, start: number, end: number) => void,
  ): void {
    let start = 0;
    for (let slot = 0; slot < BLOCK_SLOTS; slot += 1) {
      const end = start + (this.#counts[slot] ?? 0);
      if (end > start && slots.has(firstSlot + slot)) visit(this.#codes, start, end);
      start = end;
    }
  }

  #findStart(slot: number): number {
    // Slots are mostly set one after the other.
    let start = slot < this.#lastSlot ? 0 : this.#lastStart;
    for (let index = slot < this.#lastSlot ? 0 : this.#lastSlot; index < slot; index += 1) {
      start += this.#counts[index] ?? 0;
    }
    this.#lastSlot = slot;
    this.#lastStart = start;
    return start;
  }

  #makeRoom(length: number, codes: readonly number[]): void {
    const { BYTES_PER_ELEMENT, length: room } = this.#codes;
    let codeMax = 2 ** (8 * BYTES_PER_ELEMENT) - 1;
    let isWide = true;
    for (const code of codes) {
      if (code <= codeMax) continue;
      isWide = false;
      codeMax = code;
    }
    if (isWide && length <= room) return;
    const larger = createCodes(codeMax, length <= room ? room : Math.ceil(length * GROWTH));
    larger.set(this.#codes);
    this.#codes = larger;
  }
}

function createCodes(codeMax: number, length: number): CodeList {
  if (codeMax < 2 ** 8) return new Uint8Array(length);
  return codeMax < 2 ** 16 ? new Uint16Array(length) : new Uint32Array(length);
}
