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
 *   scanWhole   for a query without a limit          the collection  a slot and a key a match
 *
 * A book is found by its slot, the number that the store gives it for as long as it lives. Slots
 * that change while a scan runs are recorded in `changes` (concurrent-changes.ts), because the word
 * index may not be right about them any more. `scanWhole` also has `changes` keep the bytes of its
 * matches until they are sent.
 */
import { createSlotFilter } from './slot-filter.ts';
import type { ScanInputs } from './slot-filter.ts';
import type { Candidates } from '../index/book-search.ts';
import { TopEntries } from './top-k.ts';
import type { BookEntry } from './top-k.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import { hasMemberConditions, hasTextConditions } from '../query/match-book.ts';
import type { Steps } from '../../base/turns.ts';
import { NumberList, createKeyColumn } from './sort-columns.ts';
import { compareKeys, comparePositions, readSortKey } from '../query/sort-keys.ts';
import { sortIndexes } from '../../base/structures/merge-sort.ts';

/**
 * `entries` are the books after the cursor, in order, and `total` counts those before it, too. A
 * scan for a page of `limit` books gives more entries than `limit` if there are more books, so that
 * its caller sees that there is a next page: `scanPage` one more, `scanSparse` all of them.
 */
export type PageResult = { readonly entries: readonly BookEntry[]; readonly total: number };
/** `slots` are those of the books after the cursor, in order. */
type WholeResult = { readonly slots: Uint32Array; readonly total: number };

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
  const isById = sort.key === 'id';
  const knownTotal = countWithoutReading(inputs);
  // If no book has to be counted, a page by id needs no book before the cursor, and none after
  // the page.
  const readsPageOnly = isById && knownTotal !== null;
  const top = new TopEntries(limit + 1, sort);
  const walk = collection.walk({
    isDescending: isById && sort.isDescending,
    after: readsPageOnly && after !== null ? after.id : null,
  });
  const filter = createSlotFilter(inputs);
  let total = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    if (filter.resetIfYieldDue()) yield;
    const bytes = filter.readIfMatching(slot);
    if (bytes === undefined) continue;
    total += 1;
    // The rest are only counted.
    if (isById && top.isFull) continue;
    const key = readSortKey(sort.key, bytes);
    if (isAfterCursor(query, key, bytes)) top.offer(key, bytes);
    if (readsPageOnly && top.isFull) break;
  }
  return { entries: top.sorted(), total: knownTotal ?? total };
}

/**
 * The slots of all books after the cursor. `changes` keeps the bytes of these books as they are
 * now, until its `take` is called for each.
 */
export function* scanWhole(inputs: ScanInputs): Steps<WholeResult> {
  const { collection, query, changes } = inputs;
  const { sort, after } = query;
  const isById = sort.key === 'id';
  const walk = collection.walk({ isDescending: isById && sort.isDescending });
  // The sort keys of `slots`; null where the walk comes in the order of the response.
  const column = isById ? null : createKeyColumn(sort.key, sort.isDescending);
  const slots = new NumberList();
  const filter = createSlotFilter(inputs);
  let total = 0;
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    if (filter.resetIfYieldDue()) yield;
    const bytes = filter.readIfMatching(slot);
    if (bytes === undefined) continue;
    total += 1;
    // Without a sort and a cursor nobody looks at the key, so it is not read.
    const key = column === null && after === null ? null : readSortKey(sort.key, bytes);
    if (!isAfterCursor(query, key, bytes)) continue;
    column?.push(key);
    slots.push(slot);
    changes.keepUntilTaken(slot);
  }
  // Only the filter asks which slots changed, and it has seen all books: the sort, which may take
  // long, need not record more.
  changes.stopRecording();
  // Null where the slots are in order already.
  const order = column === null ? null : yield* sortIndexes(slots.length, (left, right) =>
    column.compare(left, right));
  const orderedSlots = new Uint32Array(slots.length);
  for (let index = 0; index < orderedSlots.length; index += 1) {
    orderedSlots[index] = slots.at(order?.[index] ?? index);
    if (index % SLOTS_COPIED_PER_YIELD === 0) yield;
  }
  return { slots: orderedSlots, total };
}

type SparseScanInputs = ScanInputs & { readonly candidates: Candidates };

/** Whether there are so few candidates that all their books can be held at once. */
export function isSparse(inputs: ScanInputs): inputs is SparseScanInputs {
  return inputs.candidates !== null && inputs.candidates.count <= SPARSE_MAX;
}

/** All matches after the cursor, sorted, among few candidates. */
export function* scanSparse(inputs: SparseScanInputs): Steps<PageResult> {
  const { query, candidates: { slots } } = inputs;
  const { sort, after } = query;
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
    matches.push({ key: readSortKey(sort.key, bytes), id, bytes });
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
  return { entries, total: matches.length };
}

function compareEntries(
  left: BookEntry | undefined, right: BookEntry | undefined, query: BookQuery,
): number {
  return left === undefined || right === undefined ? 0 : comparePositions(left, right, query.sort);
}

/** The number of matching books, where it is known without reading them. */
function countWithoutReading(
  { collection, query, candidates, changes }: ScanInputs,
): number | null {
  if (hasMemberConditions(query.filter)) return null;
  if (!hasTextConditions(query.filter)) return collection.size;
  const isEachAMatch = candidates !== null && candidates.isExact
    && changes.changedSlots.size === 0;
  return isEachAMatch ? candidates.count : null;
}

function isAfterCursor({ after, sort }: BookQuery, key: BookEntry['key'], bytes: Buffer): boolean {
  if (after === null) return true;
  // The keys decide almost always; the id, which has to be read from the bytes, only between ties.
  const order = compareKeys(key, after.key, sort.isDescending);
  if (order !== 0) return order > 0;
  return comparePositions({ key, id: readId(bytes) }, after, sort) > 0;
}
