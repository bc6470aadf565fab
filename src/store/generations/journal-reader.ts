/**
 * Reads committed transactions back from the journals, from any sequence that they still hold. It
 * reads beside the writer, and never past the last applied transaction: what follows may be half
 * written, or be cut off again. Compaction may delete a journal while it is read: the descriptor
 * stays valid until the reader continues in the next journal.
 */
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { AppError, systemCodeOf } from '../../base/errors.ts';
import { readFully } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { journalName, readInventory } from '../disk/inventory.ts';
import { decodeTransaction, parseLine, sequenceAt } from '../journal/journal-line.ts';
import type { DecodedCollections, JournalLine } from '../journal/journal-line.ts';
import type { LogReader, LoggedTransaction } from '../store-port.ts';
import { readJournalStart } from './journal-start.ts';
import type { JournalStart } from './journal-start.ts';

/**
 * The size of a read, and about the bytes of records that `next` returns at most: lines may imply
 * ten times as much as they hold.
 */
const READ_BYTES = 1 << 18;
/** The binary search for the first line ends at this distance. */
const NEAR_BYTES = 1 << 16;
const LINE_FEED = 0x0a;

type OpenJournal = { readonly generation: number; readonly descriptor: Descriptor };

/** Opens a reader of all after `sequence`, to be closed; null: no journal goes back so far. */
export async function openReader(
  files: Files, directory: string, sequence: number, collections: DecodedCollections,
): Promise<LogReader | null> {
  const { journals } = readInventory(files, directory);
  for (const generation of journals.toReversed()) {
    const path = join(directory, journalName(generation));
    const start = await findStart(files, path);
    // A journal with only its first line may have been abandoned for the one before it.
    const mayBeAbandoned = start.isUnused && generation !== journals.at(-1);
    if (start.sequence === null || start.sequence > sequence || mayBeAbandoned) continue;
    const descriptor = openIfPresent(files, path);
    if (descriptor === null) return null;
    const offset = await findOffset(files, descriptor, sequence);
    const journal = { generation, descriptor };
    return new JournalReader(files, directory, collections, journal, offset, sequence);
  }
  return null;
}

class JournalReader implements LogReader {
  readonly #files: Files;
  readonly #directory: string;
  readonly #collections: DecodedCollections;
  #journal: OpenJournal;
  #offset: number;
  #sequence: number;
  #isReading = false;
  #isClosed = false;

  constructor(
    files: Files, directory: string, collections: DecodedCollections, journal: OpenJournal,
    offset: number, sequence: number,
  ) {
    this.#files = files;
    this.#directory = directory;
    this.#collections = collections;
    this.#journal = journal;
    this.#offset = offset;
    this.#sequence = sequence;
  }

  get sequence(): number {
    return this.#sequence;
  }

  async next(appliedSequence: number): Promise<readonly LoggedTransaction[]> {
    assert(!this.#isReading);
    this.#isReading = true;
    try {
      return await this.#next(appliedSequence);
    } finally {
      this.#isReading = false;
      if (this.#isClosed) this.#files.closeSync(this.#journal.descriptor);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A read under way must not find another file under its descriptor.
    if (!this.#isReading) this.#files.closeSync(this.#journal.descriptor);
  }

  async #next(appliedSequence: number): Promise<readonly LoggedTransaction[]> {
    let pieceBytes = READ_BYTES;
    while (this.#sequence < appliedSequence && !this.#isClosed) {
      const piece = Buffer.allocUnsafeSlow(pieceBytes);
      const { descriptor } = this.#journal;
      const count = await readFully(this.#files, descriptor, piece, this.#offset);
      const lines = piece.subarray(0, count);
      if (lines.indexOf(LINE_FEED) === -1 && count === pieceBytes) {
        pieceBytes *= 2;
        continue;
      }
      const transactions = this.#collectTransactions(lines, appliedSequence);
      if (transactions.length > 0) return transactions;
      if (count < pieceBytes) this.#openNextJournal();
    }
    return [];
  }

  /** Collects the transactions from the first complete lines of `piece`. */
  #collectTransactions(piece: Buffer, appliedSequence: number): LoggedTransaction[] {
    const transactions: LoggedTransaction[] = [];
    let recordBytes = 0;
    let start = 0;
    let end = piece.indexOf(LINE_FEED);
    while (end >= 0 && this.#sequence < appliedSequence && recordBytes < READ_BYTES) {
      const line = parseLine(piece, start, end);
      if (line !== null && line.kind === 'ops' && line.sequence > this.#sequence) {
        const transaction = this.#decode(piece, line, end);
        transactions.push(transaction);
        for (const { bytes } of transaction.operations) recordBytes += bytes?.length ?? 0;
      }
      this.#offset += end + 1 - start;
      start = end + 1;
      end = piece.indexOf(LINE_FEED, start);
    }
    return transactions;
  }

  #decode(piece: Buffer, line: JournalLine, end: number): LoggedTransaction {
    if (line.sequence !== this.#sequence + 1) throw goneError();
    this.#sequence = line.sequence;
    return decodeTransaction(piece, line, end, this.#collections);
  }

  /** Continues in the next journal: this one has ended before the last applied transaction. */
  #openNextJournal(): void {
    const { journals } = readInventory(this.#files, this.#directory);
    const next = journals.find((generation) => generation > this.#journal.generation);
    assert(next !== undefined, 'a journal ends before what was applied');
    const descriptor = openIfPresent(this.#files, join(this.#directory, journalName(next)));
    if (descriptor === null) throw goneError();
    this.#files.closeSync(this.#journal.descriptor);
    this.#journal = { generation: next, descriptor };
    this.#offset = 0;
  }
}

/** The offset of a line that is not after the one of `sequence + 1`, and not far before it. */
async function findOffset(
  files: Files, descriptor: Descriptor, sequence: number,
): Promise<number> {
  let low = 0;
  let high = files.sizeSync(descriptor);
  while (high - low > NEAR_BYTES) {
    const middle = low + Math.floor((high - low) / 2);
    const line = await findFirstLine(files, descriptor, middle, high);
    if (line !== null && line.sequence <= sequence) low = line.offset;
    else high = middle;
  }
  return low;
}

/** The first line that begins after `from` and before `to`; null: none does. */
async function findFirstLine(
  files: Files, descriptor: Descriptor, from: number, to: number,
): Promise<{ readonly offset: number; readonly sequence: number } | null> {
  const piece = Buffer.allocUnsafeSlow(NEAR_BYTES);
  for (let at = from; at < to; at += NEAR_BYTES) {
    const count = await readFully(files, descriptor, piece, at);
    const end = piece.subarray(0, count).indexOf(LINE_FEED);
    if (end === -1) continue;
    const offset = at + end + 1;
    if (offset >= to) return null;
    const head = piece.subarray(0, await readFully(files, descriptor, piece, offset));
    const sequence = sequenceAt(head);
    return sequence === null ? null : { offset, sequence };
  }
  return null;
}

/** Reads the start of a journal. One that compaction has just deleted has no valid start. */
async function findStart(
  files: Files, path: string,
): Promise<Pick<JournalStart, 'sequence' | 'isUnused'>> {
  try {
    return await readJournalStart(files, path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    return { sequence: null, isUnused: true };
  }
}

function goneError(): AppError {
  return new AppError('gone', 'compaction has deleted what was still to be read');
}

/** Null when compaction has deleted the file. */
function openIfPresent(files: Files, path: string): Descriptor | null {
  try {
    return files.openSync(path, 'read');
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    return null;
  }
}
