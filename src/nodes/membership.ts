/**
 * This process as one of the nodes that share a log: it beats, claims what is free, gives up what
 * others are to have, and says what is its own to do. The rules are lease-table.ts; here is their
 * shell, with the clock and the store.
 *
 * What must never happen: a claim that does not rest on all that was applied when it is committed;
 * an attempt that begins, or goes on, beyond the time of its lease.
 */
import { randomBytes } from 'node:crypto';
import { formatTimestamp, type Clock, type Timer } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { followRecords } from '../resources/projection.ts';
import type { Change, Store, Transaction } from '../store/store-port.ts';
import { ClockOffsets } from './clock-offsets.ts';
import { LeaseTable, type Instant, type LeaseLengths } from './lease-table.ts';
import { MAINTENANCE_SHARD, NodeOwnership } from './ownership.ts';
import {
  LEASES, NODES, decodeLease, decodeNode, shardOfLease, type Holder, type Lease, type NodeRecord,
} from './records.ts';
import { Shares } from './shares.ts';

type MembershipParts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly node: string;
  /** A new UUID. */
  readonly makeRun: () => string;
  readonly lengths: LeaseLengths;
  /** Whether the records are being loaded anew: nothing is begun by what they say meanwhile. */
  readonly isReloading: () => boolean;
  /** What is told of this node besides: asked at each beat. */
  readonly describe: () => Pick<NodeRecord, 'version' | 'address' | 'position' | 'lag'>;
};

const BEAT_MS = 5000;
const RETRY_MS = 1000;
/** A stop waits so long for its leases to be released; they run out by themselves. */
const RELEASE_MS = 2000;
/** A node that died is shown for so long. */
const FORGET_MS = 24 * 3_600_000;

export class Membership {
  readonly #parts: MembershipParts;
  readonly #self: { -readonly [Name in keyof Holder]: Holder[Name] };
  readonly ownership: NodeOwnership;
  readonly table: LeaseTable;
  readonly clockOffsets: ClockOffsets;
  readonly #shares: Shares;
  readonly #unfollow: readonly (() => void)[];
  readonly #startedAt: string;
  /** Of this node. */
  readonly changes = { claimed: 0, released: 0, lost: 0 };
  #beat = 0;
  #lastSentMs = -Infinity;
  #beating: Promise<void> | null = null;
  #isAsked = false;
  #isLookAsked = false;
  #hasFailed = false;
  #isTwinKnown = false;
  #beatTimer: Timer | null = null;
  #endTimer: Timer | null = null;

  constructor(parts: MembershipParts) {
    const { store, clock, node, makeRun, lengths, isReloading } = parts;
    this.#parts = parts;
    const self = { node, run: makeRun() };
    this.#self = self;
    this.#startedAt = formatTimestamp(clock.now());
    const table = new LeaseTable(self, lengths);
    this.table = table;
    this.clockOffsets = new ClockOffsets(node);
    this.ownership = new NodeOwnership({
      self, table, clock, isReloading, onDrained: () => this.#look(),
    });
    const { shards } = this.ownership;
    this.#shares = new Shares({ self, table, shards, ...lengths });
    this.#unfollow = [
      followRecords(store.collection(NODES.name), (change) => this.#applyNode(change)),
      followRecords(store.collection(LEASES.name), (change) => this.#applyLease(change)),
      store.onFailure(() => this.ownership.isActive && this.#armBeat()),
    ];
  }

  /** From here on we take part. */
  start(): void {
    this.ownership.isActive = true;
    this.#beatNow();
  }

  /** Gives up all that is ours, at once for the others; nothing may be under way. Idempotent. */
  async close(): Promise<void> {
    const wasStarted = this.ownership.isActive;
    this.ownership.isActive = false;
    this.#beatTimer?.cancel();
    this.#endTimer?.cancel();
    this.ownership.cutOffAll();
    if (wasStarted) await this.#leave();
    for (const unfollow of this.#unfollow) unfollow();
    // A beat that was on its way may have come meanwhile.
    this.#endTimer?.cancel();
  }

  /**
   * The records were loaded anew from a log that does not continue what was followed: what others
   * have done by the old one, they may still be doing. So we begin as a new run does, and wait for
   * all leases, our own too.
   */
  beginAnew(): void {
    this.#self.run = this.#parts.makeRun();
    this.#beat = 0;
    this.ownership.cutOffAll();
    this.table.forgetTimes(this.#parts.clock.monotonicMs());
    for (const shard of this.ownership.shards) shard.givenUpMs = null;
    this.ownership.tell();
    if (this.ownership.isActive) this.#beatNow();
  }

  #applyNode({ id, after }: Change): void {
    const now = this.ownership.now();
    const record = after === null ? null : decodeNode(after);
    const wasOpen = this.table.mayBegin(now);
    this.#warnOfTwin(id, record);
    this.#compareClock(id, record, now);
    this.table.applyNode(id, record, now.monotonicMs);
    if (this.#isOwn(id, record)) {
      this.#armEnd();
      if (!wasOpen) this.ownership.tell();
    }
    this.#look();
  }

  #isOwn(id: string, record: NodeRecord | null): boolean {
    return id === this.#self.node && record?.run === this.#self.run;
  }

  #applyLease({ id, after }: Change): void {
    const number = shardOfLease(id);
    const before = this.table.lease(number);
    const wasOurs = this.table.isOurs(number);
    const lease = after === null ? null : decodeLease(after);
    this.table.applyLease(number, lease, this.#parts.clock.monotonicMs());
    const isOurs = this.table.isOurs(number);
    if (wasOurs && !(isOurs && before?.term === lease?.term)) this.#lose(number, lease);
    if (isOurs && !wasOurs) this.changes.claimed += 1;
    if (isOurs !== wasOurs) this.ownership.tell();
    this.#look();
  }

  #lose(number: number, lease: Lease | null): void {
    const { log } = this.#parts;
    const shard = this.ownership.shards[number];
    shard?.cutOff();
    if (shard !== undefined) shard.givenUpMs = null;
    if (lease?.released === true && lease.run === this.#self.run) {
      this.changes.released += 1;
      return;
    }
    this.changes.lost += 1;
    log.warning('another node has taken over a shard of ours, as our lease had run out',
      { shard: number, node: lease?.node ?? null });
  }

  #warnOfTwin(id: string, record: NodeRecord | null): void {
    const { log, node } = this.#parts;
    const known = this.table.nodes.get(id)?.record ?? null;
    if (record === null || this.#isTwinKnown || !this.#isOwn(id, known)) return;
    if (this.#isOwn(id, record)) return;
    this.#isTwinKnown = true;
    log.error('another process runs under the id of this node: one data directory is a copy of '
      + 'the other. Stop one, remove node.json from its data directory, and start it again',
    { node });
  }

  /** What is found at the start, or loaded anew, was written at any time before. */
  #compareClock(id: string, record: NodeRecord | null, now: Instant): void {
    const { log, isReloading } = this.#parts;
    if (record === null) return this.clockOffsets.forget(id);
    if (!this.ownership.isActive || isReloading()) return;
    const offsetMs = this.clockOffsets.observe(id, record, now);
    if (offsetMs === null) return;
    log.warning('the clock of another node is more than a second off ours: retries, signatures and '
      + 'the end of tokens go by it, so keep both synchronized (NTP)',
    { node: id, address: record.address, offsetS: offsetMs / 1000 });
  }

  /** Soon: the rest of what we heard of is not applied yet. */
  #look(): void {
    if (this.#isLookAsked || !this.ownership.isActive) return;
    this.#isLookAsked = true;
    setImmediate(() => {
      this.#isLookAsked = false;
      if (this.ownership.isActive && this.#isDue()) this.#beatNow();
    });
  }

  #isDue(): boolean {
    const { monotonicMs } = this.ownership.now();
    if (this.#shares.giveUp(monotonicMs)) this.ownership.tell();
    return this.#shares.isDue(monotonicMs);
  }

  #beatNow(): void {
    this.#isAsked = true;
    this.#beating ??= this.#beatWhileAsked().finally(() => {
      this.#beating = null;
    });
  }

  async #beatWhileAsked(): Promise<void> {
    while (this.#isAsked && this.ownership.isActive) {
      this.#isAsked = false;
      this.#hasFailed = !await this.#commitBeat();
      if (!this.ownership.isActive) return;
      this.#armBeat();
      if (this.#hasFailed) return;
    }
  }

  /** False: it is to be tried again. */
  async #commitBeat(): Promise<boolean> {
    const { store, log, lengths, describe } = this.#parts;
    const { node, run } = this.#self;
    const now = this.ownership.now();
    this.#beat += 1;
    this.#lastSentMs = now.monotonicMs;
    this.table.noteSent(this.#beat, now);
    const record: NodeRecord = {
      identifier: node, run, beat: this.#beat, lengthMs: lengths.lengthMs, ...describe(),
      startedAt: this.#startedAt, at: formatTimestamp(now.wallMs),
      ...store.failure === null ? {} : { padding: paddingOf(store.replica?.probeBytes ?? 0) },
    };
    const ended = this.#shares.ended();
    try {
      await store.transact((transaction) => this.#stage(transaction, record, ended, now));
      return true;
    } catch (error) {
      const isExpected = error instanceof AppError;
      if (!this.#hasFailed || !isExpected) {
        log[isExpected ? 'warning' : 'error']('this node cannot renew its leases; others take them '
          + 'over when they have run out', { error });
      }
      return false;
    }
  }

  // Where others were first it runs again: by then what they wrote is in the table.
  #stage(
    transaction: Transaction, record: NodeRecord, ended: readonly number[],
    { monotonicMs }: Instant,
  ): void {
    // The beat before the claims: whoever sees one applied finds it renewed.
    transaction.put(NODES.name, record.identifier, JSON.stringify(record));
    for (const shard of ended) this.#shares.stageRelease(transaction, shard);
    this.#shares.stageClaims(transaction, monotonicMs);
    if (!this.table.isOurs(MAINTENANCE_SHARD)) return;
    for (const [id, { heardMs }] of this.table.nodes) {
      if (heardMs < monotonicMs - FORGET_MS) transaction.delete(NODES.name, id);
    }
  }

  async #leave(): Promise<void> {
    const { store, clock, log, node } = this.#parts;
    const leaving = (this.#beating ?? Promise.resolve()).then(() =>
      store.transact((transaction) => {
        for (const shard of this.table.ownShards()) this.#shares.stageRelease(transaction, shard);
        if (this.#isOwn(node, this.table.nodes.get(node)?.record ?? null)) {
          transaction.delete(NODES.name, node);
        }
      })).catch((error: unknown) => log.warning('the leases of this node could not be released: '
        + 'the others wait until they have run out', { error }));
    await new Promise<void>((resolve) => {
      const timer = clock.startTimer(RELEASE_MS, resolve);
      void leaving.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** That of others' writes came to nothing is a reason, too: a beat finds out when they go on. */
  get #isRetried(): boolean {
    return this.#hasFailed || this.#parts.store.failure !== null;
  }

  /** Until the next beat is due, or somebody else's lease has run out. */
  #armBeat(): void {
    const { monotonicMs } = this.ownership.now();
    const delayMs = this.#isRetried ? RETRY_MS : Math.min(
      this.#lastSentMs + BEAT_MS - monotonicMs, this.#shares.nextEndMs(monotonicMs));
    this.#beatTimer?.cancel();
    this.#beatTimer = this.#parts.clock.startTimer(Math.max(1, delayMs), () => {
      const isDue = this.#isRetried
        || this.#parts.clock.monotonicMs() >= this.#lastSentMs + BEAT_MS;
      if (this.#isDue() || isDue) this.#beatNow();
      else this.#armBeat();
    });
  }

  /** What is under way ends in time, unless our next beat is applied before. */
  #armEnd(): void {
    this.#endTimer?.cancel();
    const leftMs = Math.max(0, this.table.leftMs(this.ownership.now()));
    this.#endTimer = this.#parts.clock.startTimer(leftMs, () => {
      if (this.table.leftMs(this.ownership.now()) > 0) return this.#armEnd();
      this.ownership.cutOffAll();
    });
  }
}

/** Nothing makes it smaller. */
function paddingOf(bytes: number): string {
  return randomBytes(Math.ceil(bytes * 3 / 4)).toString('base64');
}
