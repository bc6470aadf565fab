/**
 * Sends committed changes to all readers of the stream. An event is encoded once for all readers
 * with the same filter, and events of a short interval go out together, so that many readers cost a
 * busy server little. The broadcast follows the store only while there are readers.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createConcurrencyLimiter } from '../base/turns.ts';
import type { ChangeLog, Change, FindRecord, ReloadPhase, Replica } from '../store/store-port.ts';
import { createChangeEvents, encodeEvents, formatEvent } from './stream-event.ts';
import type { StreamPosition, StreamFilter, ChangeEvent } from './stream-event.ts';
import { StreamReader, type ReaderConnection } from './stream-reader.ts';
import type { StreamTopic } from './stream-topic.ts';

export type BroadcastOptions = {
  readonly topics: readonly StreamTopic[];
  readonly changes: ChangeLog;
  /** The collection of the callers' tokens: its change may end the rights of readers. */
  readonly tokenCollection: string;
  readonly find: FindRecord;
  /** The last sequence applied. */
  readonly sequence: () => number;
  /** Absent or null while no other process writes to the store. */
  readonly replica?: Pick<Replica, 'waitFor' | 'onReload'> | null;
  readonly clock: Clock;
  readonly logger: Logger;
};

const READERS_MAX = 256;
/** The readers of a token that is bound to webhooks: a customer must not take all places. */
const BOUND_READERS_MAX = 16;
const HEARTBEAT_MS = 15_000;
const FLUSH_INTERVAL_MS = 20;
/** The delay of clients that reconnect by themselves. */
const RECONNECT_MS = 1000;
/** The longest wait of a reader that has seen more at another node, until this node catches up. */
const CATCH_UP_MS_MAX = 2000;

type Channel = { readonly filter: StreamFilter; readonly readers: Set<StreamReader> };

/** The changes of a transaction, or an event that is on no disk, to be sent at the next flush. */
type BroadcastEntry =
  | { readonly sequence: number; readonly changes: readonly Change[] }
  | { readonly sequence: number; readonly announced: ChangeEvent };

export class Broadcast {
  readonly #options: BroadcastOptions;
  readonly #topics: ReadonlyMap<string, StreamTopic>;
  readonly #readers = new Set<StreamReader>();
  readonly #channels = new Map<string, Channel>();
  /** Readers that are behind read the log one at a time, or many would block the event loop. */
  readonly #logGate = createConcurrencyLimiter(1);
  /** Readers that are being opened have their places already. */
  readonly #openings = new Set<Pick<StreamReader, 'filter'>>();
  #sequence = 0;
  #pendingEntries: BroadcastEntry[] = [];
  #flushTimer: Timer | null = null;
  #lastFlushMs = -Infinity;
  #heartbeat: Timer | null = null;
  #unfollow: (() => void) | null = null;
  /** Positions before this sequence are of a log that was replaced: nothing can follow them. */
  #replacedUpTo = -1;
  readonly #unfollowReloads: () => void;
  #isClosed = false;

  constructor(options: BroadcastOptions) {
    this.#options = options;
    this.#topics = new Map(options.topics.map((topic) => [topic.collection.name, topic]));
    const { replica } = options;
    this.#unfollowReloads = replica?.onReload((phase) => this.#onReload(phase)) ?? (() => {});
  }

  /**
   * A reader from `position` on; null: from now on. The caller must call `leave`. Throws `gone` for
   * a position that the log no longer has, and `unavailable`.
   */
  async open(
    filter: StreamFilter, position: StreamPosition | null, caller: ReaderConnection,
  ): Promise<StreamReader> {
    if (this.#isClosed) throw stoppingError();
    this.#checkPlaces(filter);
    this.#follow();
    const opening = { filter };
    this.#openings.add(opening);
    try {
      const log = await this.#openMissed(position);
      if (this.#isClosed) {
        log?.close();
        throw stoppingError();
      }
      const start = position === null ? `id: ${this.#sequence}\n` : '';
      const reader = new StreamReader({
        ...caller, filter, log, topics: this.#topics, find: this.#options.find,
        logGate: this.#logGate,
        changesSeen: position?.changesSeen ?? 0,
        preamble: Buffer.from(`: hookshelf\nretry: ${RECONNECT_MS}\n${start}\n`),
        getAppliedSequence: () => this.#sequence,
        join: (reader) => this.#join(reader),
      });
      this.#readers.add(reader);
      return reader;
    } finally {
      this.#openings.delete(opening);
      this.#unfollowWhenAlone();
    }
  }

  /** Throws `unavailable` when no place is left for a reader with the filter. */
  #checkPlaces({ view }: StreamFilter): void {
    const places = [...this.#readers, ...this.#openings];
    if (places.length >= READERS_MAX) throw noPlaceError(`${READERS_MAX} event streams are open`);
    const own = places.filter(({ filter }) => view !== null && filter.view?.key === view.key);
    if (own.length < BOUND_READERS_MAX) return;
    throw noPlaceError(`${BOUND_READERS_MAX} event streams of this token are open`);
  }

  /** Idempotent. */
  leave(reader: StreamReader): void {
    reader.end();
    if (!this.#readers.delete(reader)) return;
    const key = getChannelKey(reader.filter);
    const channel = this.#channels.get(key);
    channel?.readers.delete(reader);
    if (channel?.readers.size === 0) this.#channels.delete(key);
    this.#unfollowWhenAlone();
  }

  /** Sends the event of a new record that is on no disk, in its order among the changes. */
  announce(topic: StreamTopic, describe: () => ReturnType<StreamTopic['describe']>): void {
    if (this.#readers.size === 0) return;
    const { webhookId, json } = describe();
    const text = formatEvent(topic, 'created', json);
    const event = { topic, number: 1, webhookId, record: null, text };
    this.#add({ sequence: this.#sequence, announced: event });
  }

  /** Sends a comment, which finds out whether the client is still there. */
  probe(reader: StreamReader): void {
    if (reader.isIdle) reader.push(EMPTY_COMMENT);
  }

  /** Ends all streams; idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#unfollowReloads();
    this.#endAll();
  }

  #endAll(): void {
    for (const reader of [...this.#readers]) this.leave(reader);
  }

  /** The log was replaced by another: readers that come back must read the lists anew. */
  #onReload(phase: ReloadPhase): void {
    this.#endAll();
    if (phase === 'end') this.#replacedUpTo = this.#sequence = this.#options.sequence();
  }

  async #openMissed(position: StreamPosition | null): ReturnType<ChangeLog['since']> {
    if (position === null) return null;
    const { sequence, changesSeen } = position;
    await this.#waitUntilApplied(changesSeen === 0 ? sequence : sequence + 1);
    if (sequence === this.#sequence && changesSeen === 0) return null;
    const isOfThisLog = sequence < this.#sequence && sequence >= this.#replacedUpTo;
    const log = isOfThisLog ? await this.#options.changes.since(sequence) : null;
    if (log !== null) return log;
    throw new AppError('gone', 'what came after this `Last-Event-ID` is not known any more: read '
      + 'the lists anew, and follow from now on without it');
  }

  /** Throws `unavailable` when this node does not catch up in time. */
  async #waitUntilApplied(sequence: number): Promise<void> {
    const { replica = null } = this.#options;
    if (replica === null || sequence <= this.#sequence) return;
    if (await replica.waitFor(sequence, CATCH_UP_MS_MAX)) return;
    throw new AppError('unavailable', 'this node is behind the one that told the `Last-Event-ID`',
      { retryAfterS: 1 });
  }

  /** Adds a reader after a flush, so that its events begin right after the sequence returned. */
  #join(reader: StreamReader): number {
    this.#flush();
    const key = getChannelKey(reader.filter);
    const channel = this.#channels.get(key) ?? { filter: reader.filter, readers: new Set() };
    this.#channels.set(key, channel);
    channel.readers.add(reader);
    return this.#sequence;
  }

  #follow(): void {
    if (this.#unfollow !== null) return;
    const { changes, sequence, clock } = this.#options;
    this.#sequence = sequence();
    this.#unfollow = changes.follow((sequence, operations) => {
      this.#sequence = sequence;
      this.#add({ sequence, changes: operations });
    });
    const sendHeartbeats = (): void => {
      this.#flush();
      // The id brings a client with few events up to date too, before the log drops its position.
      const bytes = Buffer.from(`:\nid: ${this.#sequence}\n\n`);
      this.endRefused();
      for (const reader of [...this.#readers]) {
        if (reader.isIdle) reader.push(bytes);
      }
      if (this.#unfollow !== null) this.#heartbeat = clock.startTimer(HEARTBEAT_MS, sendHeartbeats);
    };
    this.#heartbeat = clock.startTimer(HEARTBEAT_MS, sendHeartbeats);
  }

  /** Ends the streams whose callers may not read any more. */
  endRefused(): void {
    for (const reader of [...this.#readers]) {
      if (!reader.mayRead) this.leave(reader);
    }
  }

  #unfollowWhenAlone(): void {
    if (this.#readers.size + this.#openings.size > 0) return;
    this.#unfollow?.();
    this.#heartbeat?.cancel();
    this.#flushTimer?.cancel();
    this.#unfollow = null;
    this.#heartbeat = null;
    this.#flushTimer = null;
    this.#pendingEntries = [];
  }

  #add(entry: BroadcastEntry): void {
    this.#pendingEntries.push(entry);
    if (this.#flushTimer !== null) return;
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#lastFlushMs + FLUSH_INTERVAL_MS - clock.monotonicMs());
    this.#flushTimer = clock.startTimer(waitMs, () => this.#flush());
  }

  #flush(): void {
    this.#flushTimer?.cancel();
    this.#flushTimer = null;
    this.#lastFlushMs = this.#options.clock.monotonicMs();
    const entries = this.#pendingEntries;
    if (entries.length === 0) return;
    this.#pendingEntries = [];
    // This comes first: a revoked token must not be sent what came after its end.
    if (entries.some((entry) => this.#changesTokens(entry))) this.endRefused();
    const channels = [...this.#channels.values()];
    const topics = new Set(channels.flatMap(({ filter }) => filter.topics));
    const transactions = entries.map((entry) =>
      ({ sequence: entry.sequence, events: this.#createEvents(entry, topics) }));
    for (const { filter, readers } of channels) {
      const text = transactions.map(({ sequence, events }) =>
        encodeEvents(sequence, events, filter)).join('');
      if (text === '') continue;
      const bytes = Buffer.from(text);
      for (const reader of [...readers]) reader.push(bytes);
    }
  }

  #changesTokens(entry: BroadcastEntry): boolean {
    const { tokenCollection } = this.#options;
    return 'changes' in entry
      && entry.changes.some(({ collection }) => collection === tokenCollection);
  }

  #createEvents(entry: BroadcastEntry, topics: ReadonlySet<StreamTopic>): readonly ChangeEvent[] {
    if ('announced' in entry) return [entry.announced];
    try {
      return createChangeEvents(
        entry.changes, this.#topics, (topic) => topics.has(topic), this.#options.find);
    } catch (error) {
      // A record that cannot be decoded must not keep the other changes from the readers.
      this.#options.logger.error('a change could not be told', { error });
      return [];
    }
  }
}

const EMPTY_COMMENT = Buffer.from(':\n\n');

function getChannelKey({ topics, webhookIds, view }: StreamFilter): string {
  const names = topics.map(({ name }) => name).sort();
  return [view?.key ?? '', ...names, ...webhookIds ?? ['']].join('\n');
}

function noPlaceError(what: string): AppError {
  return new AppError('unavailable', `${what}, which is the limit`, { retryAfterS: 5 });
}

function stoppingError(): AppError {
  return new AppError('unavailable', 'the server is stopping', { retryAfterS: 1 });
}
