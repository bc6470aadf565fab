/** Selects the records of a job. */
import { AppError } from '../../base/errors.ts';
import type { Steps, Turns } from '../../base/turns.ts';
import { deriveIds } from '../../base/uuid.ts';
import { findStaged } from '../../store/find-record.ts';
import type {
  Collection, CollectionSpec, FindRecord, Transaction,
} from '../../store/store-port.ts';
import { visitInSteps } from '../records/stepped-scan.ts';
import type { JobCounts } from './job.ts';
import type { RecordMatch, RecordSelection } from './job-kind.ts';

type SelectedRecord = { readonly id: string; readonly bytes: Buffer };

/** A test of what stands beside a record and never changes, such as the payload of its event. */
type DeepTest = {
  readonly turns: Turns;
  readonly holds: (record: SelectedRecord) => Steps<boolean>;
};

/** Records that are put to a deep test together. */
const TESTED_MAX = 100;

/**
 * Makes a selection from a collection. `matches` looks at a record as it is stored; of those that
 * match, `deepTest` decides.
 */
export function createSelection(
  collection: Collection, matches: (bytes: Buffer, id: string) => boolean,
  deepTest: DeepTest | null = null,
): Omit<RecordSelection, 'stage'> {
  // A record may be written some time after its id was drawn. These are not part of the selection,
  // although their ids are lower than the last one. A restart forgets them.
  const idsAddedLater = new Set<string>();
  let unlisten = (): void => {};
  /** Calls `take` with the matches after `after` and up to `upTo`, until it returns true. */
  const walkMatches = (
    after: string | null, upTo: string, take: Take,
  ): Promise<void> => visitInSteps(collection, (bytes, slot) => {
    const id = collection.idAt(slot);
    if (id === undefined || id > upTo) return 'done';
    return matches(bytes, id) && !idsAddedLater.has(id) && take({ id, bytes }) ? 'done'
      : 'parsed';
  }, collection.walk({ after }));
  const walk = (after: string | null, upTo: string, take: Take): Promise<void> =>
    deepTest === null ? walkMatches(after, upTo, take)
      : walkDeeply(deepTest, take, (from, takeMatch) =>
        walkMatches(from ?? after, upTo, takeMatch));
  return {
    async begin() {
      const last = collection.idAt(collection.walk({ isDescending: true }).next()) ?? null;
      unlisten = collection.onChange(({ id, before }) => {
        if (before === null && last !== null && id <= last) idsAddedLater.add(id);
      });
      return last;
    },
    end: () => unlisten(),
    async count(upTo) {
      let count = 0;
      await walk(null, upTo, () => {
        count += 1;
        return false;
      });
      return count;
    },
    async next(after, upTo, max) {
      const records: RecordMatch[] = [];
      await walk(after, upTo, ({ id, bytes }) => records.push({ id, bytes: bytes.length }) === max);
      return records;
    },
  };
}

/** Returns true to end the walk. */
type Take = (record: SelectedRecord) => boolean;

/** Calls `take` with the records of a walk for which the test holds, until it returns true. */
async function walkDeeply(
  { turns, holds }: DeepTest, take: Take,
  walkBehind: (id: string | null, take: Take) => Promise<void>,
): Promise<void> {
  for (let lastId: string | null = null;;) {
    const matches: SelectedRecord[] = [];
    await walkBehind(lastId, (record) => matches.push(record) === TESTED_MAX);
    for (const record of await turns.run(selectHolding(matches, holds)) ?? []) {
      if (take(record)) return;
    }
    lastId = matches.at(-1)?.id ?? null;
    if (matches.length < TESTED_MAX) return;
  }
}

function* selectHolding(
  records: readonly SelectedRecord[], holds: DeepTest['holds'],
): Steps<readonly SelectedRecord[]> {
  const holding: SelectedRecord[] = [];
  for (const record of records) {
    if (yield* holds(record)) holding.push(record);
    yield;
  }
  return holding;
}

/**
 * Calls `stage` for each record that still matches, with an id that is drawn for it from `seed`.
 * Counts what was done. A `conflict`, which concerns that record alone, counts as failed.
 */
export function stageEach(
  transaction: Transaction, { name }: CollectionSpec, ids: readonly string[], seed: string,
  matches: (bytes: Buffer, find: FindRecord) => boolean,
  stage: (id: string, drawnId: string) => void,
): JobCounts {
  const nextId = deriveIds(seed);
  const find = findStaged(transaction);
  let done = 0;
  let failed = 0;
  for (const id of ids) {
    const bytes = find(name, id);
    if (bytes === undefined || !matches(bytes, find)) continue;
    try {
      stage(id, nextId());
      done += 1;
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'conflict') throw thrown;
      failed += 1;
    }
  }
  return { done, failed };
}
