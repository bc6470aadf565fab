/** Proves that the totals are what the stored records add up to. */
import type { Store } from '../../store/store-port.ts';
import type { WorkKind } from './kind.ts';
import { countInSteps } from './steps.ts';
import type { WorkTotals } from './totals.ts';

export type WorkReconciliation<Status extends string, Gone extends string = never> =
  WorkTotals<Status, Gone> & {
    readonly isReconciled: boolean;
    /** What does not add up, one sentence each; the first hundred. */
    readonly problems: readonly string[];
  };

/** What a kind of work looks at besides its totals. */
type Looks<Status extends string> = {
  /** Looks closer at a record, and adds what is wrong to `problems`. */
  readonly look: (
    bytes: Buffer, slot: number, problems: string[],
  ) => 'searched' | 'parsed';
  /** Problems that were found before. */
  readonly found: readonly string[];
  /** Work that is accepted and has no record yet, asked in the moment of comparing. */
  readonly unwritten: () => Partial<Record<Status, number>>;
};

const PROBLEMS_MAX = 100;

export function reconcileWork<Item, Status extends string, Gone extends string>(
  store: Store, kind: WorkKind<Item, Status, Gone>, { look, found, unwritten }: Looks<Status>,
): Promise<WorkReconciliation<Status, Gone>> {
  const { collection, totals, statusOf } = kind;
  const counts = new Map<Status, number>();
  const add = (status: Status, by: number): void =>
    void counts.set(status, (counts.get(status) ?? 0) + by);
  const problems: string[] = [];
  return countInSteps(
    store.collection(collection.name),
    (bytes, by) => add(statusOf(bytes), by),
    () => {
      const more = unwritten();
      for (const status of totals.statuses) add(status, more[status] ?? 0);
      return compare(kind, totals.committed(store), counts, [...problems, ...found]);
    },
    (bytes, slot) => look(bytes, slot, problems),
  );
}

function compare<Item, Status extends string, Gone extends string>(
  { noun, totals: record }: WorkKind<Item, Status, Gone>, totals: WorkTotals<Status, Gone>,
  counts: ReadonlyMap<Status, number>, problems: string[],
): WorkReconciliation<Status, Gone> {
  for (const status of record.statuses) {
    const [expected, found] = [totals[status], counts.get(status) ?? 0];
    if (expected !== found) {
      problems.push(`${expected} ${noun} should be ${status}, and ${found} are`);
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
