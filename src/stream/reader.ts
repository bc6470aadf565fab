/**
 * One reader of the stream: first what it missed, read from the log as fast as it takes it, then
 * what is told to all. What waits for a reader is bounded: one that is slower is cut, and goes on
 * later where it was.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import type { Gate } from '../base/turns.ts';
import type { LogReader } from '../store/store-port.ts';
import { describeChanges, encodeEvents } from './event.ts';
import type { StreamFilter } from './event.ts';
import type { Topic } from './topic.ts';

/**
 * A reader for whom more than this waits is cut when still more comes. The bytes are shared by all
 * readers of the same events.
 */
const WAITING_BYTES_MAX = 1 << 20;
/**
 * When no more is missed it is told what comes, which waits until the rest is read. Who reads the
 * log alone might never catch up with a busy server.
 */
const NEAR_TRANSACTIONS = 256;

type ReaderOptions = {
  readonly filter: StreamFilter;
  /** All topics, by collection. */
  readonly topics: ReadonlyMap<string, Topic>;
  /** Sent before everything else. */
  readonly opening: Buffer;
  /** What it missed; null: nothing. The reader closes it. */
  readonly log: LogReader | null;
  /** What it reads from the log passes here: a piece is some milliseconds of work. */
  readonly readings: Gate;
  /** How many changes of the first transaction in `log` it has seen. */
  readonly changesSeen: number;
  /** The last sequence applied. */
  readonly applied: () => number;
  /** From then on it is told what comes; the last sequence before that. */
  readonly join: (reader: Reader) => number;
} & Caller;

/** Who reads. */
export type Caller = {
  /** Whether it still may: its token may have been revoked. */
  readonly mayRead: () => boolean;
  /** Ends its connection at once. */
  readonly cut: () => void;
};

export class Reader {
  readonly filter: StreamFilter;
  readonly #options: ReaderOptions;
  #log: LogReader | null;
  /** Where the log ends for it; null until it is told what comes. */
  #joinedAt: number | null = null;
  /** Of the transaction after this one some changes were seen. */
  readonly #startedAt: number;
  #opening: Buffer | null;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isOver = false;
  #wake: (() => void) | null = null;

  constructor(options: ReaderOptions) {
    this.filter = options.filter;
    this.#options = options;
    this.#log = options.log;
    this.#startedAt = options.log?.sequence ?? 0;
    this.#opening = options.opening;
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
    const opening = this.#opening;
    this.#opening = null;
    if (opening !== null) return [opening];
    const missed = await this.#readMissed();
    if (missed !== null) return missed;
    while (!this.#isOver) {
      if (this.#waiting.length > 0) return this.#take();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return null;
  }

  push(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#waitingBytes > WAITING_BYTES_MAX) {
      this.end();
      this.#options.cut();
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#goOn();
  }

  /** Idempotent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#log?.close();
    this.#goOn();
  }

  #take(): readonly Buffer[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return taken;
  }

  #goOn(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** The next of what it missed, null when there is no more. */
  async #readMissed(): Promise<readonly Buffer[] | null> {
    while (this.#log !== null && !this.#isOver) {
      const log = this.#log;
      const text = await this.#options.readings.pass(() => this.#readPiece(log));
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
    const { applied, join } = this.#options;
    // Others are served between two pieces, wherever the log has them from.
    await nextTurn();
    if (this.#isOver) return '';
    const isNear = applied() - log.sequence <= NEAR_TRANSACTIONS;
    if (isNear) this.#joinedAt ??= join(this);
    return this.#readLog(log, this.#joinedAt ?? applied());
  }

  /** Events of the next transactions up to `until`; null when there are none. */
  async #readLog(log: LogReader, until: number): Promise<string | null> {
    const { filter, topics, changesSeen } = this.#options;
    try {
      const found = await log.next(until);
      if (found.length === 0) return null;
      return found.map(({ sequence, operations }) => {
        const described = describeChanges(operations, topics, (topic) =>
          filter.topics.includes(topic));
        const seen = sequence === this.#startedAt + 1 ? changesSeen : 0;
        return encodeEvents(sequence, described.filter(({ number }) => number > seen), filter);
      }).join('');
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'gone') throw error;
      // It was so slow that compaction has passed it: when it comes back it is told so.
      this.end();
      return '';
    }
  }
}
