/**
 * Scans: which books match, and in what order. A scan walks through the collection in id order, or
 * through the candidates where these are few: the books of which the word index says that they may
 * match. It works in small steps (`base/turns.ts`), sees each book at most once whatever is written
 * meanwhile, and holds no more than the response needs. The first row that fits says which scan
 * runs:
 *
 *   scan        runs                                 walks through   holds
 *   scanSparse  for up to SPARSE_MAX candidates      the candidates  all matches
 *   scanPage    for a query with a limit             the collection  `limit` + 1 books
 *   scanWhole   for a query without a limit          the collection  a slot and keys a match
 *
 * A book is found by its slot, the number that the store gives it for as long as it lives. Slots
 * that change while a scan runs are recorded in `changes` (concurrent-changes.ts), because the word
 * index may not be right about them any more. `scanWhole` also has `changes` keep the bytes of its
 * matches until they are sent.
 */
import { createSlotFilter } from './slot-filter.ts';
import type { FilterInputs, ScanInputs } from './slot-filter.ts';
import { BitSet } from '../../base/structures/bit-set.ts';
import type { Candidates } from '../index/book-search.ts';
import { explainScan, explainSparse } from './scan-plan.ts';
import type { PlanExplanation } from './scan-plan.ts';
import { TopEntries } from './top-k.ts';
import type { BookEntry } from './top-k.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { Steps } from '../../base/turns.ts';
import { NumberList, createKeyColumn } from './sort-columns.ts';
import type { KeyColumn } from './sort-columns.ts';
import { comparePositions, isAfterCursor, readSortValues } from '../query/sort-keys.ts';
import { sortIndexes } from '../../base/structures/merge-sort.ts';

/**
 * `entries` are the books after the cursor, in order, and `total` counts those before it, too. A
 * scan for a page of `limit` books gives more entries than `limit` if there are more books, so that
 * its caller sees that there is a next page: `scanPage` one more, `scanSparse` all of them.
 */
export type PageResult = {
  readonly entries: readonly BookEntry[]; readonly total: number; readonly plan: PlanExplanation;
};
/** `slots` are those of the books after the cursor, in order. */
export type WholeResult = {
  readonly slots: Uint32Array; readonly total: number; readonly plan: PlanExplanation;
};

const SLOTS_COPIED_PER_YIELD = 4096;
// `scanSparse` holds its matches in memory and sorts them, so their number needs a limit. Beyond it
// a scan walks through the whole collection, which holds less but is slower: among a million books
// the walk alone takes most of the 20 ms that a search may take.
const SPARSE_MAX = 16_384;

/** The first `limit` + 1 books after the cursor: the extra one shows whether there are more. */
export function* scanPage(inputs: ScanInputs, limit: number): Steps<PageResult> {
  const { collection, query } = inputs;
  const { sort, after } = query;
  // The walk is in id order: once a page by id is full, all other books come after it.
  const isById = sort.orders.length === 0;
  const plan = explainScan(inputs, SPARSE_MAX);
  const top = new TopEntries(limit + 1, sort);
  const walk = collection.walk({ isDescending: sort.isIdDescending });
  const filter = createSlotFilter(inputs);
  let total = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    if (filter.resetIfYieldDue()) yield;
    const bytes = filter.readIfMatching(slot);
    if (bytes === undefined) continue;
    total += 1;
    // The rest are only counted.
    if (isById && top.isFull) continue;
    const sortValues = readSortValues(sort, bytes);
    if (isAfterCursor(after, sort, sortValues, bytes)) top.offer(sortValues, bytes, slot);
  }
  return { entries: top.sorted(), total, plan };
}

/**
 * The slots of all books after the cursor. `changes` keeps the bytes of these books as they are
 * now, until its `take` is called for each.
 */
export function* scanWhole(inputs: ScanInputs): Steps<WholeResult> {
  const { collection, query, changes } = inputs;
  const { sort, after } = query;
  const plan = explainScan(inputs, SPARSE_MAX);
  // The walk is in the order of ids, in which ties stay.
  const walk = collection.walk({ isDescending: sort.isIdDescending });
  // The sort values of `slots`: no column where the walk comes in the order of the response.
  const columns = sort.orders.map(createKeyColumn);
  const slots = new NumberList();
  const foundSlots = new BitSet();
  const filter = createSlotFilter(inputs);
  let total = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    if (filter.resetIfYieldDue()) yield;
    const bytes = filter.readIfMatching(slot);
    // A slot may come again, with a book that was added in the place of a deleted one.
    if (bytes === undefined || !foundSlots.add(slot)) continue;
    total += 1;
    const sortValues = readSortValues(sort, bytes);
    if (!isAfterCursor(after, sort, sortValues, bytes)) continue;
    for (const [index, column] of columns.entries()) column.push(sortValues[index] ?? null);
    slots.push(slot);
    changes.keepUntilTaken(slot);
  }
  // Only the filter asks which slots changed, and it has seen all books: the sort, which may take
  // long, need not record more.
  changes.stopRecording();
  // Null where the slots are in order already.
  const order = columns.length === 0 ? null : yield* sortIndexes(slots.length, (left, right) =>
    compareInColumns(columns, left, right));
  const orderedSlots = new Uint32Array(slots.length);
  for (let index = 0; index < orderedSlots.length; index += 1) {
    orderedSlots[index] = slots.at(order?.[index] ?? index);
    if (index % SLOTS_COPIED_PER_YIELD === 0) yield;
  }
  return { slots: orderedSlots, total, plan };
}

type SparseScanInputs = ScanInputs & { readonly candidates: Candidates };

/** Whether there are so few candidates that all their books can be held at once. */
export function isSparse<Inputs extends FilterInputs>(
  inputs: Inputs,
): inputs is Inputs & { readonly candidates: Candidates } {
  return inputs.candidates !== null && inputs.candidates.count <= SPARSE_MAX;
}

/** All matches after the cursor, sorted, among few candidates. */
export function* scanSparse(inputs: SparseScanInputs): Steps<PageResult> {
  const { collection, query, candidates: { slots, count } } = inputs;
  const { sort, after } = query;
  const plan = explainSparse(count, collection.size);
  const matches: BookEntry[] = [];
  const ids = new Set<string>();
  const filter = createSlotFilter(inputs);
  for (let slot = slots.next(0); slot >= 0; slot = slots.next(slot + 1)) {
    if (filter.resetIfYieldDue()) yield;
    const bytes = filter.readIfMatching(slot);
    if (bytes === undefined) continue;
    const id = readId(bytes);
    // A book that is deleted and added again meanwhile may come in two slots.
    if (ids.has(id)) continue;
    ids.add(id);
    matches.push({ sortValues: readSortValues(sort, bytes), id, bytes, slot });
  }
  const laterMatches = after === null
    ? matches : matches.filter((entry) => comparePositions(entry, after, sort) > 0);
  const order = yield* sortIndexes(laterMatches.length, (left, right) =>
    compareEntries(laterMatches[left], laterMatches[right], query));
  const entries: BookEntry[] = [];
  for (const index of order) {
    const entry = laterMatches[index];
    if (entry !== undefined) entries.push(entry);
  }
  return { entries, total: matches.length, plan };
}

function compareEntries(
  left: BookEntry | undefined, right: BookEntry | undefined, query: BookQuery,
): number {
  return left === undefined || right === undefined ? 0 : comparePositions(left, right, query.sort);
}

function compareInColumns(columns: readonly KeyColumn[], left: number, right: number): number {
  for (const column of columns) {
    const order = column.compare(left, right);
    if (order !== 0) return order;
  }
  return 0;
}
