/**
 * An item that has left its queue leaves nothing that could be counted, so a record of its queue
 * counts it. The items that are there are counted by their status as changes are applied, by
 * `QueueCapacity` and `RequestStates`; together they are the totals of the queue.
 *
 *     {"identifier":"<noun of the queue>","agedOut":<n>,"deleted":<n>}
 */
import { decodeRecordAs } from '../../resources/record.ts';
import { findStaged } from '../../store/find-record.ts';
import type { CollectionSpec, FindRecord, Transaction } from '../../store/store-port.ts';

/** How an item leaves: retention removes it, or somebody deletes it. */
export type Removal = 'agedOut' | 'deleted';

type RemovalCounts = { readonly [Name in Removal]: number };

export const removalCollection: CollectionSpec = { name: 'removals', key: 'identifier' };

const NONE: RemovalCounts = { agedOut: 0, deleted: 0 };

/** Counts the items of a queue that have left it. */
export function readRemovals(find: FindRecord, noun: string): RemovalCounts {
  const bytes = find(removalCollection.name, noun);
  if (bytes === undefined) return NONE;
  const { agedOut, deleted } = decodeRecordAs<RemovalCounts>(bytes, (record) =>
    Number.isSafeInteger(record['agedOut']) && Number.isSafeInteger(record['deleted']));
  return { agedOut, deleted };
}

/** Stages that `count` more items of a queue have left it. */
export function stageRemovals(
  transaction: Transaction, noun: string, removal: Removal, count: number,
): void {
  const before = readRemovals(findStaged(transaction), noun);
  const counts = { ...before, [removal]: before[removal] + count };
  transaction.put(removalCollection.name, noun, JSON.stringify({ identifier: noun, ...counts }));
}

/** Adds how many were accepted: all that are there, and all that have left. */
export function addAccepted<Counts extends Readonly<Record<string, number>>>(
  counts: Counts,
): { readonly accepted: number } & Counts {
  return { accepted: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
}
