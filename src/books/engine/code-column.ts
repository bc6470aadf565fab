/**
 * Values that many books share, such as languages: each slot has the code of its value, a small
 * number, in one byte (or in two or four, where a block of slots has codes that need them). When
 * the last book with a value is gone, the next new value gets its code.
 *
 * How many books have each value is known. The bit sets of the conditions that were asked for last
 * are kept, and follow every change: to make one takes some 1 ms a million slots, to keep it a bit
 * a slot.
 */
import { assert } from '../../base/assert.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import { RecentValues } from '../../base/structures/recent-values.ts';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import type { Steps } from '../../base/turns.ts';
import type { BookFilter } from '../query/parse-query.ts';
import type { ValueCount } from '../query/value-count.ts';
import type { BookColumn } from './book-column.ts';

type CodeColumnOptions = {
  /** The value of a stored book; null when it has none. */
  readonly readValue: (bytes: Buffer) => string | null;
  /** What the condition of a filter asks for: one of these. */
  readonly pickWanted: (filter: BookFilter) => readonly string[];
  readonly matches: (wanted: readonly string[], value: string) => boolean;
};

type ValueEntry = { readonly value: string; count: number };

type CodeBlock = Uint8Array | Uint16Array | Uint32Array;

/** The slots of the books that match a condition. */
type MatchSet = {
  readonly wanted: readonly string[];
  /** By code: 1 for the values that match it. */
  matchingCodes: Uint8Array;
  readonly slots: BitSet;
  isComplete: boolean;
};

// A block is looked at in one step, which takes some 10 µs.
const BLOCK_SLOTS = 4096;
// The code of a slot that has no value.
const NO_VALUE = 0;
const MATCH_SETS_MAX = 8;
// A value is compared with one that is wanted in some 20 ns.
const COMPARISONS_PER_STEP = 8192;
// The memory that a value takes beside its text.
const ENTRY_BYTES = 120;

export class CodeColumn implements BookColumn {
  readonly #options: CodeColumnOptions;
  readonly #blocks: CodeBlock[] = [];
  /** By code; undefined for one that is free. */
  readonly #entries: (ValueEntry | undefined)[] = [undefined];
  readonly #codes = new Map<string, number>();
  readonly #freeCodes: number[] = [];
  /** By what they ask for. */
  readonly #matchSets = new RecentValues<MatchSet>(MATCH_SETS_MAX);

  constructor(slotBound: number, options: CodeColumnOptions) {
    this.#options = options;
    while (this.#blocks.length * BLOCK_SLOTS < slotBound) this.#addBlock();
  }

  get bytes(): number {
    let bytes = 0;
    for (const { byteLength } of this.#blocks) bytes += byteLength;
    for (const value of this.#codes.keys()) bytes += ENTRY_BYTES + value.length;
    for (const { slots } of this.#matchSets.values()) bytes += slots.words.byteLength;
    return bytes;
  }

  set(slot: number, bytes: Buffer | undefined): void {
    const value = bytes === undefined ? null : this.#options.readValue(bytes);
    const code = value === null ? NO_VALUE : this.#codes.get(value) ?? this.#addValue(value);
    const previousCode = this.#blocks[Math.floor(slot / BLOCK_SLOTS)]?.[slot % BLOCK_SLOTS]
      ?? NO_VALUE;
    if (code === previousCode) return;
    this.#putCode(slot, code);
    const entry = this.#entries[code];
    if (entry !== undefined) entry.count += 1;
    this.#countLess(previousCode);
    for (const { slots, matchingCodes } of this.#matchSets.values()) {
      if (matchingCodes[code] === 1) slots.add(slot);
      else slots.delete(slot);
    }
  }

  * match(filter: BookFilter): Steps<BitSet> {
    const wanted = this.#options.pickWanted(filter);
    assert(wanted.length > 0);
    const matchSet = this.#useMatchSet(wanted);
    // Another caller may be filling it as well: both write what the slots have now.
    if (!matchSet.isComplete) yield* this.#fill(matchSet);
    return matchSet.slots;
  }

  * valueCounts(): Iterable<ValueCount> {
    for (const entry of this.#entries) if (entry !== undefined) yield { ...entry };
  }

  /** A match set is kept, and so follows changes, even before it is complete. */
  #useMatchSet(wanted: readonly string[]): MatchSet {
    return this.#matchSets.use(wanted.join(' '), () => ({
      wanted, matchingCodes: new Uint8Array(this.#entries.length),
      slots: new BitSet(this.#blocks.length * BLOCK_SLOTS), isComplete: false,
    }));
  }

  * #fill(matchSet: MatchSet): Steps<void> {
    const valuesPerStep = Math.ceil(COMPARISONS_PER_STEP / matchSet.wanted.length);
    for (let code = 0; code < this.#entries.length; code += 1) {
      this.#markCode(matchSet, code);
      if (code % valuesPerStep === valuesPerStep - 1) yield;
    }
    for (const [index, block] of this.#blocks.entries()) {
      addMatchingCodes(matchSet, index * BLOCK_SLOTS, block);
      yield;
    }
    matchSet.isComplete = true;
  }

  /** Notes whether the value of a code matches. */
  #markCode(matchSet: MatchSet, code: number): void {
    if (code >= matchSet.matchingCodes.length) {
      matchSet.matchingCodes = copyInto(new Uint8Array(code * 2), matchSet.matchingCodes);
    }
    const entry = this.#entries[code];
    const isMatch = entry !== undefined && this.#options.matches(matchSet.wanted, entry.value);
    matchSet.matchingCodes[code] = isMatch ? 1 : 0;
  }

  #addValue(value: string): number {
    const code = this.#freeCodes.pop() ?? this.#entries.length;
    this.#entries[code] = { value, count: 0 };
    this.#codes.set(value, code);
    for (const matchSet of this.#matchSets.values()) this.#markCode(matchSet, code);
    return code;
  }

  #countLess(code: number): void {
    const entry = this.#entries[code];
    if (entry === undefined) return;
    entry.count -= 1;
    if (entry.count > 0) return;
    this.#entries[code] = undefined;
    this.#codes.delete(entry.value);
    this.#freeCodes.push(code);
  }

  #putCode(slot: number, code: number): void {
    const index = Math.floor(slot / BLOCK_SLOTS);
    while (index >= this.#blocks.length) this.#addBlock();
    const block = widen(this.#blocks[index] ?? new Uint8Array(BLOCK_SLOTS), code);
    this.#blocks[index] = block;
    block[slot % BLOCK_SLOTS] = code;
  }

  #addBlock(): void {
    this.#blocks.push(new Uint8Array(BLOCK_SLOTS));
  }
}

/** The block, or a copy that has room for the code. */
function widen(block: CodeBlock, code: number): CodeBlock {
  if (code < 2 ** (8 * block.BYTES_PER_ELEMENT)) return block;
  return code < 2 ** 16 ? Uint16Array.from(block) : Uint32Array.from(block);
}

/** Says of the slots of the block, from `firstSlot` on, which match. */
function addMatchingCodes(
  { slots, matchingCodes }: MatchSet, firstSlot: number, block: CodeBlock,
): void {
  for (let start = 0; start < BLOCK_SLOTS; start += 32) {
    let word = 0;
    for (let bit = 0; bit < 32; bit += 1) {
      word |= (matchingCodes[block[start + bit] ?? NO_VALUE] ?? 0) << bit;
    }
    slots.setWord((firstSlot + start) >>> 5, word);
  }
}
