/**
 * One reader of the stream: first what it missed, read from the log as fast as it takes it, then
 * what is told to all. What waits for a reader is bounded: one that is slower is cut, and goes on
 * later where it was.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import type { ConcurrencyLimiter } from '../base/turns.ts';
import type { LogReader } from '../store/store-port.ts';
import { createChangeEvents, encodeEvents } from './stream-event.ts';
import type { StreamFilter } from './stream-event.ts';
import type { StreamTopic } from './stream-topic.ts';

/**
 * A reader for whom more than this waits is cut when still more comes. The bytes are shared by all
 * readers of the same events.
 */
const PENDING_BYTES_MAX = 1 << 20;
/**
 * When no more is missed it is told what comes, which waits until the rest is read. Who reads the
 * log alone might never catch up with a busy server.
 */
const NEAR_TRANSACTIONS = 256;

type ReaderOptions = {
  readonly filter: StreamFilter;
  /** All topics, by collection. */
  readonly topics: ReadonlyMap<string, StreamTopic>;
  /** Sent before everything else. */
  readonly preamble: Buffer;
  /** What it missed; null: nothing. The reader closes it. */
  readonly log: LogReader | null;
  /** What it reads from the log passes here: a piece is some milliseconds of work. */
  readonly logGate: ConcurrencyLimiter;
  /** How many changes of the first transaction in `log` it has seen. */
  readonly changesSeen: number;
  /** The last sequence applied. */
  readonly getAppliedSequence: () => number;
  /** From then on it is told what comes; the last sequence before that. */
  readonly join: (reader: StreamReader) => number;
} & ReaderConnection;

/** Who reads. */
export type ReaderConnection = {
  /** Whether it still may: its token may have been revoked. */
  readonly mayRead: () => boolean;
  /** Ends its connection at once. */
  readonly cut: () => void;
};

export class StreamReader {
  readonly filter: StreamFilter;
  readonly #options: ReaderOptions;
  #log: LogReader | null;
  /** Where the log ends for it; null until it is told what comes. */
  #joinedSequence: number | null = null;
  /** Of the transaction after this one some changes were seen. */
  readonly #startSequence: number;
  #preamble: Buffer | null;
  #pendingPieces: Buffer[] = [];
  #pendingBytes = 0;
  #isEnded = false;
  #wake: (() => void) | null = null;

  constructor(options: ReaderOptions) {
    this.filter = options.filter;
    this.#options = options;
    this.#log = options.log;
    this.#startSequence = options.log?.sequence ?? 0;
    this.#preamble = options.preamble;
    if (this.#log === null) options.join(this);
  }

  /** It has been sent everything, and waits for more. */
  get isIdle(): boolean {
    return this.#wake !== null;
  }

  get mayRead(): boolean {
    return this.#options.mayRead();
  }

  /** What is to be sent next; null at the end. */
  async pull(): Promise<readonly Buffer[] | null> {
    const preamble = this.#preamble;
    this.#preamble = null;
    if (preamble !== null) return [preamble];
    const missed = await this.#readMissed();
    if (missed !== null) return missed;
    while (!this.#isEnded) {
      if (this.#pendingPieces.length > 0) return this.#takePending();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return null;
  }

  push(bytes: Buffer): void {
    if (this.#isEnded) return;
    if (this.#pendingBytes > PENDING_BYTES_MAX) {
      this.end();
      this.#options.cut();
      return;
    }
    this.#pendingPieces.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#wakePull();
  }

  /** Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#pendingPieces = [];
    this.#log?.close();
    this.#wakePull();
  }

  #takePending(): readonly Buffer[] {
    const pieces = this.#pendingPieces;
    this.#pendingPieces = [];
    this.#pendingBytes = 0;
    return pieces;
  }

  #wakePull(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** The next of what it missed, null when there is no more. */
  async #readMissed(): Promise<readonly Buffer[] | null> {
    while (this.#log !== null && !this.#isEnded) {
      const log = this.#log;
      const text = await this.#options.logGate.run(() => this.#readPiece(log));
      if (text === null) {
        this.#log.close();
        this.#log = null;
      } else if (text !== '') {
        return [Buffer.from(text)];
      }
    }
    return null;
  }

  /** Events of the next transactions, null when it was the last of them. */
  async #readPiece(log: LogReader): Promise<string | null> {
    const { getAppliedSequence, join } = this.#options;
    // Others are served between two pieces, wherever the log has them from.
    await nextTurn();
    if (this.#isEnded) return '';
    const isNear = getAppliedSequence() - log.sequence <= NEAR_TRANSACTIONS;
    if (isNear) this.#joinedSequence ??= join(this);
    return this.#readLog(log, this.#joinedSequence ?? getAppliedSequence());
  }

  /** Events of the next transactions up to `until`; null when there are none. */
  async #readLog(log: LogReader, lastSequence: number): Promise<string | null> {
    const { filter, topics, changesSeen } = this.#options;
    try {
      const transactions = await log.next(lastSequence);
      if (transactions.length === 0) return null;
      return transactions.map(({ sequence, operations }) => {
        const events = createChangeEvents(operations, topics, (topic) =>
          filter.topics.includes(topic));
        const skippedChanges = sequence === this.#startSequence + 1 ? changesSeen : 0;
        const unseen = events.filter(({ number }) => number > skippedChanges);
        return encodeEvents(sequence, unseen, filter);
      }).join('');
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'gone') throw error;
      // It was so slow that compaction has passed it: when it comes back it is told so.
      this.end();
      return '';
    }
  }
}
