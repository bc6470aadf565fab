/**
 * Replays one journal: applies its transactions to memory, and finds the torn end that a crash may
 * have left. It throws for damage; recovery.ts has the rule that tells the two apart. It rests on
 * the durable mark of each line: the last sequence known to be on disk when the line was written.
 */
import { AssertionError } from '../../base/assert.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { StoredCollection } from '../records/collection.ts';
import { damageError, unknownCollectionError, unknownFormatError } from './damage-error.ts';
import type { FilePosition } from './damage-error.ts';
import { readLines, withFile } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import {
  JOURNAL_FORMAT, decodeTransaction, hasChecksum, parseLine,
} from '../journal/journal-line.ts';
import type { JournalLine } from '../journal/journal-line.ts';
import { UNFOLLOWED } from '../transactions/change-feed.ts';

export type ReplayResult = {
  /** The sequence of the last transaction. */
  readonly sequence: number;
  /** The sequence of the state that the journal continues; null without a valid first line. */
  readonly startSequence: number | null;
  /** The snapshots of the generation, if a note says that they are complete; else empty. */
  readonly completeSnapshots: readonly string[];
  /** The generation that a `next` note names; null without one. */
  readonly nextGeneration: number | null;
  /** The end of the valid part, as an offset. */
  readonly validEnd: number;
  readonly size: number;
  readonly lineCount: number;
  /** The offset of the first line that no later durable mark shows to be on disk. */
  readonly unprovenAt: number;
  /** Whether the last line is a note: then everything before it was on disk (journal-line.ts). */
  readonly endsWithNote: boolean;
  /** The first line of a torn end; null without one. */
  readonly tornAt: FilePosition | null;
};

/** The collections to which transactions are applied. */
type ReplayTarget = {
  readonly collections: ReadonlyMap<string, StoredCollection>;
  /** Whether operations on other collections are ignored; else they are an error. */
  readonly skipsUnknownCollections: boolean;
};

/**
 * Applies every transaction to the collections of `target`, whose state is at `sequence`. Throws
 * `damaged` for a gap and for an invalid line that is no torn end (the rule: recovery.ts).
 */
export async function replayJournal(
  files: Files, path: string, generation: number, sequence: number, target: ReplayTarget,
): Promise<ReplayResult> {
  return withFile(files, path, 'read', async (descriptor) => {
    const replay = new Replay(path, generation, sequence, target);
    await readLines(files, descriptor, (buffer, start, end, offset, isComplete) =>
      replay.visit(buffer, start, end, offset, isComplete));
    return replay.result(files.sizeSync(descriptor));
  });
}

/** The beginning of every line (journal-line.ts). */
const LINE_START = '{"crc":"';

class Replay {
  readonly #path: string;
  readonly #generation: number;
  readonly #target: ReplayTarget;
  #lineNumber = 0;
  #sequence: number;
  /** The durable mark of the last line; -1 is below that of any first line. */
  #durable = -1;
  #startLine: JournalLine | null = null;
  #lastLine: JournalLine | null = null;
  #completeSnapshots: readonly string[] = [];
  #nextGeneration: number | null = null;
  #validEnd = 0;
  #unprovenAt = 0;
  /** The first invalid line. If no later line shows damage, the torn end begins with it. */
  #invalidAt: FilePosition | null = null;

  constructor(
    path: string, generation: number, sequence: number, target: ReplayTarget,
  ) {
    this.#path = path;
    this.#generation = generation;
    this.#sequence = sequence;
    this.#target = target;
  }

  /**
   * Takes the next line, in `[start, end)` of `buffer` and at `offset` of the file. `isComplete` is
   * false when it has no line feed.
   */
  visit(buffer: Buffer, start: number, end: number, offset: number, isComplete: boolean): void {
    this.#lineNumber += 1;
    const position = { path: this.#path, line: this.#lineNumber, offset };
    const line = isComplete ? parseLine(buffer, start, end) : null;
    if (this.#invalidAt !== null) {
      if (line !== null) this.#checkLineAfterInvalid(this.#invalidAt, line);
      return;
    }
    if (line === null) {
      // No crash leaves a whole line that is unreadable. Another version wrote it: it must stay.
      if (isComplete && hasChecksum(buffer, start, end)) {
        throw unknownFormatError(position, JOURNAL_FORMAT, buffer.toString('latin1', start, end));
      }
      this.#invalidAt = position;
      const joinedLine = isComplete ? findJoinedLine(buffer, start, end) : null;
      if (joinedLine !== null) this.#checkLineAfterInvalid(position, joinedLine);
      return;
    }
    this.#checkSequence(line, position);
    if (line.kind === 'ops') this.#apply(buffer, line, end, position);
    if (line.kind === 'snapshots') this.#completeSnapshots = line.collections;
    if (line.kind === 'next') this.#nextGeneration = line.generation;
    // If the mark rose, this line is the first of a new write: those of earlier writes are on disk.
    if (line.durable > this.#durable) this.#unprovenAt = offset;
    this.#durable = line.durable;
    this.#lastLine = line;
    this.#validEnd = offset + (end - start) + 1;
  }

  result(size: number): ReplayResult {
    return {
      sequence: this.#sequence,
      startSequence: this.#startLine?.sequence ?? null,
      completeSnapshots: this.#completeSnapshots,
      nextGeneration: this.#nextGeneration,
      validEnd: this.#validEnd,
      size,
      lineCount: this.#lineNumber,
      unprovenAt: this.#unprovenAt,
      endsWithNote: this.#lastLine !== null && this.#lastLine.kind !== 'ops',
      tornAt: this.#invalidAt,
    };
  }

  /**
   * Throws when a valid line after an invalid one shows that the invalid one had been on disk: by
   * its durable mark, or by a sequence that leaves no room for a transaction, as the invalid line
   * was then a note, which is synced before the next line is written. So is the first line of a
   * journal. For example, an invalid line follows transaction 7, and after it comes
   *
   *   "seq":9,"durable":7   nothing shows that transaction 8 was on disk: a torn end
   *   "seq":9,"durable":8   transaction 8 was on disk: damage
   *   "seq":8,"durable":7   transaction 8 is here, so the invalid line was a note: damage
   */
  #checkLineAfterInvalid(invalidAt: FilePosition, line: JournalLine): void {
    const wasDurable = line.durable > this.#sequence;
    const leavesNoRoom = this.#startLine === null || line.sequence <= this.#sequence + 1;
    if (!wasDurable && !leavesNoRoom) return;
    throw damageError(invalidAt, 'not a valid line, and later lines show that it was on disk');
  }

  #checkSequence(line: JournalLine, position: FilePosition): void {
    if (this.#startLine === null) {
      if (line.kind !== 'start' || line.generation !== this.#generation) {
        throw damageError(position, 'not the start of this journal');
      }
      if (line.sequence !== this.#sequence) {
        throw damageError(position,
          `goes on from sequence ${line.sequence}, but what is there ends at ${this.#sequence}`);
      }
      this.#startLine = line;
      return;
    }
    const expectedSequence = line.kind === 'ops' ? this.#sequence + 1 : this.#sequence;
    if (line.kind === 'start' || this.#nextGeneration !== null) {
      throw damageError(position, 'not expected here');
    }
    if (line.sequence !== expectedSequence) {
      throw damageError(position, `sequence ${line.sequence} where ${expectedSequence} is due`);
    }
  }

  #apply(buffer: Buffer, line: JournalLine, end: number, position: FilePosition): void {
    const { collections, skipsUnknownCollections } = this.#target;
    try {
      const { operations } = decodeTransaction(buffer, line, end, collections);
      const unknown = operations.find(({ collection }) => !collections.has(collection));
      if (unknown !== undefined && !skipsUnknownCollections) {
        throw unknownCollectionError(position, unknown.collection);
      }
      UNFOLLOWED.apply(collections, line.sequence, operations);
    } catch (error) {
      if (error instanceof AppError) throw error;
      // The checksum is right, so the line is as it was written, but this version writes none so.
      if (error instanceof AssertionError) throw unknownFormatError(position, JOURNAL_FORMAT);
      throw damageError(position, `cannot be applied (${messageOf(error)})`);
    }
    this.#sequence = line.sequence;
  }
}

/**
 * The last of several lines that are joined because the line feed between them is damaged; null
 * when that is not so. The last one is enough, as its durable mark is the highest.
 */
function findJoinedLine(buffer: Buffer, start: number, end: number): JournalLine | null {
  const at = buffer.lastIndexOf(LINE_START, end - 1);
  return at > start ? parseLine(buffer, at, end) : null;
}
