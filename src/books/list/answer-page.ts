/**
 * Answers a query for a page by the indexes: by a walk in order or by sorting the matches, as the
 * planner says.
 *
 * Whatever is written meanwhile, the answer is that of its last step, in which each slot that has
 * changed is looked at by its book. If a book changes that was already taken for the page, the page
 * is found again.
 */
import type { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import { WALK_END, WALK_PAUSE } from '../engine/order-walk.ts';
import { planPage, replanPage } from '../engine/planner.ts';
import type { Plan } from '../engine/planner.ts';
import type { SortValue } from '../query/cursor.ts';
import { hasTextConditions, matchesMembers } from '../query/match-book.ts';
import { isAfterCursor, readSortValues } from '../query/sort-keys.ts';
import { hasLostOrder, matchesSettled, openSearch, openWalk } from './index-search.ts';
import type { IndexSearch, SearchInputs } from './index-search.ts';
import { NEEDS_SCAN } from './needs-scan.ts';
import type { PageResult } from './scan.ts';
import { TextFilter } from './text-filter.ts';
import { TopEntries } from './top-k.ts';

// How often the page is found again as books in it changed.
const RETRIES_MAX = 3;
// How many slots a walk looks at before it lets its caller yield.
export const READS_PER_CALL = 4096;
const BOOKS_PER_YIELD = 16;
// More slots that have changed are a reason to scan: they are looked at in one step.
const CHANGED_MAX = 100;

/** One page; NEEDS_SCAN where an index is not there, and where too much is unsettled. */
export function* answerPage(
  inputs: SearchInputs, limit: number,
): Steps<PageResult | typeof NEEDS_SCAN> {
  const search = yield* openSearch(inputs);
  if (search === null) return NEEDS_SCAN;
  for (let attempt = 0; attempt <= RETRIES_MAX; attempt += 1) {
    const page = yield* findPage(search, limit + 1);
    if (page !== null) return page;
  }
  return NEEDS_SCAN;
}

/** Null when a book changed that was taken for the page, which must be found again then. */
function* findPage(
  search: IndexSearch, wantedCount: number,
): Steps<PageResult | typeof NEEDS_SCAN | null> {
  const { collection, query, changes, matches, hasOrder } = search;
  let plan = planPage({
    bookCount: collection.size, matchCount: matches?.count() ?? null, wantedCount,
    orderText: query.sort.orders[0]?.key ?? 'id', hasOrder,
  });
  if (plan.name === 'scan') return NEEDS_SCAN;
  let top = new TopEntries(wantedCount, query.sort);
  const end = plan.name === 'order-walk'
    ? yield* takeInOrder(search, plan, wantedCount, top) : null;
  if (end === 'lost') return NEEDS_SCAN;
  if (end === 'left') {
    plan = replanPage(plan);
    top = new TopEntries(wantedCount, query.sort);
  }
  if (plan.name === 'sorted-matches') yield* takeMatches(search, top);
  const matchesUnsettled = createBookFilter(search);
  const unsettledMatches = yield* takeUnsettled(search, matchesUnsettled, top);
  // From here on nothing can change.
  if (changes.changedSlots.size > CHANGED_MAX) return NEEDS_SCAN;
  if (top.sorted().some(({ slot }) => changes.changedSlots.has(slot))) return null;
  for (const slot of changes.changedSlots) {
    if (takeIfMatching(search, slot, matchesUnsettled, top)) unsettledMatches.add(slot);
    else unsettledMatches.delete(slot);
  }
  const total = matches === null ? collection.size
    : countSettled(matches, search.unsettled.atStart, changes.changedSlots) + unsettledMatches.size;
  return { entries: top.sorted(), total, plan };
}

/**
 * How a walk ended: the page is full, or the order has no more; it took too long, and was left; or
 * the order was lost.
 */
type WalkEnd = 'done' | 'left' | 'lost';

function* takeInOrder(
  search: IndexSearch, plan: Plan, wantedCount: number, top: TopEntries,
): Steps<WalkEnd> {
  const { collection, query } = search;
  const walk = openWalk(search);
  const accepts = (slot: number): boolean => matchesSettled(search, slot);
  const hasFurtherKeys = query.sort.orders.length > 1;
  let readCount = 0;
  let takenCount = 0;
  let lastValue: SortValue = null;
  while (takenCount < wantedCount || hasFurtherKeys) {
    if (hasLostOrder(search)) return 'lost';
    const slot = walk.next(accepts, READS_PER_CALL);
    if (slot === WALK_END) return 'done';
    if (walk.reads > plan.looksMax) return 'left';
    if (slot === WALK_PAUSE) {
      yield;
      continue;
    }
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    const sortValues = readSortValues(query.sort, bytes);
    const [firstValue = null] = sortValues;
    // Further keys sort among books that have the same first one.
    if (takenCount >= wantedCount && firstValue !== lastValue) return 'done';
    lastValue = firstValue;
    readCount += 1;
    if (readCount % BOOKS_PER_YIELD === 0) yield;
    if (!isAfterCursor(query.after, query.sort, sortValues, bytes)) continue;
    top.offer(sortValues, bytes, slot);
    takenCount += 1;
  }
  return 'done';
}

/** Offers all matches, whatever their order. */
function* takeMatches(
  { collection, query, matches, unsettled, changes }: IndexSearch, top: TopEntries,
): Steps<void> {
  const { sort, after } = query;
  if (matches === null) return;
  let readCount = 0;
  for (let slot = matches.next(0); slot >= 0; slot = matches.next(slot + 1)) {
    const bytes = unsettled.has(slot) ? undefined : collection.bytesAt(slot);
    if (bytes === undefined) continue;
    readCount += 1;
    if (readCount % BOOKS_PER_YIELD === 0) yield;
    // A scan has to answer then.
    if (changes.changedSlots.size > CHANGED_MAX) return;
    const sortValues = readSortValues(sort, bytes);
    if (isAfterCursor(after, sort, sortValues, bytes)) top.offer(sortValues, bytes, slot);
  }
}

/** Offers those that match of the books that were unsettled at the start; gives their slots. */
function* takeUnsettled(
  search: IndexSearch, matchesUnsettled: BookPredicate, top: TopEntries,
): Steps<Set<number>> {
  const slots = new Set<number>();
  let readCount = 0;
  for (const slot of search.unsettled.atStart) {
    readCount += 1;
    if (readCount % BOOKS_PER_YIELD === 0) yield;
    // One that changes is looked at in the end.
    if (search.changes.changedSlots.has(slot)) continue;
    if (takeIfMatching(search, slot, matchesUnsettled, top)) slots.add(slot);
  }
  return slots;
}

/** Offers the book in a slot if it matches the query. Whether it does. */
function takeIfMatching(
  { collection, query: { sort, after } }: IndexSearch, slot: number, matches: BookPredicate,
  top: TopEntries,
): boolean {
  const bytes = collection.bytesAt(slot);
  if (bytes === undefined || !matches(bytes)) return false;
  const sortValues = readSortValues(sort, bytes);
  if (isAfterCursor(after, sort, sortValues, bytes)) top.offer(sortValues, bytes, slot);
  return true;
}

type BookPredicate = (bytes: Buffer) => boolean;

function createBookFilter({ query: { filter } }: IndexSearch): BookPredicate {
  const textFilter = hasTextConditions(filter) ? new TextFilter(filter) : null;
  return (bytes) => matchesMembers(filter, bytes) && (textFilter?.matches(bytes) ?? true);
}

/** How many of the slots are in neither of the sets of unsettled ones. */
function countSettled(
  slots: BitSet, atStart: ReadonlySet<number>, changed: ReadonlySet<number>,
): number {
  let count = slots.count();
  for (const slot of atStart) if (slots.has(slot)) count -= 1;
  for (const slot of changed) if (slots.has(slot) && !atStart.has(slot)) count -= 1;
  return count;
}
