/**
 * Looking at the books: which match, and in what order. Every scan goes in id order and in small
 * steps (`query-turns.ts`), sees each book at most once whatever is written meanwhile, and keeps no
 * more than the answer needs: the best `limit` books, or packed keys for an answer without limit.
 */
import type { Collection } from '../store/port.ts';
import type { Changes } from './list-changes.ts';
import { TopEntries } from './list-top.ts';
import type { Entry } from './list-top.ts';
import type { BookQuery } from './query.ts';
import { readId } from './query-fields.ts';
import {
  decodeSearchable, hasMemberConditions, hasTextConditions, matchesMembers, matchesText,
} from './query-match.ts';
import type { Work } from './query-turns.ts';
import type { Bits } from './search-bits.ts';
import { Numbers, createKeyColumn } from './sort-columns.ts';
import { compareKeys, comparePositions, readSortKey } from './sort-keys.ts';
import { sortIndexes } from './sort-merge.ts';

/** The slots of all books that may match the text conditions, and perhaps of others. */
export type Candidates = {
  readonly slots: Bits;
  readonly count: number;
  /** Whether every one that did not change since matches the text conditions. */
  readonly isExact: boolean;
};

export type Scan = {
  readonly collection: Collection;
  readonly query: BookQuery;
  /** null: all books may match. */
  readonly candidates: Candidates | null;
  readonly changes: Changes;
};

export type PageResult = { readonly entries: readonly Entry[]; readonly total: number };
/** `slots` are in the order of the answer. */
export type WholeResult = { readonly slots: Uint32Array; readonly total: number };

// A unit of work between two looks at the clock: cheap looks at this many books, or one parse.
const LOOKS_PER_YIELD = 16;
const LOOKS_PER_COPY = 4096;
// So few candidates are fetched one by one; more are met on a walk through the collection.
const SPARSE_MAX = 16_384;

/** The first `limit` + 1 books after the cursor, so that it shows whether there are more. */
export function* scanPage(scan: Scan, limit: number): Work<PageResult> {
  if (isSparse(scan)) return yield* pageOfSparse(scan, limit);
  const { collection, query, changes } = scan;
  const { sort, after } = query;
  const isById = sort.key === 'id';
  const known = knownTotal(scan);
  const top = new TopEntries(limit + 1, sort);
  const walk = collection.walk({
    isDescending: isById && sort.isDescending,
    after: isById && known !== null && after !== null ? after.id : null,
  });
  let total = 0;
  for (const test = createTest(scan); ;) {
    const slot = walk.next();
    if (slot < 0) break;
    if (test.isYieldDue()) yield;
    const bytes = test.find(slot);
    if (bytes === undefined) continue;
    total += 1;
    const key = readSortKey(sort.key, bytes);
    if (isAfterCursor(query, key, bytes)) top.offer(key, bytes);
    if (isById && known !== null && top.isFull) break;
  }
  changes.settle();
  return { entries: top.sorted(), total: known ?? total };
}

/** All books after the cursor, as slots that `changes` keeps. */
export function* scanWhole(scan: Scan): Work<WholeResult> {
  const { collection, query, changes } = scan;
  const { sort, after } = query;
  const isById = sort.key === 'id';
  const walk = collection.walk({ isDescending: isById && sort.isDescending });
  const column = isById ? null : createKeyColumn(sort.key, sort.isDescending);
  const slots = new Numbers();
  let total = 0;
  for (const test = createTest(scan); ;) {
    const slot = walk.next();
    if (slot < 0) break;
    if (test.isYieldDue()) yield;
    const bytes = test.find(slot);
    if (bytes === undefined) continue;
    total += 1;
    const key = column === null && after === null ? null : readSortKey(sort.key, bytes);
    if (!isAfterCursor(query, key, bytes)) continue;
    column?.push(key);
    slots.push(slot);
    changes.keep(slot);
  }
  changes.settle();
  const order = column === null ? null : yield* sortIndexes(slots.length, (left, right) =>
    column.compare(left, right));
  const ordered = new Uint32Array(slots.length);
  for (let index = 0; index < ordered.length; index += 1) {
    ordered[index] = slots.at(order?.[index] ?? index);
    if (index % LOOKS_PER_COPY === 0) yield;
  }
  return { slots: ordered, total };
}

/** Whether the candidates are so few that their books can all be held at once. */
export function isSparse({ candidates }: Scan): boolean {
  return candidates !== null && candidates.count <= SPARSE_MAX;
}

/** All that match, of few candidates, sorted; `entries` are those after the cursor. */
export function* pageOfSparse(scan: Scan, limit: number): Work<PageResult> {
  const { query, candidates, changes } = scan;
  const { sort } = query;
  const found: Entry[] = [];
  const ids = new Set<string>();
  const test = createTest(scan);
  const slots = candidates?.slots;
  for (let slot = slots?.next(0) ?? -1; slot >= 0; slot = slots?.next(slot + 1) ?? -1) {
    if (test.isYieldDue()) yield;
    const bytes = test.find(slot);
    if (bytes === undefined) continue;
    const id = readId(bytes);
    // A book that was deleted and made again meanwhile may stand in two slots in turn.
    if (ids.has(id)) continue;
    ids.add(id);
    found.push({ key: readSortKey(sort.key, bytes), id, bytes });
  }
  changes.settle();
  const after = query.after;
  const rest = after === null
    ? found : found.filter((entry) => comparePositions(entry, after, sort) > 0);
  const order = yield* sortIndexes(rest.length, (left, right) =>
    compareEntries(rest[left], rest[right], query));
  const entries: Entry[] = [];
  for (const index of order.subarray(0, Math.min(order.length, limit + 1))) {
    const entry = rest[index];
    if (entry !== undefined) entries.push(entry);
  }
  return { entries, total: found.length };
}

function compareEntries(
  left: Entry | undefined, right: Entry | undefined, query: BookQuery,
): number {
  return left === undefined || right === undefined ? 0 : comparePositions(left, right, query.sort);
}

/** The number of matching books, where it can be told without looking at them. */
function knownTotal({ collection, query, candidates, changes }: Scan): number | null {
  if (hasMemberConditions(query.filter)) return null;
  if (!hasTextConditions(query.filter)) return collection.size;
  const isCounted = candidates !== null && candidates.isExact && changes.changed.size === 0;
  return isCounted ? candidates.count : null;
}

function isAfterCursor({ after, sort }: BookQuery, key: Entry['key'], bytes: Buffer): boolean {
  if (after === null) return true;
  const order = compareKeys(key, after.key, sort.isDescending);
  if (order !== 0) return order > 0;
  return comparePositions({ key, id: readId(bytes) }, after, sort) > 0;
}

type Test = {
  /** The bytes of the book in a slot, if it matches. */
  readonly find: (slot: number) => Buffer | undefined;
  /** Whether enough was done since the last yield. */
  readonly isYieldDue: () => boolean;
};

function createTest({ collection, query, candidates, changes }: Scan): Test {
  const { filter } = query;
  const hasText = hasTextConditions(filter);
  const mustParse = hasText && candidates?.isExact !== true;
  let looks = 0;
  return {
    find(slot) {
      looks += 1;
      if (candidates !== null && !candidates.slots.has(slot)) return undefined;
      const bytes = collection.bytesAt(slot);
      if (bytes === undefined || !matchesMembers(filter, bytes)) return undefined;
      // The index knows the book as it was when it was asked.
      if (!mustParse && !(hasText && changes.changed.has(slot))) return bytes;
      looks += LOOKS_PER_YIELD;
      return matchesText(filter, decodeSearchable(bytes)) ? bytes : undefined;
    },
    isYieldDue() {
      if (looks < LOOKS_PER_YIELD) return false;
      looks = 0;
      return true;
    },
  };
}
