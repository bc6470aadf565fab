/**
 * The journal of a directory on a file system that is mounted read-only. It refuses every append,
 * and changes nothing on the disk: what recovery.ts has read is all there is, and a torn end stays.
 */
import type { AppError } from '../../base/errors.ts';
import { FailureLog } from '../journal/failure-log.ts';
import type { DirectoryJournal, FileJournalOptions } from './file-journal.ts';
import { openReader } from './journal-reader.ts';
import type { RecoveredState } from './recovery.ts';

/** `refusal` says why nothing can be written. */
export function createReadOnlyJournal(
  options: FileJournalOptions, state: RecoveredState, refusal: AppError,
): DirectoryJournal {
  const { directory, files, clock, logger } = options;
  const { base, collections, journals, sequence } = state;
  const last = journals.at(-1);
  const inUse = { generation: last?.generation ?? base, length: last?.replay.validEnd ?? 0 };
  return {
    failureLog: new FailureLog(clock, logger, 'the disk'),
    failure: refusal,
    reloadError: null,
    isShared: false,
    isContended: false,
    batchBytesMax: Infinity,
    recordBytesMax: Infinity,
    sequence,
    generation: inUse.generation,
    bytes: journals.reduce((sum, { replay }) => sum + replay.validEnd, 0),
    snapshots: { isRunning: false, writtenMs: null, write: () => Promise.reject(refusal) },
    async catchUp() {},
    append(request) {
      request.collectOperations();
      request.onEnded(refusal);
    },
    read: (after) => openReader(files, directory, after, collections),
    // There are no batches.
    runBetweenBatches: async (run) => run({ base, inUse }),
    async close() {},
  };
}
