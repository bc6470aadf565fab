/** Finds records without an owner, and reports problems, for both durable queues. */
import type { CollectionSpec, Store } from '../../store/store-port.ts';
import { visitInSteps } from '../records/stepped-scan.ts';

type QueueReconciliation<Totals> = Totals & {
  readonly isReconciled: boolean;
  /** One sentence for each record that has lost a part, at most a hundred. */
  readonly problems: readonly string[];
};

const PROBLEMS_MAX = 100;

export function reportProblems<Totals extends object>(
  totals: Totals, problems: readonly string[],
): QueueReconciliation<Totals> {
  return {
    ...totals, isReconciled: problems.length === 0, problems: problems.slice(0, PROBLEMS_MAX),
  };
}

/** Finds records whose owner is gone. `ownerOf` returns the owner's id; null: there is no owner. */
export async function findOrphans(
  store: Store, { name }: CollectionSpec, { name: ownerName }: CollectionSpec,
  describe: (id: string) => string, ownerOf: (id: string) => string | null = (id) => id,
): Promise<string[]> {
  const records = store.collection(name);
  const owners = store.collection(ownerName);
  const problems: string[] = [];
  await visitInSteps(records, (_, slot) => {
    const id = records.idAt(slot) ?? '';
    const owner = ownerOf(id);
    if (owner !== null && owners.findSlot(owner) === -1) problems.push(describe(id));
    return 'searched';
  });
  return problems;
}
