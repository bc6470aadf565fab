/**
 * The loop by which every query finds its books. A query is a source of slots, what is still to be
 * checked of their books, and a sink that takes what matches:
 *
 *   source      an order or the ids, from a cursor on; the slots that match; all books, by id
 *   check       the conditions that no index has answered
 *   sink        a page, a whole answer (find-books.ts); facets, suggestions, duplicates
 *
 * **Changes.** The indexes may know a book as it was; its slot is unsettled (open-search.ts). A
 * source by indexes passes over unsettled slots, and the loop looks at their books in the end. The
 * scan, all books as the source, relies on no index. A book that the sink has taken is not looked
 * at again, even if it changes. So a book that does not change is found as it is, and a book that
 * changes is found once at most, as it was at some time while the query ran.
 *
 * **Turns.** The loop yields after a few books or some thousand looks. Whoever runs it stops it
 * between two turns when nobody waits any more; it holds nothing that needs closing.
 */
import { assert } from '../../base/assert.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection, Walk } from '../../store/store-port.ts';
import { OrderWalk, WALK_END, WALK_PAUSE } from '../engine/order-walk.ts';
import { createValueCheck, type BookFilter } from '../query/book-filter.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { MatchSearch } from './open-search.ts';
import { createTextFilter } from './text-filter.ts';

/**
 * The sources of slots:
 *
 *   order   those after the cursor, in order of the first key or the ids. The sink may end it, so
 *           the matches are counted without it
 *   slots   those that may match, as the indexes say
 *   books   all books by id, without relying on any index
 */
type SlotSource = {
  readonly kind: 'order' | 'slots' | 'books';
  readonly walk: SlotWalk;
  /** The source is given up after so many looks; absent: never. */
  readonly looksTotalMax?: number;
};

interface SlotWalk {
  /** How many slots were looked at, where the walk may be given up. */
  readonly looks?: number;
  /**
   * The next slot that is accepted, or `WALK_END`. A walk may pause: it gives `WALK_PAUSE` after
   * `looksPerStep` looks, and the next call goes on from there. Walks of books and of an order
   * pause; that of slots never does. `accepts` may be asked about a slot twice.
   */
  next(accepts: (slot: number) => boolean, looksPerStep: number): number;
}

/** Takes what matches. */
export interface MatchSink {
  /** Whether it reads the books; else it gets none. */
  readonly readsBooks: boolean;
  /**
   * `isLate`: the source has ended, and the book comes from an unsettled slot. Returns whether the
   * sink has a use for further books of an order; the books of other sources come all the same.
   */
  take(bytes: Buffer, slot: number, isLate: boolean): boolean;
}

type SearchEnd = 'looks-exhausted' | { readonly total: number };

/** `late`: the slot is unsettled, and the source has ended. */
type SlotState = 'settled' | 'unsettled' | 'late';

const LOOKS_PER_STEP = 4096;
// The work between two looks at the clock: as much as to read some 20 books.
const WORK_PER_YIELD = 32;
const BYTES_PER_WORK = 512;
// A look for words costs as much as to read so many members.
const TEXT_WORK = 4;
// To keep a slot that is not read.
const SLOT_WORK = 1 / 2;
/** Passed in place of a book to a sink that reads no books. */
export const NO_BOOK = Buffer.alloc(0);

/**
 * Has the sink take what matches of the source, and of the slots that are unsettled. `source`: by
 * default the slots that may match or, where no index says which, all books.
 */
export function* findMatches(
  search: MatchSearch, sink: MatchSink, source: SlotSource = createSlotSource(search),
): Steps<SearchEnd> {
  const taker = new MatchTaker(search, source.kind, sink);
  const isExhausted = yield* takeFromSource(search, source, taker);
  if (isExhausted) return 'looks-exhausted';
  // All books have been looked at, whether they are settled or not.
  if (source.kind === 'books') return { total: taker.count };
  const sourceCount = taker.count;
  const missedCount = yield* takeUnsettled(search, taker);
  if (source.kind === 'slots') return { total: taker.count };
  return { total: countInOrder(search, missedCount, taker.count - sourceCount) };
}

/**
 * Counts the matches of an order. The order may have ended early, so the number of books that it
 * gave says nothing. `slotCount` slots matched at the start; `missedCount` of them changed before
 * their books were taken; `lateCount` books of unsettled slots match now. Without a set of slots
 * all books match.
 */
function countInOrder(
  { collection, slots, slotCount }: MatchSearch, missedCount: number, lateCount: number,
): number {
  if (slots === null) return collection.size;
  assert(slotCount !== null, 'in order, the slots that match are counted');
  return slotCount - missedCount + lateCount;
}

/** Returns whether the source was given up. */
function* takeFromSource(
  { slots, isIndexed, unsettled, changes: { changedSlots } }: MatchSearch, source: SlotSource,
  taker: MatchTaker,
): Steps<boolean> {
  const isSettled = (slot: number): boolean =>
    !isIndexed || (unsettled?.has(slot) !== true && !changedSlots.has(slot));
  // The bit is asked first: most slots that do not match are told by it alone.
  const mayMatch = (slot: number): boolean => slots?.has(slot) !== false;
  const acceptsInScan = (slot: number): boolean => mayMatch(slot) || !isSettled(slot);
  const acceptsByIndex = (slot: number): boolean => mayMatch(slot) && isSettled(slot);
  const { walk, kind, looksTotalMax = Infinity } = source;
  const isScan = kind === 'books';
  const accepts = isScan ? acceptsInScan : acceptsByIndex;
  let isWanted = true;
  // Only an order ends when the sink has enough: of other sources each match is counted.
  while (isWanted || kind !== 'order') {
    const slot = walk.next(accepts, LOOKS_PER_STEP);
    if (slot === WALK_END) return false;
    if ((walk.looks ?? 0) > looksTotalMax) return true;
    if (slot !== WALK_PAUSE) {
      isWanted = taker.take(slot, isScan && !isSettled(slot) ? 'unsettled' : 'settled');
    }
    if (taker.takeTurnEnd() || slot === WALK_PAUSE) yield;
  }
  return false;
}

/**
 * Looks at the unsettled slots once the source has ended: at those that have not changed since the
 * start, then at those that have, to which a change meanwhile adds its slot. Returns how many of
 * the slots that matched at the start have changed before their books were taken.
 */
function* takeUnsettled(
  { slots, unsettled, isIndexed, changes: { changedSlots } }: MatchSearch, taker: MatchTaker,
): Steps<number> {
  for (let slot = unsettled?.next(0) ?? -1; slot >= 0; slot = unsettled?.next(slot + 1) ?? -1) {
    if (changedSlots.has(slot)) continue;
    taker.take(slot, 'late');
    if (taker.takeTurnEnd()) yield;
  }
  let missedCount = 0;
  for (const slot of isIndexed ? changedSlots : []) {
    // Before the late look, which takes the book if it still matches.
    if (slots?.has(slot) === true && !taker.hasTaken(slot)) missedCount += 1;
    taker.take(slot, 'late');
    if (taker.takeTurnEnd()) yield;
  }
  return missedCount;
}

/** Gives the sink the books that match, each once at most. */
class MatchTaker {
  /** How many books the sink has taken. */
  count = 0;
  readonly #search: MatchSearch;
  readonly #sink: MatchSink;
  readonly #check: ReturnType<typeof createBookCheck>;
  readonly #textWork: number;
  /**
   * Whether a slot may come twice: from an index and, if it changes, as an unsettled slot; or in a
   * scan, if its book was deleted and a new book, whose id is still to come, got its place.
   */
  readonly #mayComeTwice: boolean;
  /** The slots of the books that the sink has taken: few of an order, perhaps all of others. */
  readonly #takenSlots: Pick<BitSet, 'has'> & { add(slot: number): unknown };
  /** The work since the turn began. */
  #work = 0;

  constructor(search: MatchSearch, kind: SlotSource['kind'], sink: MatchSink) {
    const { isIndexed, query: { filter } } = search;
    this.#search = search;
    this.#sink = sink;
    this.#check = createBookCheck(filter);
    this.#textWork = filter.words.length > 0 ? TEXT_WORK : 0;
    this.#mayComeTwice = isIndexed || kind === 'books';
    this.#takenSlots = kind === 'order' ? new Set<number>() : new BitSet();
  }

  hasTaken(slot: number): boolean {
    return this.#takenSlots.has(slot);
  }

  /** Returns whether the turn is to end now; if so, the work of the next turn counts from zero. */
  takeTurnEnd(): boolean {
    const isEnd = this.#work >= WORK_PER_YIELD;
    if (isEnd) this.#work = 0;
    return isEnd;
  }

  /**
   * Looks at the book of a slot, and has the sink take it if it matches. Returns whether the sink
   * wants further books of the source.
   */
  take(slot: number, state: SlotState): boolean {
    const { collection, isExact, areTermsKnown, changes: { deletedSlots } } = this.#search;
    const isSettled = state === 'settled';
    const isLate = state === 'late';
    const isMatch = isExact && isSettled;
    const bytes = isMatch && !this.#sink.readsBooks ? NO_BOOK : collection.bytesAt(slot);
    this.#work += bytes === NO_BOOK ? SLOT_WORK : 1 + (bytes?.length ?? 0) / BYTES_PER_WORK;
    if (bytes === undefined || this.#takenSlots.has(slot)) return true;
    if (!isMatch) {
      this.#work += this.#textWork;
      if (!this.#check(bytes, areTermsKnown && isSettled)) return true;
    }
    // The same book may have been taken in a slot that it was deleted from later.
    const slotsBefore = isLate && deletedSlots.size > 0 ? deletedSlots.get(readId(bytes)) : null;
    if (slotsBefore?.some((before) => this.#takenSlots.has(before)) === true) return true;
    if (this.#mayComeTwice) this.#takenSlots.add(slot);
    this.count += 1;
    return this.#sink.take(bytes, slot, isLate);
  }
}

/**
 * Does what `findMatches` does, from the cursor on in the order of the first sort key, or of the
 * ids if there is none. Null where the order fails: then what the sink has taken is void. An error
 * of the sink, of the check or of a read drops the order too, as it cannot be told from an error of
 * the order.
 */
export function* findInOrder(
  search: MatchSearch<BookQuery>, sink: MatchSink, looksTotalMax = Infinity,
): Steps<SearchEnd | null> {
  const { indexes, order, isExact } = search;
  assert(isExact, 'in order, matches are counted without a look at their books');
  const find = (): Steps<SearchEnd> =>
    findMatches(search, sink, createOrderSource(search, looksTotalMax));
  if (indexes === null || order === null) return yield* find();
  return yield* indexes.askOrDrop([order], find);
}

function createOrderSource(search: MatchSearch<BookQuery>, looksTotalMax: number): SlotSource {
  const { collection, query: { sort, after }, order, pending, changes: { changedSlots } } = search;
  const { orders: [firstOrder, ...furtherOrders], isIdDescending } = sort;
  if (firstOrder === undefined || order === null) {
    const walk = new IdWalk(collection, isIdDescending, after?.id ?? null);
    return { kind: 'order', looksTotalMax, walk };
  }
  // If further keys sort, the walk begins with the first book of the cursor's value.
  const from = after === null ? null : {
    value: after.sortValues[0] ?? null, id: furtherOrders.length === 0 ? after.id : null,
  };
  const readBook = (slot: number): Buffer | undefined =>
    pending?.has(slot) === true || changedSlots.has(slot) ? undefined : collection.bytesAt(slot);
  const { isDescending } = firstOrder;
  const walk = new OrderWalk(order, { isDescending, isIdDescending, from, readBook });
  return { kind: 'order', looksTotalMax, walk };
}

function createSlotSource(search: MatchSearch): SlotSource {
  const { slots } = search;
  if (slots === null) return createBookSource(search);
  let slot = -1;
  const next = (accepts: (slot: number) => boolean): number => {
    do {
      slot = slots.next(slot + 1);
    } while (slot >= 0 && !accepts(slot));
    return slot < 0 ? WALK_END : slot;
  };
  return { kind: 'slots', walk: { next } };
}

/** All books by id, in the direction in which the query sorts books of equal keys. */
export function createBookSource(
  { collection, query: { sort: { isIdDescending } } }: MatchSearch,
): SlotSource {
  return { kind: 'books', walk: new IdWalk(collection, isIdDescending, null) };
}

class IdWalk implements SlotWalk {
  looks = 0;
  readonly #walk: Walk;

  constructor(collection: Collection, isDescending: boolean, after: string | null) {
    this.#walk = collection.walk({ isDescending, after });
  }

  next(accepts: (slot: number) => boolean, looksPerStep: number): number {
    for (let count = 0; count < looksPerStep; count += 1) {
      this.looks += 1;
      const slot = this.#walk.next();
      if (slot < 0) return WALK_END;
      if (accepts(slot)) return slot;
    }
    return WALK_PAUSE;
  }
}

/** Checks a stored book for all conditions, or with `areTermsKnown` for those on values alone. */
export function createBookCheck(
  filter: BookFilter,
): (bytes: Buffer, areTermsKnown?: boolean) => boolean {
  const hasText = filter.words.length > 0;
  const matchesValues = createValueCheck(filter);
  let matchesTexts: ReturnType<typeof createTextFilter> | null = null;
  return (bytes, areTermsKnown = false) => {
    if (!matchesValues(bytes)) return false;
    if (!hasText || areTermsKnown) return true;
    matchesTexts ??= createTextFilter(filter);
    return matchesTexts(bytes);
  };
}
