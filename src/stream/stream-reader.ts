/**
 * A reader of the stream. It first gets the events that it missed, read from the log as fast as it
 * takes them, then the events that the broadcast pushes to all. The bytes that wait for a reader
 * are bounded: a slower reader is cut, and may resume later.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import type { ConcurrencyLimiter } from '../base/turns.ts';
import type { FindRecord, LogReader } from '../store/store-port.ts';
import { createChangeEvents, encodeEvents } from './stream-event.ts';
import type { StreamFilter } from './stream-event.ts';
import type { StreamTopic } from './stream-topic.ts';

/**
 * A reader is cut when more comes while this many bytes wait for it. Readers with the same filter
 * share the bytes.
 */
const PENDING_BYTES_MAX = 1 << 20;
/**
 * A reader joins the broadcast when it is no further behind than this; new events then wait until
 * it has read the rest. By reading the log alone it might never catch up with a busy server.
 */
const NEAR_TRANSACTIONS = 256;

type StreamReaderOptions = {
  readonly filter: StreamFilter;
  readonly find: FindRecord;
  /** All topics, by collection. */
  readonly topics: ReadonlyMap<string, StreamTopic>;
  /** Sent before everything else. */
  readonly preamble: Buffer;
  /** The transactions that it missed; null: none. The reader closes the log. */
  readonly log: LogReader | null;
  /** Limits how many readers read the log at once: each piece is some milliseconds of work. */
  readonly logGate: ConcurrencyLimiter;
  /** Changes of the first transaction in `log` that it has seen. */
  readonly changesSeen: number;
  readonly getAppliedSequence: () => number;
  /** Joins the broadcast. Returns the last sequence before the first event that it will push. */
  readonly join: (reader: StreamReader) => number;
} & ReaderConnection;

export type ReaderConnection = {
  /** Whether the caller may still read: its token may have been revoked. */
  readonly mayRead: () => boolean;
  /** Closes the connection at once. */
  readonly cut: () => void;
};

export class StreamReader {
  readonly filter: StreamFilter;
  readonly #options: StreamReaderOptions;
  #log: LogReader | null;
  /** The last sequence to read from the log; null until the reader has joined the broadcast. */
  #joinedSequence: number | null = null;
  /** Readers may have seen some changes of the transaction after this sequence. */
  readonly #startSequence: number;
  #preamble: Buffer | null;
  #pendingPieces: Buffer[] = [];
  #pendingBytes = 0;
  #isEnded = false;
  #wake: (() => void) | null = null;

  constructor(options: StreamReaderOptions) {
    this.filter = options.filter;
    this.#options = options;
    this.#log = options.log;
    this.#startSequence = options.log?.sequence ?? 0;
    this.#preamble = options.preamble;
    if (this.#log === null) options.join(this);
  }

  /** Whether it was sent everything and waits for more. */
  get isIdle(): boolean {
    return this.#wake !== null;
  }

  get mayRead(): boolean {
    return this.#options.mayRead();
  }

  /** The next pieces to send; null at the end. */
  async pull(): Promise<readonly Buffer[] | null> {
    const preamble = this.#preamble;
    this.#preamble = null;
    if (preamble !== null) return [preamble];
    const missedPieces = await this.#readMissed();
    if (missedPieces !== null) return missedPieces;
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

  /** The next of the missed events; null when there are no more. */
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

  /** The events of the next transactions of the log; null after the last. */
  async #readPiece(log: LogReader): Promise<string | null> {
    const { getAppliedSequence, join } = this.#options;
    // The event loop serves others between two pieces.
    await nextTurn();
    if (this.#isEnded) return '';
    const isNear = getAppliedSequence() - log.sequence <= NEAR_TRANSACTIONS;
    if (isNear) this.#joinedSequence ??= join(this);
    return this.#readLog(log, this.#joinedSequence ?? getAppliedSequence());
  }

  /** The events of the next transactions up to `lastSequence`; null when there are none. */
  async #readLog(log: LogReader, lastSequence: number): Promise<string | null> {
    const { filter, topics, changesSeen, find } = this.#options;
    try {
      const transactions = await log.next(lastSequence);
      if (transactions.length === 0) return null;
      return transactions.map(({ sequence, operations }) => {
        const events = createChangeEvents(operations, topics, (topic) =>
          filter.topics.includes(topic), find);
        const skippedChanges = sequence === this.#startSequence + 1 ? changesSeen : 0;
        const unseen = events.filter(({ number }) => number > skippedChanges);
        return encodeEvents(sequence, unseen, filter);
      }).join('');
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'gone') throw error;
      // Compaction has removed the rest: a reader that comes back gets the error `gone`.
      this.end();
      return '';
    }
  }
}
