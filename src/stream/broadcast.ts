/**
 * Tells all readers of committed changes. A change is described and encoded once for all readers
 * that select the same; what comes in quick succession goes out together, so that many readers cost
 * a busy server little. Follows the store only while there are readers.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createGate } from '../base/turns.ts';
import type { ChangeLog, Change, Replica } from '../store/store-port.ts';
import { describeChanges, encodeEvents } from './event.ts';
import type { Position, StreamFilter, StreamedChange } from './event.ts';
import { Reader, type Caller } from './reader.ts';
import type { Topic } from './topic.ts';

export type BroadcastOptions = {
  readonly topics: readonly Topic[];
  readonly changes: ChangeLog;
  /** The last sequence applied. */
  readonly sequence: () => number;
  /** Not given, or null: no other process writes to the store. */
  readonly replica?: Pick<Replica, 'waitFor' | 'onReload'> | null;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Readers at once. */
const READERS_MAX = 256;
const HEARTBEAT_MS = 15_000;
/** Between two rounds to the readers. */
const ROUND_MS = 20;
/** What a client that reconnects by itself waits before it does. */
const RECONNECT_MS = 1000;
/** A reader that has seen more at another node waits so long for this one to get there. */
const BEHIND_MS = 2000;

/** Readers that select the same. */
type Channel = { readonly filter: StreamFilter; readonly readers: Set<Reader> };

/** What came since the last round: changes of a transaction, or something that is on no disk. */
type News =
  | { readonly sequence: number; readonly changes: readonly Change[] }
  | { readonly sequence: number; readonly told: StreamedChange };

export class Broadcast {
  readonly #options: BroadcastOptions;
  readonly #topics: ReadonlyMap<string, Topic>;
  readonly #readers = new Set<Reader>();
  readonly #channels = new Map<string, Channel>();
  /** Of many readers that are behind one reads at a time, or they would hold up everybody. */
  readonly #readings = createGate(1);
  #opening = 0;
  #sequence = 0;
  #news: News[] = [];
  #round: Timer | null = null;
  #lastRoundMs = -Infinity;
  #heartbeat: Timer | null = null;
  #unfollow: (() => void) | null = null;
  /** Up to there the log was another one: nobody knows what came after a position in that. */
  #foreignUpTo = -1;
  readonly #forget: () => void;
  #isClosed = false;

  constructor(options: BroadcastOptions) {
    this.#options = options;
    this.#topics = new Map(options.topics.map((topic) => [topic.collection.name, topic]));
    this.#forget = options.replica?.onReload((isOver) => this.#onReload(isOver)) ?? (() => {});
  }

  /**
   * A reader from `position` on, from now on when that is null; `leave` must follow. Throws `gone`
   * for a position that is not known, and `unavailable`.
   */
  async open(filter: StreamFilter, position: Position | null, caller: Caller): Promise<Reader> {
    if (this.#isClosed) throw stopping();
    if (this.#readers.size + this.#opening >= READERS_MAX) {
      throw new AppError('unavailable', `${READERS_MAX} event streams are open, which is the limit`,
        { retryAfterS: 5 });
    }
    this.#follow();
    this.#opening += 1;
    try {
      const log = await this.#findMissed(position);
      if (this.#isClosed) {
        log?.close();
        throw stopping();
      }
      const start = position === null ? `id: ${this.#sequence}\n` : '';
      const reader = new Reader({
        ...caller, filter, log, topics: this.#topics, readings: this.#readings,
        changesSeen: position?.changesSeen ?? 0,
        opening: Buffer.from(`: hookshelf\nretry: ${RECONNECT_MS}\n${start}\n`),
        applied: () => this.#sequence,
        join: (joining) => this.#join(joining),
      });
      this.#readers.add(reader);
      return reader;
    } finally {
      this.#opening -= 1;
      this.#unfollowWhenAlone();
    }
  }

  /** Idempotent. */
  leave(reader: Reader): void {
    reader.end();
    if (!this.#readers.delete(reader)) return;
    const key = keyOf(reader.filter);
    const channel = this.#channels.get(key);
    channel?.readers.delete(reader);
    if (channel?.readers.size === 0) this.#channels.delete(key);
    this.#unfollowWhenAlone();
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** Tells of something that is on no disk, in its order among the changes. */
  tell(told: StreamedChange): void {
    this.#add({ sequence: this.#sequence, told });
  }

  /** A sign of life, which shows also whether the client is still there. */
  probe(reader: Reader): void {
    if (reader.isIdle) reader.push(COMMENT);
  }

  /** Ends all streams; idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#forget();
    this.#endAll();
  }

  #endAll(): void {
    for (const reader of [...this.#readers]) this.leave(reader);
  }

  /** What was told is not what the log holds now: whoever comes back is to read the lists anew. */
  #onReload(isOver: boolean): void {
    this.#endAll();
    if (isOver) this.#foreignUpTo = this.#sequence = this.#options.sequence();
  }

  async #findMissed(position: Position | null): ReturnType<ChangeLog['since']> {
    if (position === null) return null;
    const { sequence, changesSeen } = position;
    await this.#waitFor(changesSeen === 0 ? sequence : sequence + 1);
    if (sequence === this.#sequence && changesSeen === 0) return null;
    const isMade = sequence < this.#sequence && sequence >= this.#foreignUpTo;
    const log = isMade ? await this.#options.changes.since(sequence) : null;
    if (log !== null) return log;
    throw new AppError('gone', 'what came after this `Last-Event-ID` is not known any more: read '
      + 'the lists anew, and follow from now on without it');
  }

  /** Throws `unavailable` when it does not come in time. */
  async #waitFor(sequence: number): Promise<void> {
    const { replica = null } = this.#options;
    if (replica === null || sequence <= this.#sequence) return;
    if (await replica.waitFor(sequence, BEHIND_MS)) return;
    throw new AppError('unavailable', 'this node is behind the one that told the `Last-Event-ID`',
      { retryAfterS: 1 });
  }

  /** Between two rounds, so that what it is told begins right after the sequence returned. */
  #join(reader: Reader): number {
    this.#goRound();
    const key = keyOf(reader.filter);
    const channel = this.#channels.get(key) ?? { filter: reader.filter, readers: new Set() };
    this.#channels.set(key, channel);
    channel.readers.add(reader);
    return this.#sequence;
  }

  #follow(): void {
    if (this.#unfollow !== null) return;
    const { changes, sequence, clock } = this.#options;
    this.#sequence = sequence();
    this.#unfollow = changes.follow((committed, operations) => {
      this.#sequence = committed;
      this.#add({ sequence: committed, changes: operations });
    });
    const beat = (): void => {
      this.#goRound();
      // It brings a client that selects little up to date too, before that is not known any more.
      const bytes = Buffer.from(`:\nid: ${this.#sequence}\n\n`);
      for (const reader of [...this.#readers]) {
        if (!reader.mayRead) this.leave(reader);
        else if (reader.isIdle) reader.push(bytes);
      }
      if (this.#unfollow !== null) this.#heartbeat = clock.startTimer(HEARTBEAT_MS, beat);
    };
    this.#heartbeat = clock.startTimer(HEARTBEAT_MS, beat);
  }

  #unfollowWhenAlone(): void {
    if (this.#readers.size + this.#opening > 0) return;
    this.#unfollow?.();
    this.#heartbeat?.cancel();
    this.#round?.cancel();
    this.#unfollow = null;
    this.#heartbeat = null;
    this.#round = null;
    this.#news = [];
  }

  #add(news: News): void {
    this.#news.push(news);
    if (this.#round !== null) return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#lastRoundMs + ROUND_MS - clock.monotonicMs());
    this.#round = clock.startTimer(waitMs, () => this.#goRound());
  }

  #goRound(): void {
    this.#round?.cancel();
    this.#round = null;
    this.#lastRoundMs = this.#options.clock.monotonicMs();
    const news = this.#news;
    if (news.length === 0) return;
    this.#news = [];
    const channels = [...this.#channels.values()];
    const wanted = new Set(channels.flatMap(({ filter }) => filter.topics));
    const described = news.map((one) =>
      ({ sequence: one.sequence, changes: this.#describe(one, wanted) }));
    for (const { filter, readers } of channels) {
      const text = described.map(({ sequence, changes }) =>
        encodeEvents(sequence, changes, filter)).join('');
      if (text === '') continue;
      const bytes = Buffer.from(text);
      for (const reader of [...readers]) reader.push(bytes);
    }
  }

  #describe(news: News, wanted: ReadonlySet<Topic>): readonly StreamedChange[] {
    if ('told' in news) return [news.told];
    try {
      return describeChanges(news.changes, this.#topics, (topic) => wanted.has(topic));
    } catch (error) {
      // A record that cannot be shown must not keep the others from being told.
      this.#options.logger.error('a change could not be told', { error });
      return [];
    }
  }
}

const COMMENT = Buffer.from(':\n\n');

function keyOf({ topics, hooks }: StreamFilter): string {
  return [...topics.map(({ name }) => name).sort(), ...hooks ?? ['']].join('\n');
}

function stopping(): AppError {
  return new AppError('unavailable', 'the server is stopping', { retryAfterS: 1 });
}
