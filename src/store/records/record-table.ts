/**
 * The record table maps a slot, a number that is stable while the record lives, to the span of the
 * record in the arena. It lies in pages of typed arrays: a million records take 12 MB, and growth
 * never copies more than a page.
 *
 * A frozen view shares the pages; a page is copied before it is first written after a freeze.
 */
import { assert } from '../../base/assert.ts';
import { Arena } from './arena.ts';
import type { RecordSpan } from './arena.ts';

const PAGE_BITS = 12;
const PAGE_SLOTS = 1 << PAGE_BITS;
const SLOT_MASK = PAGE_SLOTS - 1;
// A slot is three words: chunk, offset, length. Length 0 marks an empty slot; its offset is the
// next empty slot plus one.
const SLOT_WORDS = 3;
const QUOTE = 0x22;
const TILDE = 0x7e;

export const KEY_LENGTH_MAX = 128;

export type SlotPage = {
  readonly words: Uint32Array;
  /** The number of freezes before the page was made: a page of an earlier freeze is shared. */
  readonly epoch: number;
};

export class RecordTable {
  readonly arena = new Arena();
  /** The position of the key's value in a record. */
  readonly keyStart: number;
  /** The bytes of a record before `keyStart`, as text. */
  readonly recordPrefix: string;
  #pages: SlotPage[] = [];
  #bound = 0;
  /** The first empty slot plus one; 0 when there is none. */
  #firstEmpty = 0;
  #epoch = 0;

  constructor(key: string) {
    this.recordPrefix = `{"${key}":"`;
    this.keyStart = this.recordPrefix.length;
  }

  /** All slots are below this. */
  get bound(): number {
    return this.#bound;
  }

  /** Adds a slot for a record that the arena already counts as live. */
  add(span: RecordSpan): number {
    assert(span.length > 0, 'a record has bytes: length 0 marks an empty slot');
    let slot = this.#firstEmpty - 1;
    if (slot >= 0) {
      assert(this.lengthOf(slot) === 0, 'a slot is empty when it is taken');
      this.#firstEmpty = this.#readWord(slot, 1);
    } else {
      slot = this.#bound;
      this.#bound += 1;
      if ((slot & SLOT_MASK) === 0) this.#addPage();
    }
    this.#writeSlot(slot, span.chunk, span.offset, span.length);
    return slot;
  }

  /**
   * Adds slots in a row, from `bound` on, for records of one chunk, which the caller counts as live
   * in the arena. Returns the sum of their lengths.
   */
  addRun(chunk: number, spans: Uint32Array, count: number): number {
    let bytesTotal = 0;
    for (let index = 0; index < count;) {
      const start = this.#bound & SLOT_MASK;
      if (start === 0) this.#addPage();
      const { words } = this.#getWritablePage(this.#bound);
      const end = Math.min(count, index + PAGE_SLOTS - start);
      this.#bound += end - index;
      for (let word = start * SLOT_WORDS; index < end; index += 1, word += SLOT_WORDS) {
        const length = spans[2 * index + 1] ?? 0;
        words[word] = chunk;
        words[word + 1] = spans[2 * index] ?? 0;
        words[word + 2] = length;
        bytesTotal += length;
      }
    }
    return bytesTotal;
  }

  /** Points a slot at the next version of its record, or at a copy of the same bytes. */
  move(slot: number, span: RecordSpan): void {
    this.arena.release(this.chunkOf(slot), this.lengthOf(slot));
    this.#writeSlot(slot, span.chunk, span.offset, span.length);
  }

  remove(slot: number): void {
    assert(this.lengthOf(slot) > 0, 'an empty slot is not removed again');
    this.arena.release(this.chunkOf(slot), this.lengthOf(slot));
    this.#writeSlot(slot, 0, this.#firstEmpty, 0);
    this.#firstEmpty = slot + 1;
  }

  chunkOf(slot: number): number {
    return this.#readWord(slot, 0);
  }

  offsetOf(slot: number): number {
    return this.#readWord(slot, 1);
  }

  /** 0 when the slot is empty. */
  lengthOf(slot: number): number {
    return this.#readWord(slot, 2);
  }

  bytesAt(slot: number): Buffer | undefined {
    if (slot >= this.#bound) return undefined;
    const { words } = this.#getPage(slot);
    const word = (slot & SLOT_MASK) * SLOT_WORDS;
    const length = words[word + 2] ?? 0;
    if (length === 0) return undefined;
    const offset = words[word + 1] ?? 0;
    return this.arena.chunk(words[word] ?? 0).subarray(offset, offset + length);
  }

  keyAt(slot: number): string | undefined {
    if (slot >= this.#bound || this.lengthOf(slot) === 0) return undefined;
    const chunk = this.arena.chunk(this.chunkOf(slot));
    return readKey(chunk, this.offsetOf(slot) + this.keyStart);
  }

  /** Whether a record has that key, and it is a valid one. Byte by byte, without a string. */
  hasKey(record: Buffer, key: string): boolean {
    const { length } = key;
    if (length === 0 || length > KEY_LENGTH_MAX) return false;
    if (record[this.keyStart + length] !== QUOTE) return false;
    if (!matchesAt(record, 0, this.recordPrefix)) return false;
    for (let index = 0; index < length; index += 1) {
      const code = key.charCodeAt(index);
      if (KEY_CODES[code] !== 1 || record[this.keyStart + index] !== code) return false;
    }
    return true;
  }

  compareTo(slot: number, target: Uint8Array, at: number): number {
    const page = this.#getPage(slot);
    const word = (slot & SLOT_MASK) * SLOT_WORDS;
    const chunk = this.arena.chunk(page.words[word] ?? 0);
    return compareKeys(chunk, (page.words[word + 1] ?? 0) + this.keyStart, target, at);
  }

  /** Whether the keys of records in one chunk rise. */
  areKeysRising(bytes: Uint8Array, spans: Uint32Array, count: number): boolean {
    for (let index = 1; index < count; index += 1) {
      const left = (spans[2 * index - 2] ?? 0) + this.keyStart;
      if (compareKeys(bytes, left, bytes, (spans[2 * index] ?? 0) + this.keyStart) >= 0) {
        return false;
      }
    }
    return true;
  }

  freeze(): readonly SlotPage[] {
    this.#epoch += 1;
    return [...this.#pages];
  }

  #readWord(slot: number, index: number): number {
    return this.#getPage(slot).words[(slot & SLOT_MASK) * SLOT_WORDS + index] ?? 0;
  }

  #getPage(slot: number): SlotPage {
    const page = this.#pages[slot >>> PAGE_BITS];
    assert(page !== undefined);
    return page;
  }

  #addPage(): void {
    this.#pages.push({ words: new Uint32Array(PAGE_SLOTS * SLOT_WORDS), epoch: this.#epoch });
  }

  #getWritablePage(slot: number): SlotPage {
    const page = this.#getPage(slot);
    if (page.epoch === this.#epoch) return page;
    const copy = { words: page.words.slice(), epoch: this.#epoch };
    this.#pages[slot >>> PAGE_BITS] = copy;
    return copy;
  }

  #writeSlot(slot: number, chunk: number, offset: number, length: number): void {
    const { words } = this.#getWritablePage(slot);
    const word = (slot & SLOT_MASK) * SLOT_WORDS;
    words[word] = chunk;
    words[word + 1] = offset;
    words[word + 2] = length;
  }
}

export function readFrozenSpan(pages: readonly SlotPage[], slot: number): RecordSpan {
  const words = pages[slot >>> PAGE_BITS]?.words;
  const word = (slot & SLOT_MASK) * SLOT_WORDS;
  assert(words !== undefined);
  return {
    chunk: words[word] ?? 0, offset: words[word + 1] ?? 0, length: words[word + 2] ?? 0,
  };
}

/**
 * Compares two keys in place, each ended by its quote. The quote sorts before every character of a
 * key, so a key sorts before its own continuations.
 */
function compareKeys(
  left: Uint8Array, leftAt: number, right: Uint8Array, rightAt: number,
): number {
  for (let index = 0; ; index += 1) {
    const leftByte = left[leftAt + index] ?? QUOTE;
    const rightByte = right[rightAt + index] ?? QUOTE;
    if (leftByte !== rightByte) return leftByte - rightByte;
    if (leftByte === QUOTE) return 0;
  }
}

function matchesAt(bytes: Uint8Array, at: number, ascii: string): boolean {
  for (let index = 0; index < ascii.length; index += 1) {
    if (bytes[at + index] !== ascii.charCodeAt(index)) return false;
  }
  return true;
}

const KEY_CHARACTER = /[A-Za-z0-9._~-]/;
const KEY_CODES = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(KEY_CHARACTER.test(String.fromCharCode(code))));

/** Whether a text is a valid key. Takes a third of the time of a regular expression. */
export function isKey(id: string): boolean {
  for (let index = 0; index < id.length; index += 1) {
    if (KEY_CODES[id.charCodeAt(index)] !== 1) return false;
  }
  return id.length > 0 && id.length <= KEY_LENGTH_MAX;
}

/** The id of a record: the value of its first member. */
export function readId(record: Buffer): string {
  const nameStart = 2;
  return readKey(record, record.indexOf(QUOTE, nameStart) + 3);
}

function readKey(chunk: Buffer, at: number): string {
  return chunk.toString('latin1', at, chunk.indexOf(QUOTE, at));
}

/**
 * Writes a key and its closing quote into `target`. Returns the number of characters written: if
 * that is less than the length of `id`, no record can have this key.
 */
export function encodeKey(id: string, target: Uint8Array): number {
  const length = Math.min(id.length, KEY_LENGTH_MAX);
  let index = 0;
  for (; index < length; index += 1) {
    const code = id.charCodeAt(index);
    if (code <= QUOTE || code > TILDE) break;
    target[index] = code;
  }
  target[index] = QUOTE;
  return index;
}
