/**
 * A column has the values of one member, such as languages or authors: a dictionary gives each
 * value a code, and blocks of 512 slots hold the codes of each book. A condition is checked once
 * for each value, not for each book, and the slots whose codes are accepted become a bit set. The
 * bit sets of the latest conditions are kept and follow every change: to make one takes some 4 ms a
 * million slots, to keep it a bit a slot.
 */
import { BitSet } from '../../base/structures/bit-set.ts';
import { RecentValues } from '../../base/structures/recent-values.ts';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import type { Steps } from '../../base/turns.ts';
import { createPredicate } from '../query/book-filter.ts';
import type { ValuePredicate, ValueQuestion } from '../query/book-filter.ts';
import type { BookValue, ColumnRow } from '../query/book-values.ts';
import type { BookIndex } from './book-index.ts';
import { BLOCK_SLOTS, CodeBlock } from './code-block.ts';
import { ValueDictionary } from './value-dictionary.ts';
import type { ValueTally } from './value-dictionary.ts';

/** The slots of the books that have a value which is accepted. */
type MatchSet = {
  readonly accepts: ValuePredicate;
  /** By spelling code: 1 for the values that are accepted. */
  matchingCodes: Uint8Array;
  readonly slots: BitSet;
  isComplete: boolean;
};

const MATCH_SETS_MAX = 8;
// To ask a condition of a value takes some 20 ns.
const VALUES_PER_YIELD = 1024;

export class ValueColumn implements BookIndex {
  readonly #row: ColumnRow;
  /** How many books have each value. */
  readonly dictionary: ValueDictionary;
  readonly #blocks: CodeBlock[] = [];
  #blockBytes = 0;
  /** By what their conditions ask for. */
  readonly #matchSets = new RecentValues<MatchSet>(MATCH_SETS_MAX);

  constructor(row: ColumnRow) {
    this.#row = row;
    this.dictionary = new ValueDictionary(row);
  }

  get bytes(): number {
    let bytes = this.#blockBytes + this.dictionary.bytes;
    for (const { slots } of this.#matchSets.values()) bytes += slots.words.byteLength;
    return bytes;
  }

  * prepare(): Steps<void> {}

  set(slot: number, bytes: Buffer | undefined): void {
    const codes = bytes === undefined ? [] : this.#encodeAll(this.#row.readValues(bytes));
    const block = this.#openBlock(Math.floor(slot / BLOCK_SLOTS));
    const blockBytes = block.bytes;
    const previousCodes = block.replace(slot % BLOCK_SLOTS, codes);
    this.#blockBytes += block.bytes - blockBytes;
    // In this order: a value that the book keeps stays in the dictionary.
    this.dictionary.count(codes);
    this.dictionary.discount(previousCodes);
    for (const { slots, matchingCodes } of this.#matchSets.values()) {
      if (codes.some((code) => matchingCodes[code] === 1)) slots.add(slot);
      else slots.delete(slot);
    }
  }

  * settle(): Steps<void> {}

  /** The first of the values that the book in a slot has; null: it has none. */
  firstValueAt(slot: number): BookValue | null {
    const code = this.#blocks[Math.floor(slot / BLOCK_SLOTS)]?.firstCode(slot % BLOCK_SLOTS);
    return code === undefined ? null : this.dictionary.valueAt(code) ?? null;
  }

  /**
   * The slots of the books that have a value which the condition accepts. The caller must not
   * change them; `set` may. A slot that is set meanwhile may be among them or not.
   */
  * match(question: ValueQuestion): Steps<BitSet> {
    const { row, wanted } = question;
    // The bit set is kept, and so follows changes, even before it is complete.
    const matchSet = this.#matchSets.use(JSON.stringify([row.name, wanted]), () => ({
      accepts: createPredicate(question),
      matchingCodes: new Uint8Array(this.dictionary.codeBound),
      slots: new BitSet(this.#blocks.length * BLOCK_SLOTS), isComplete: false,
    }));
    // Another caller may be filling it as well: both write what the slots have now.
    if (!matchSet.isComplete) yield* this.#fill(matchSet);
    return matchSet.slots;
  }

  /** In how many books of these slots each value stands; void once a book changes. */
  * countAmong(slots: BitSet): Steps<ValueTally> {
    const tally = this.dictionary.createTally();
    for (const [index, block] of this.#blocks.entries()) {
      block.visitCodes(slots, index * BLOCK_SLOTS, (codes, start, end) =>
        this.dictionary.countIn(tally, codes, start, end));
      yield;
    }
    return tally;
  }

  * #fill(matchSet: MatchSet): Steps<void> {
    for (let code = 0; code < this.dictionary.codeBound; code += 1) {
      this.#markCode(matchSet, code);
      if (code % VALUES_PER_YIELD === VALUES_PER_YIELD - 1) yield;
    }
    for (const [index, block] of this.#blocks.entries()) {
      block.addMatches(matchSet.matchingCodes, index * BLOCK_SLOTS, matchSet.slots);
      yield;
    }
    matchSet.isComplete = true;
  }

  /** Notes whether the value of a spelling code is accepted. */
  #markCode(matchSet: MatchSet, code: number): void {
    if (code >= matchSet.matchingCodes.length) {
      matchSet.matchingCodes = copyInto(new Uint8Array(code * 2 + 1), matchSet.matchingCodes);
    }
    const value = this.dictionary.valueAt(code);
    matchSet.matchingCodes[code] = value !== undefined && matchSet.accepts(value) ? 1 : 0;
  }

  /** The spelling codes of values, each once. */
  #encodeAll(values: readonly BookValue[]): readonly number[] {
    const codes: number[] = [];
    for (const value of values) {
      const code = this.#encode(value);
      if (!codes.includes(code)) codes.push(code);
    }
    return codes;
  }

  #encode(value: BookValue): number {
    const existingCode = this.dictionary.findCode(value);
    if (existingCode !== undefined) return existingCode;
    const code = this.dictionary.add(value);
    for (const matchSet of this.#matchSets.values()) this.#markCode(matchSet, code);
    return code;
  }

  #openBlock(index: number): CodeBlock {
    for (let next = this.#blocks.length; next <= index; next += 1) {
      const block = new CodeBlock();
      this.#blocks.push(block);
      this.#blockBytes += block.bytes;
    }
    return this.#blocks[index] ?? new CodeBlock();
  }
}
