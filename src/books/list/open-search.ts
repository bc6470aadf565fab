/**
 * Opens a search: asks the indexes about a query, before any book is looked at. They tell which
 * slots may match, whether all of them do, and which order they come in. The sets of the word index
 * and of the columns are intersected as bits. Where they answer all conditions, no book is read to
 * know that it matches.
 *
 * The indexes may know a book as it was: the books of pending slots, those that the word index has
 * not seen yet, and those that change while the query runs. These slots are unsettled. They are
 * taken out of the slots, and the loop (match-search.ts) looks at their books in the end.
 */
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { Collection } from '../../store/store-port.ts';
import type { SlotOrder } from '../engine/slot-order.ts';
import type { ValueColumn } from '../engine/value-column.ts';
import type { IndexHost } from '../index/index-host.ts';
import { hasConditions, isAboutTexts } from '../query/book-filter.ts';
import type { BookFilter, ValueQuestion } from '../query/book-filter.ts';
import type { BookQuery } from '../query/parse-query.ts';
import type { ConcurrentChanges } from './concurrent-changes.ts';

/** The inputs from which a query is answered. */
type SearchInputs<Query = Pick<BookQuery, 'filter' | 'sort'>> = {
  readonly collection: Collection;
  readonly query: Query;
  /** They record since before the indexes are asked. */
  readonly changes: ConcurrentChanges;
  /** null: every query is a scan. */
  readonly indexes: SearchIndexes | null;
};

/** The part of the indexes that a search needs. */
export type SearchIndexes = Pick<IndexHost,
  'openWords' | 'findColumn' | 'findOrder' | 'copyPending' | 'askOrDrop'>;

export type MatchSearch<Query = Pick<BookQuery, 'filter' | 'sort'>> =
  SearchInputs<Query> & IndexAnswer;

/** The knowledge of the indexes about a query. */
type IndexAnswer = {
  /** The order of the first key; null: there is no index of it, or ids are the order. */
  readonly order: SlotOrder | null;
  /**
   * Slots that were settled at the start: all of them that match are among these. Null: all may
   * match. The set does not follow changes.
   */
  readonly slots: BitSet | null;
  /** How many slots these are; null for all. */
  readonly slotCount: number | null;
  /** Whether the books of these slots match the text conditions, so that no text is read. */
  readonly areTermsKnown: boolean;
  /** Whether all of these slots match, so that no book is read to know it. */
  readonly isExact: boolean;
  /** Whether no book has the words, as far as the word index is settled. */
  readonly lacksWords: boolean;
  /** The slots that were pending at the start; null: none was. */
  readonly pending: BitSet | null;
  /** The slots that were unsettled at the start, those pending among them; null: none was. */
  readonly unsettled: BitSet | null;
  /** Whether an index is relied on, so that slots that change are unsettled. */
  readonly isIndexed: boolean;
};

const SLOTS_PER_YIELD = 4096;

export function* openSearch<Query extends Pick<BookQuery, 'filter' | 'sort'>>(
  { collection, query, changes, indexes }: SearchInputs<Query>,
): Steps<MatchSearch<Query>> {
  const answer = indexes === null ? createScan(query.filter)
    : yield* askIndexes(indexes, query);
  return { collection, query, changes, indexes, ...answer };
}

function createScan(filter: BookFilter): IndexAnswer {
  return {
    order: null, slots: null, slotCount: null, pending: null, unsettled: null, isIndexed: false,
    areTermsKnown: !isAboutTexts(filter), isExact: !hasConditions(filter), lacksWords: false,
  };
}

/** If an index fails meanwhile, its conditions are checked by reading books. */
function* askIndexes(
  indexes: SearchIndexes, { filter, sort }: Pick<BookQuery, 'filter' | 'sort'>,
): Steps<IndexAnswer> {
  const [firstOrder] = sort.orders;
  // All are asked for before any is missed, so that all are made at once.
  const words = indexes.openWords(filter);
  const order = firstOrder === undefined ? null : indexes.findOrder(firstOrder.key);
  const questions = filter.values.flatMap((condition) => {
    const { column: name } = condition.row;
    return name === undefined ? [] : [{ condition, column: indexes.findColumn(name) }];
  });
  const isIndexed = words !== null || order !== null
    || questions.some(({ column }) => column !== null);
  // Books that change from now on are among the changes that are recorded.
  const pending = isIndexed ? indexes.copyPending() : null;
  const unsettled = unite(pending, words?.unseen ?? null);
  let slots = words === null ? null : yield* words.find();
  const areTermsKnown = slots === null ? !isAboutTexts(filter) : words?.isExact === true;
  if (unsettled !== null) slots?.subtract(unsettled);
  const lacksWords = slots !== null && slots.next(0) < 0;
  // A condition that no index knows is checked by reading.
  let isExact = areTermsKnown
    && filter.values.every(({ row: { column, term } }) => (column ?? term) !== undefined);
  for (const { condition, column } of questions) {
    const matching = column === null ? null
      : yield* indexes.askOrDrop([column], () => column.match(condition));
    if (matching === null) {
      isExact = false;
    } else if (slots === null) {
      // A column's set is its own, and follows changes.
      slots = matching.copy();
      if (unsettled !== null) slots.subtract(unsettled);
    } else {
      slots.retain(matching);
    }
  }
  return {
    order, slots, slotCount: slots?.count() ?? null, pending, unsettled, isIndexed, areTermsKnown,
    isExact, lacksWords,
  };
}

/** The search among those of its books alone that a column finds; null where the column fails. */
export function* narrowSearch<Query>(
  search: MatchSearch<Query>, indexes: SearchIndexes, column: ValueColumn, question: ValueQuestion,
): Steps<MatchSearch<Query> | null> {
  const unsettled = unite(search.unsettled, indexes.copyPending());
  const matching = yield* indexes.askOrDrop([column], () => column.match(question));
  if (matching === null) return null;
  const slots = matching.copy();
  if (search.slots !== null) slots.retain(search.slots);
  return searchAmong(search, slots, unsettled);
}

/**
 * The search for a sink that reads columns in place of books: slots that the columns have not taken
 * in are unsettled.
 */
export function* settleSearch<Query>(
  search: MatchSearch<Query>, indexes: SearchIndexes,
): Steps<MatchSearch<Query>> {
  const unsettled = unite(search.unsettled, indexes.copyPending());
  const slots = search.slots?.copy() ?? (yield* listSlots(search.collection));
  return searchAmong(search, slots, unsettled);
}

/** The search among these slots, but the unsettled ones, which are looked at in the end. */
function searchAmong<Query>(
  search: MatchSearch<Query>, slots: BitSet, unsettled: BitSet | null,
): MatchSearch<Query> {
  if (unsettled !== null) slots.subtract(unsettled);
  return { ...search, slots, slotCount: slots.count(), unsettled, isIndexed: true };
}

/** All slots, rising: columns read the values of neighbouring slots fast. */
function* listSlots(collection: Collection): Steps<BitSet> {
  const slots = new BitSet(collection.slotBound);
  const walk = collection.walk();
  let looks = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    slots.add(slot);
    looks += 1;
    if (looks % SLOTS_PER_YIELD === 0) yield;
  }
  return slots;
}

function unite(left: BitSet | null, right: BitSet | null): BitSet | null {
  if (left === null || right === null) return left ?? right;
  const both = left.copy();
  both.unite(right);
  return both;
}
