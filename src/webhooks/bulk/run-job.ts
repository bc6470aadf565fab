/**
 * Takes one job to its end, a chunk a transaction. While there is no room for more, or the store
 * takes no writes, it waits and tries with less. What ends the process ends it between two chunks:
 * the next start goes on from there.
 */
import { formatTimestamp, type Clock } from '../../base/clock.ts';
import { AppError, type ErrorCode } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../../store/store-port.ts';
import { advance, decodeJob, encodeJob, jobCollection, type JobCounts, type Job } from './job.ts';
import type { RecordSelection } from './job-kind.ts';
import { takeChunk } from '../durable-queue/queue-spec.ts';
import type { Ownership } from '../durable-queue/ownership.ts';

type RunJobDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  readonly ownership: Pick<Ownership, 'isMaintainer'>;
  /** Aborted when nothing more is to be done. */
  readonly closing: AbortSignal;
};

/** Records a transaction, where their bytes allow it: it is a few milliseconds of work. */
const CHUNK_RECORDS_MAX = 100;
const WAIT_MS = 1000;
const TEMPORARY_ERRORS: readonly ErrorCode[] = ['unavailable', 'storage_full', 'unknown_outcome'];

type Chunk = { readonly ids: readonly string[]; readonly isEnd: boolean };

/** Resolves when the job is done or cancelled, when another node goes on with it, or we close. */
export async function runJob(
  deps: RunJobDeps, id: string, selection: RecordSelection,
): Promise<void> {
  const { store, clock, log, closing, ownership } = deps;
  let max = CHUNK_RECORDS_MAX;
  let hasWaited = false;
  while (!closing.aborted && ownership.isMaintainer()) {
    const bytes = store.collection(jobCollection.name).findBytes(id);
    const job = bytes === undefined ? null : decodeJob(bytes);
    if (job?.status !== 'running') return;
    const chunk = await nextChunk(selection, job, max);
    try {
      await commitChunk(deps, job, chunk, selection);
      max = Math.min(CHUNK_RECORDS_MAX, max * 2);
    } catch (thrown) {
      const { length } = chunk.ids;
      if (!isTemporary(thrown)) {
        if (length <= 1) await commitFailure(deps, job, chunk, thrown);
        max = 1;
      } else if (length > 1) {
        // There may be room for a part of it.
        max = Math.ceil(length / 2);
      } else {
        if (!hasWaited) {
          log.warning('a job has to wait', { job: id, kind: job.kind, error: thrown });
        }
        hasWaited = true;
        await pause(clock, WAIT_MS, closing);
      }
    }
  }
}

async function nextChunk(selection: RecordSelection, job: Job, max: number): Promise<Chunk> {
  const matches = await selection.next(job.after, job.upTo, max);
  const chunk = takeChunk(matches, ({ bytes }) => bytes);
  const isEnd = chunk.length === matches.length && matches.length < max;
  return { ids: chunk.map(({ id }) => id), isEnd };
}

/** One that cannot be done for a fault of ours must not keep the others from it. */
async function commitFailure(
  deps: RunJobDeps, job: Job, chunk: Chunk, thrown: unknown,
): Promise<void> {
  const { log } = deps;
  const [record] = chunk.ids;
  log.error('a job failed with a record', { job: job.id, kind: job.kind, record, error: thrown });
  const stage = (): JobCounts => ({ done: 0, failed: chunk.ids.length });
  await commitChunk(deps, job, chunk, { stage }).catch((error: unknown) => {
    // Then the same comes again.
    if (!isTemporary(error)) throw error;
  });
}

/** There is no room, or the store takes no writes, at present. */
function isTemporary(thrown: unknown): boolean {
  return thrown instanceof AppError && TEMPORARY_ERRORS.includes(thrown.code);
}

function commitChunk(
  { store, clock, makeId }: RunJobDeps, job: Job, { ids, isEnd }: Chunk,
  selection: Pick<RecordSelection, 'stage'>,
): Promise<void> {
  const inputs = { nowMs: clock.now(), seed: makeId(), hops: 0 };
  return store.transact((transaction) => {
    const bytes = transaction.find(jobCollection.name, job.id);
    const current = bytes === undefined ? null : decodeJob(bytes);
    // Cancelled meanwhile; or a commit of which we were not told has got further.
    if (current?.status !== 'running' || current.after !== job.after) return;
    const counts = selection.stage(transaction, ids, inputs);
    const after = isEnd ? job.upTo : ids.at(-1) ?? job.upTo;
    const next = advance(current, counts, after, isEnd, formatTimestamp(inputs.nowMs));
    transaction.put(jobCollection.name, job.id, encodeJob(next));
  });
}

/** Ends at once when we close. */
function pause(clock: Clock, delayMs: number, closing: AbortSignal): Promise<void> {
  if (closing.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      closing.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.startTimer(delayMs, end);
    closing.addEventListener('abort', end);
  });
}
