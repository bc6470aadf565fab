/** Reads committed transactions back from the engine's log, for followers of the changes. */
import { AppError } from '../../base/errors.ts';
import type { LogEntry } from '../engines/engine.ts';
import type { DecodedCollections } from '../journal/journal-line.ts';
import type { LogReader } from '../store-port.ts';
import { decodeEntries } from './log-entry.ts';
import type { EngineLink } from './engine-link.ts';
import { createUnreachableError } from './fresh-reads.ts';

/** The entries that are read at a time; one may have some megabytes. */
const ENTRIES_MAX = 4;

/** A reader of what was committed after `sequence`; null when the log begins later. */
export async function openEngineReader(
  link: EngineLink, sequence: number, collections: DecodedCollections,
): Promise<LogReader | null> {
  const [next] = await readEntries(link, sequence, 1);
  if (next !== undefined && next.first > sequence + 1) return null;
  let lastSequence = sequence;
  let isClosed = false;
  return {
    get sequence() { return lastSequence; },
    async next(applied) {
      if (isClosed || lastSequence >= applied) return [];
      const entries = await readEntries(link, lastSequence, ENTRIES_MAX);
      const transactions = decodeEntries(entries, collections)
        .filter((transaction) =>
          transaction.sequence > lastSequence && transaction.sequence <= applied);
      if (transactions[0]?.sequence !== lastSequence + 1) {
        throw new AppError('gone', 'what was still to be read is no longer in the log');
      }
      lastSequence += transactions.length;
      return transactions;
    },
    close() {
      isClosed = true;
    },
  };
}

async function readEntries(
  link: EngineLink, sequence: number, count: number,
): Promise<readonly LogEntry[]> {
  const { session } = link;
  if (session === null) throw createUnreachableError('it gives no answer');
  try {
    return await link.ask(session, session.readAfter(sequence, count));
  } catch (error) {
    throw createUnreachableError(error);
  }
}
