/**
 * Makes the order of all books by one key. It reads each book once, in id order, and makes numbers
 * of its value: the value itself or, of a text, its head and tail (text-heads.ts). A stable sort of
 * these numbers leaves books of one value in id order. Texts that the numbers cannot tell apart are
 * read again and compared: few, as these have eleven letters in common beyond those of their range.
 *
 * It holds 32 bytes a book until it ends (24 for a date or a time), and returns 4 of them; besides,
 * up to 8192 texts of the sample.
 */
import type { BitSet } from '../../base/structures/bit-set.ts';
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import { copyInto } from '../../base/structures/typed-arrays.ts';
import { sortByKeys } from '../../base/structures/radix-sort.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection } from '../../store/store-port.ts';
import { isTextKey } from '../query/book-sort.ts';
import type { SortOrder } from '../query/book-sort.ts';
import type { SortValue } from '../query/cursor.ts';
import { compareKeys, readSortValue } from '../query/sort-keys.ts';
import { SPLITTERS_MAX, createHeadWriter, isWholeText } from './text-heads.ts';

type Books = Pick<Collection, 'size' | 'slotBound' | 'walk' | 'bytesAt'>;
type HeadList = {
  readonly slots: Uint32Array;
  readonly heads: Float64Array;
  /** Of texts alone. */
  readonly tails: Float64Array;
};

const READS_PER_YIELD = 64;
const SLOTS_PER_YIELD = 4096;
const GROWTH = 1 + 1 / 16;
// Ranges of fewer books save nothing.
const BOOKS_PER_SPLITTER = 128;
// Several for each splitter, so that the ranges are of similar sizes.
const SAMPLES_PER_SPLITTER = 4;
/** Of books without the key: after all other heads. */
const NO_KEY_HEAD = Number.MAX_SAFE_INTEGER;

/**
 * The slots of all books, in the order of `SlotOrder`, but those that changed since this began:
 * their values may be old or new. `collectMissed` says which those are, once, in the last step,
 * which takes some milliseconds a million books.
 */
export function* buildOrder(
  collection: Books, key: SortOrder['key'], collectMissed: () => BitSet,
): Steps<Uint32Array> {
  const list = yield* readHeads(collection, key);
  const { slots, heads, tails } = list;
  const isText = isTextKey(key);
  const order = yield* sortByKeys(heads, isText ? yield* sortByKeys(tails) : null);
  if (isText) yield* sortEqualHeads(collection, key, order, list);
  for (let index = 0; index < order.length; index += 1) {
    order[index] = slots[order[index] ?? 0] ?? 0;
    if (index % SLOTS_PER_YIELD === 0) yield;
  }
  const missed = collectMissed();
  let count = 0;
  for (const slot of order) {
    if (missed.has(slot)) continue;
    order[count] = slot;
    count += 1;
  }
  return order.subarray(0, count);
}

/** Texts that divide those of all books into ranges of about the same number. */
function* sampleTexts(collection: Books, key: SortOrder['key']): Steps<readonly string[]> {
  const { slotBound } = collection;
  const splitterCount = Math.min(SPLITTERS_MAX, Math.floor(slotBound / BOOKS_PER_SPLITTER));
  const sampleCount = splitterCount * SAMPLES_PER_SPLITTER;
  const texts: string[] = [];
  for (let index = 0; index < sampleCount; index += 1) {
    if (index % READS_PER_YIELD === 0) yield;
    const bytes = collection.bytesAt(Math.floor(index * slotBound / sampleCount));
    const value = bytes === undefined ? null : readSortValue(key, bytes);
    if (typeof value === 'string') texts.push(value);
  }
  const order = yield* sortIndexes(texts.length, (left, right) =>
    compareKeys(texts[left] ?? '', texts[right] ?? '', false));
  const splitters = new Set<string>();
  for (let index = 0; index < order.length; index += SAMPLES_PER_SPLITTER) {
    splitters.add(texts[order[index] ?? 0] ?? '');
  }
  return [...splitters];
}

/** Books may be added meanwhile. */
function computeRoom(bookCount: number): number {
  return Math.ceil(bookCount * GROWTH) + READS_PER_YIELD;
}

function* readHeads(collection: Books, key: SortOrder['key']): Steps<HeadList> {
  const isText = isTextKey(key);
  const writeHead = createHeadWriter(isText ? yield* sampleTexts(collection, key) : []);
  const room = computeRoom(collection.size);
  let slots = new Uint32Array(room);
  let heads = new Float64Array(room);
  let tails = new Float64Array(isText ? room : 0);
  let count = 0;
  const walk = collection.walk();
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    if (count === slots.length) {
      const length = computeRoom(count);
      slots = copyInto(new Uint32Array(length), slots);
      heads = copyInto(new Float64Array(length), heads);
      if (isText) tails = copyInto(new Float64Array(length), tails);
    }
    slots[count] = slot;
    const value = readSortValue(key, bytes);
    if (typeof value === 'string') writeHead(value, heads, tails, count);
    else heads[count] = value ?? NO_KEY_HEAD;
    count += 1;
    if (count % READS_PER_YIELD === 0) yield;
  }
  return { slots, heads: heads.subarray(0, count), tails: tails.subarray(0, count) };
}

/** Sorts the books of each head and tail, where their texts may differ. */
function* sortEqualHeads(
  collection: Books, key: SortOrder['key'], order: Uint32Array,
  { slots, heads, tails }: HeadList,
): Steps<void> {
  for (let start = 0, end = 0; start < order.length; start = end) {
    const first = order[start] ?? 0;
    const head = heads[first] ?? 0;
    const tail = tails[first] ?? 0;
    for (end = start + 1; end < order.length; end += 1) {
      const index = order[end] ?? 0;
      if (heads[index] !== head || tails[index] !== tail) break;
      if (end % SLOTS_PER_YIELD === 0) yield;
    }
    if (start % READS_PER_YIELD === 0) yield;
    if (end - start < 2 || isWholeText(tail)) continue;
    const indexes = order.slice(start, end);
    const texts: SortValue[] = [];
    for (const index of indexes) {
      if (texts.length % READS_PER_YIELD === 0) yield;
      const bytes = collection.bytesAt(slots[index] ?? -1);
      texts.push(bytes === undefined ? null : readSortValue(key, bytes));
    }
    const sorted = yield* sortIndexes(texts.length, (left, right) =>
      compareKeys(texts[left] ?? null, texts[right] ?? null, false));
    order.set(sorted.map((index) => indexes[index] ?? 0), start);
  }
}
