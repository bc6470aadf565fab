/**
 * Answers a query without a limit by the indexes: the slots of all books that match, in order.
 * Where further keys sort, or something is written meanwhile, a scan answers.
 */
import type { Steps } from '../../base/turns.ts';
import { READS_PER_CALL } from './answer-page.ts';
import { hasLostOrder, matchesSettled, openSearch, openWalk } from './index-search.ts';
import type { IndexSearch, SearchInputs } from './index-search.ts';
import { NEEDS_SCAN } from './needs-scan.ts';
import { WALK_END, WALK_PAUSE } from '../engine/order-walk.ts';
import { planWhole } from '../engine/planner.ts';
import type { WholeResult } from './scan.ts';

// The walk keeps the book of each slot that it gives.
const SLOTS_PER_YIELD = 32;

/** `changes` keeps the books as they are now until each is taken. */
export function* answerWhole(inputs: SearchInputs): Steps<WholeResult | typeof NEEDS_SCAN> {
  const { query: { sort }, changes } = inputs;
  const search = sort.orders.length > 1 ? null : yield* openSearch(inputs);
  if (search === null || !search.hasOrder) return NEEDS_SCAN;
  const slots = search.unsettled.isEmpty ? yield* listSlots(search) : null;
  if (slots === null || changes.changedSlots.size > 0) {
    changes.releaseKept();
    return NEEDS_SCAN;
  }
  const bookCount = search.collection.size;
  const matchCount = search.matches?.count() ?? null;
  changes.stopRecording();
  return {
    slots, total: matchCount ?? bookCount,
    plan: planWhole(bookCount, matchCount, sort.orders[0]?.key ?? 'id'),
  };
}

/** Null when the order was lost, or something was written. */
function* listSlots(search: IndexSearch): Steps<Uint32Array | null> {
  const { collection, matches, changes } = search;
  const walk = openWalk(search);
  const accepts = (slot: number): boolean => matchesSettled(search, slot);
  const slots = new Uint32Array(matches?.count() ?? collection.size);
  let count = 0;
  for (;;) {
    if (hasLostOrder(search) || changes.changedSlots.size > 0) return null;
    const slot = walk.next(accepts, READS_PER_CALL);
    if (slot === WALK_END || count === slots.length) return slots.subarray(0, count);
    if (slot === WALK_PAUSE) {
      yield;
      continue;
    }
    slots[count] = slot;
    count += 1;
    changes.keepUntilTaken(slot);
    if (count % SLOTS_PER_YIELD === 0) yield;
  }
}
