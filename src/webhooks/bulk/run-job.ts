/**
 * Runs one job to its end, one chunk in each transaction. While there is no room, or the store
 * takes no writes, the job waits and tries smaller chunks. After a crash the next start goes on
 * behind the last chunk that was committed.
 */
import { formatTimestamp, sleep } from '../../base/clock.ts';
import { isTemporary } from '../../base/errors.ts';
import { findStaged } from '../../store/find-record.ts';
import type { FindRecord } from '../../store/store-port.ts';
import { advance, decodeJob, jobCollection, type JobCounts, type Job } from './job.ts';
import type { RecordSelection } from './job-kind.ts';
import { stageJobCancel, stageJobChange } from './stage-job.ts';
import { takeChunk } from '../work/item-spec.ts';
import type { RelayContext } from '../relay-context.ts';

/** Most records in one transaction, which takes a few milliseconds. */
const CHUNK_RECORDS_MAX = 100;
const WAIT_MS = 1000;

/** Whether a token is neither revoked nor expired. `find` finds its record. */
export type IsTokenInForce = (find: FindRecord, tokenId: string) => boolean;

/** `isTokenInForce` is asked of the token that began the job, before each chunk. */
type JobContext = RelayContext & { readonly isTokenInForce: IsTokenInForce };

type Chunk = { readonly ids: readonly string[]; readonly isEnd: boolean };

/**
 * Resolves when the job is done or cancelled, also as its token is not in force any more; when
 * another node goes on with it, or when `closing` is aborted, as the program closes.
 */
export async function runJob(
  context: JobContext, closing: AbortSignal, id: string, selection: RecordSelection,
): Promise<void> {
  const { store, clock, log, ownership } = context;
  let chunkMax = CHUNK_RECORDS_MAX;
  // The wait is logged once.
  let hasWaited = false;
  while (!closing.aborted && ownership.isMaintainer()) {
    const bytes = store.collection(jobCollection.name).findBytes(id);
    const job = bytes === undefined ? null : decodeJob(bytes);
    if (job?.status !== 'running') return;
    const chunk = await selectChunk(selection, job, chunkMax);
    try {
      await commitChunk(context, job, chunk, selection);
      chunkMax = Math.min(CHUNK_RECORDS_MAX, chunkMax * 2);
    } catch (thrown) {
      const { length } = chunk.ids;
      if (!isTemporary(thrown)) {
        // After a bug, records are tried one by one, to find the one that it comes from.
        if (length <= 1) await commitFailure(context, closing, job, chunk, thrown);
        chunkMax = 1;
      } else if (length > 1) {
        // There may be room for a part of the chunk.
        chunkMax = Math.ceil(length / 2);
      } else {
        if (!hasWaited) {
          log.warning('a job has to wait', { job: id, kind: job.kind, error: thrown });
        }
        hasWaited = true;
        await sleep(clock, WAIT_MS, closing);
        chunkMax = CHUNK_RECORDS_MAX;
      }
    }
  }
}

async function selectChunk(selection: RecordSelection, job: Job, max: number): Promise<Chunk> {
  const matches = await selection.next(job.after, job.upTo, max);
  const records = takeChunk(matches, ({ bytes }) => bytes);
  const isEnd = records.length === matches.length && matches.length < max;
  return { ids: records.map(({ id }) => id), isEnd };
}

/**
 * Counts the only record of a chunk, if it has one, as failed, so that a bug does not stop the job
 * there.
 */
async function commitFailure(
  context: JobContext, closing: AbortSignal, job: Job, chunk: Chunk, thrown: unknown,
): Promise<void> {
  const { log, clock } = context;
  const stage = (): JobCounts => ({ done: 0, failed: chunk.ids.length });
  try {
    await commitChunk(context, job, chunk, { stage });
  } catch (error) {
    if (!isTemporary(error)) throw error;
    // The store takes no writes now: the same chunk is tried again after a wait.
    return sleep(clock, WAIT_MS, closing);
  }
  const [record = null] = chunk.ids;
  log.error('a job failed with a record', { job: job.id, kind: job.kind, record, error: thrown });
}

function commitChunk(
  { store, clock, makeId, isTokenInForce }: JobContext, job: Job, { ids, isEnd }: Chunk,
  selection: Pick<RecordSelection, 'stage'>,
): Promise<void> {
  const inputs = { nowMs: clock.now(), seed: makeId(), hops: 0 };
  return store.transact((transaction) => {
    const bytes = transaction.find(jobCollection.name, job.id);
    const current = bytes === undefined ? null : decodeJob(bytes);
    // The job was cancelled meanwhile, or a commit whose outcome was unknown had succeeded.
    if (current?.status !== 'running' || current.after !== job.after) return;
    const { token } = job;
    const at = formatTimestamp(inputs.nowMs);
    if (token !== undefined && !isTokenInForce(findStaged(transaction), token)) {
      const reason = 'the token that began it was revoked or has expired';
      stageJobCancel(transaction, current, at, reason);
      return;
    }
    const counts = selection.stage(transaction, ids, inputs, job);
    const after = isEnd ? job.upTo : ids.at(-1) ?? job.upTo;
    const next = advance(current, counts, after, isEnd, at);
    stageJobChange(transaction, next);
  });
}
