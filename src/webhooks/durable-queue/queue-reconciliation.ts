/** Checks that the totals of a queue are what its stored records add up to. */
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import type { QueueSpec } from './queue-spec.ts';
import { countInSteps } from '../records/stepped-scan.ts';
import type { QueueTotals } from './queue-totals.ts';

export type QueueReconciliation<Status extends string, Removal extends string = never> =
  QueueTotals<Status, Removal> & {
    readonly isReconciled: boolean;
    /** One sentence for each thing that does not add up, at most a hundred. */
    readonly problems: readonly string[];
  };

/** The checks of one queue besides its totals. */
type ReconciliationInputs<Status extends string> = {
  /** Whether a record of the collection belongs to the queue. */
  readonly isCounted: (id: string) => boolean;
  /** Inspects a record, and adds what is wrong with it to `problems`. */
  readonly inspect: (
    bytes: Buffer, slot: number, problems: string[],
  ) => 'searched' | 'parsed';
  readonly earlierProblems: readonly string[];
  /** Counts accepted items that have no record yet. Called at the moment of comparing. */
  readonly countUnwritten: () => Partial<Record<Status, number>>;
};

const PROBLEMS_MAX = 100;

export function reconcileQueue<Item, Status extends string, Removal extends string>(
  store: Store, queue: QueueSpec<Item, Status, Removal>,
  { isCounted, inspect, earlierProblems, countUnwritten }: ReconciliationInputs<Status>,
): Promise<QueueReconciliation<Status, Removal>> {
  const { collection, totals, readStatus } = queue;
  const find = findCommitted(store);
  const counts = new Map<Status, number>();
  const add = (status: Status, by: number): void => {
    counts.set(status, (counts.get(status) ?? 0) + by);
  };
  const problems: string[] = [];
  const records = store.collection(collection.name);
  return countInSteps(
    records,
    (bytes, by, id) => {
      if (isCounted(id)) add(readStatus(bytes, find), by);
    },
    () => {
      const unwritten = countUnwritten();
      for (const status of totals.statuses) add(status, unwritten[status] ?? 0);
      return compareWithTotals(
        queue, totals.readCommitted(store), counts, [...problems, ...earlierProblems]);
    },
    (bytes, slot) => isCounted(records.idAt(slot) ?? '') ? inspect(bytes, slot, problems)
      : 'searched',
  );
}

/** Compares the counts of items by status with the totals, and adds what differs to `problems`. */
export function compareWithTotals<Item, Status extends string, Removal extends string>(
  { noun, totals: record }: QueueSpec<Item, Status, Removal>, totals: QueueTotals<Status, Removal>,
  counts: ReadonlyMap<string, number>, problems: string[],
): QueueReconciliation<Status, Removal> {
  for (const status of record.statuses) {
    const [expected, actual] = [totals[status], counts.get(status) ?? 0];
    if (expected !== actual) {
      problems.push(`${expected} ${noun} should be ${status}, and ${actual} are`);
    }
  }
  const sum = record.sum(totals);
  if (totals.accepted !== sum) {
    problems.push(`${totals.accepted} were accepted, and ${sum} are accounted for`);
  }
  return {
    ...totals, isReconciled: problems.length === 0, problems: problems.slice(0, PROBLEMS_MAX),
  };
}
