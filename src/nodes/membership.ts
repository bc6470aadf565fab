/**
 * Makes this process one of the nodes that share a log: it sends beats, claims free shards, and
 * gives up the shards that others should have. lease-table.ts holds the rules; this is their shell,
 * with the clock and the store.
 *
 * A beat is one put of this node's record; it renews all leases of the node. A shard of ours goes
 * through these states:
 *
 * - ours: its lease names us, and `findLease` hands out work;
 * - given up (`givenUpMs` is set, by `giveUpSurplus`): no new work is handed out;
 * - drained: its last attempt has ended;
 * - released: its lease is written with `released: true`, and any node may claim it.
 *
 * A lease is lost when it goes without our own release: another node takes it, or it is ours under
 * a new term. Attempts are cut off when draining takes too long, when our leases expire, when the
 * lease of their shard is lost, and on `restart` and `close`.
 *
 * Two things must never happen: a claim that does not rest on everything that was applied when it
 * is committed, and an attempt that begins, or goes on, after its lease has expired.
 */
import { randomBytes } from 'node:crypto';
import { endsInTime, formatTimestamp, type Clock, type Timer } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { followRecords } from '../resources/projection.ts';
import type { Change, Store, Transaction } from '../store/store-port.ts';
import { ClockOffsets } from './clock-offsets.ts';
import { LeaseTable, type Instant, type LeaseLengths } from './lease-table.ts';
import { MAINTENANCE_SHARD, NodeOwnership } from './node-ownership.ts';
import {
  LEASES, NODES, decodeLease, decodeNode, parseLeaseId, type Holder, type Lease, type NodeRecord,
} from './node-records.ts';
import {
  computeNextEndMs, giveUpSurplus, isMoveDue, listDrainedShards, stageClaims, stageRelease,
  type ShardUse,
} from './shard-balance.ts';

type MembershipDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly node: string;
  /** Creates the UUID of a run. */
  readonly makeRun: () => string;
  readonly lengths: LeaseLengths;
  /** Whether the records are being reloaded: no work begins by what they say meanwhile. */
  readonly isReloading: () => boolean;
  /** The rest of this node's record, read at each beat. */
  readonly describeNode: () => Pick<NodeRecord, 'version' | 'address' | 'position' | 'lag'>;
};

const BEAT_MS = 5000;
const RETRY_MS = 1000;
/** The longest that a stop waits for the release of its leases; they expire anyway. */
const RELEASE_MS = 2000;
/** A dead node stays in the list for so long. */
const FORGET_MS = 24 * 3_600_000;

export class Membership {
  readonly #deps: MembershipDeps;
  /** Table and ownership have this object, too: `restart` changes the run in it. */
  readonly #self: { -readonly [Name in keyof Holder]: Holder[Name] };
  readonly ownership: NodeOwnership;
  readonly table: LeaseTable;
  readonly clockOffsets: ClockOffsets;
  readonly #shardUse: ShardUse;
  readonly #unfollow: readonly (() => void)[];
  readonly #startedAt: string;
  /** Counts of this node's leases, for metrics. */
  readonly leaseChanges = { claimed: 0, released: 0, lost: 0 };
  #beat = 0;
  /** When the last beat was sent, on the monotonic clock. */
  #lastSentMs = -Infinity;
  #beatLoop: Promise<void> | null = null;
  #isBeatRequested = false;
  #isCheckScheduled = false;
  /** Whether the last beat could not be written. */
  #hasBeatFailed = false;
  #hasWarnedOfTwin = false;
  #beatTimer: Timer | null = null;
  #cutOffTimer: Timer | null = null;

  constructor(deps: MembershipDeps) {
    const { store, clock, node, makeRun, lengths, isReloading } = deps;
    this.#deps = deps;
    const self = { node, run: makeRun() };
    this.#self = self;
    this.#startedAt = formatTimestamp(clock.now());
    const table = new LeaseTable(self, lengths);
    this.table = table;
    this.clockOffsets = new ClockOffsets(node);
    this.ownership = new NodeOwnership({
      self, table, clock, isReloading, onDrained: () => this.#checkSoon(),
    });
    const { shards } = this.ownership;
    this.#shardUse = { self, table, shards, attemptMs: lengths.attemptMs };
    this.#unfollow = [
      followRecords(store.collection(NODES.name), (change) => this.#applyNode(change)),
      followRecords(store.collection(LEASES.name), (change) => this.#applyLease(change)),
      // While writes fail, beats are tried more often (`#mustRetry`), until one is taken.
      store.onFailure(() => this.ownership.isActive && this.#scheduleBeat()),
    ];
  }

  /** Begins to send beats and to claim shards. */
  start(): void {
    this.ownership.isActive = true;
    this.#requestBeat();
  }

  /** Releases our leases, so that others need not wait. No attempt may be under way. Idempotent. */
  async close(): Promise<void> {
    const wasStarted = this.ownership.isActive;
    this.ownership.isActive = false;
    this.#beatTimer?.cancel();
    this.#cutOffTimer?.cancel();
    this.ownership.cutOffAll();
    if (wasStarted) await this.#releaseLeases();
    for (const unfollow of this.#unfollow) unfollow();
    // A beat that was on its way may have been applied meanwhile.
    this.#cutOffTimer?.cancel();
  }

  /**
   * Starts as a new run after a reload from a log that does not continue the one followed so far.
   * Other nodes may still be working by the old log, so we wait for all leases, our own too.
   */
  restart(): void {
    this.#self.run = this.#deps.makeRun();
    this.#beat = 0;
    this.ownership.cutOffAll();
    this.table.resetTimes(this.#deps.clock.monotonicMs());
    for (const shard of this.ownership.shards) shard.givenUpMs = null;
    this.ownership.notifySoon();
    if (this.ownership.isActive) this.#requestBeat();
  }

  #applyNode({ id, after }: Change): void {
    const now = this.ownership.now();
    const record = after === null ? null : decodeNode(after);
    const couldStartAttempts = this.table.mayStartAttempts(now);
    this.#warnOfTwin(id, record);
    this.#compareClock(id, record, now);
    this.table.applyNode(id, record, now.monotonicMs);
    if (this.#isOwnRecord(id, record)) {
      this.#scheduleCutOff();
      if (!couldStartAttempts) this.ownership.notifySoon();
    }
    this.#checkSoon();
  }

  #isOwnRecord(id: string, record: NodeRecord | null): boolean {
    return id === this.#self.node && record?.run === this.#self.run;
  }

  #applyLease({ id, after }: Change): void {
    const number = parseLeaseId(id);
    const before = this.table.lease(number);
    const wasOurs = this.table.isOurs(number);
    const lease = after === null ? null : decodeLease(after);
    this.table.applyLease(number, lease, this.#deps.clock.monotonicMs());
    const isOurs = this.table.isOurs(number);
    const isStillOurs = isOurs && before?.term === lease?.term;
    if (wasOurs && !isStillOurs) this.#onLeaseLost(number, lease);
    if (isOurs && !wasOurs) this.leaseChanges.claimed += 1;
    if (isOurs !== wasOurs) this.ownership.notifySoon();
    this.#checkSoon();
  }

  #onLeaseLost(number: number, lease: Lease | null): void {
    const { log } = this.#deps;
    const shard = this.ownership.shards[number];
    shard?.cutOff();
    if (shard !== undefined) shard.givenUpMs = null;
    if (lease?.released === true && lease.run === this.#self.run) {
      this.leaseChanges.released += 1;
      return;
    }
    this.leaseChanges.lost += 1;
    log.warning('another node has taken over a shard of ours, as our lease had run out',
      { shard: number, node: lease?.node ?? null });
  }

  /** Warns when a record with our id and another run replaces our own record. */
  #warnOfTwin(id: string, record: NodeRecord | null): void {
    const { log, node } = this.#deps;
    const previousRecord = this.table.nodes.get(id)?.record ?? null;
    const isReplaced = this.#isOwnRecord(id, previousRecord) && !this.#isOwnRecord(id, record);
    if (record === null || this.#hasWarnedOfTwin || !isReplaced) return;
    this.#hasWarnedOfTwin = true;
    log.error('another process runs under the id of this node: one data directory is a copy of '
      + 'the other. Stop one, remove node.json from its data directory, and start it again',
    { node });
  }

  /** Compares the clock of a node with ours. Beats of a start or a reload may be of any age. */
  #compareClock(id: string, record: NodeRecord | null, now: Instant): void {
    const { log, isReloading } = this.#deps;
    if (record === null) return this.clockOffsets.forget(id);
    if (!this.ownership.isActive || isReloading()) return;
    const offsetMs = this.clockOffsets.observe(id, record, now);
    if (offsetMs === null) return;
    log.warning('the clock of another node is more than a second off ours: retries, signatures and '
      + 'the end of tokens go by it, so keep both synchronized (NTP)',
    { node: id, address: record.address, offsetS: offsetMs / 1000 });
  }

  /** Looks for claims and releases in a later turn, once all entries that arrived are applied. */
  #checkSoon(): void {
    if (this.#isCheckScheduled || !this.ownership.isActive) return;
    this.#isCheckScheduled = true;
    setImmediate(() => {
      this.#isCheckScheduled = false;
      if (!this.ownership.isActive) return;
      this.#giveUpSurplus();
      if (this.#isMoveDue()) this.#requestBeat();
    });
  }

  #giveUpSurplus(): void {
    const { monotonicMs } = this.ownership.now();
    if (giveUpSurplus(this.#shardUse, monotonicMs)) this.ownership.notifySoon();
  }

  /** Whether a claim or a release is to be written with a beat. */
  #isMoveDue(): boolean {
    return isMoveDue(this.#shardUse, this.ownership.now().monotonicMs);
  }

  #requestBeat(): void {
    this.#isBeatRequested = true;
    this.#beatLoop ??= this.#beatWhileRequested().finally(() => {
      this.#beatLoop = null;
    });
  }

  async #beatWhileRequested(): Promise<void> {
    while (this.#isBeatRequested && this.ownership.isActive) {
      this.#isBeatRequested = false;
      this.#hasBeatFailed = !await this.#commitBeat();
      if (!this.ownership.isActive) return;
      this.#scheduleBeat();
      if (this.#hasBeatFailed) return;
    }
  }

  /** False when it failed and is to be tried again. */
  async #commitBeat(): Promise<boolean> {
    const { store, log, lengths, describeNode } = this.#deps;
    const { node, run } = this.#self;
    const now = this.ownership.now();
    this.#beat += 1;
    this.#lastSentMs = now.monotonicMs;
    this.table.recordSent(this.#beat, now);
    const record: NodeRecord = {
      identifier: node, run, beat: this.#beat, lengthMs: lengths.lengthMs, ...describeNode(),
      startedAt: this.#startedAt, at: formatTimestamp(now.wallMs),
      // While writes fail the beat is padded: if so large a record is taken, there is room again.
      ...store.failure === null ? {} : { padding: createPadding(store.replica?.probeBytes ?? 0) },
    };
    const drainedShards = listDrainedShards(this.#shardUse);
    try {
      await store.transact((transaction) =>
        this.#stageBeat(transaction, record, drainedShards, now));
      return true;
    } catch (error) {
      const isExpected = error instanceof AppError;
      if (!this.#hasBeatFailed || !isExpected) {
        log[isExpected ? 'warning' : 'error']('this node cannot renew its leases; others take them '
          + 'over when they have run out', { error });
      }
      return false;
    }
  }

  /** Runs again after a conflict; by then the table has what the other nodes wrote. */
  #stageBeat(
    transaction: Transaction, record: NodeRecord, drainedShards: readonly number[],
    { monotonicMs }: Instant,
  ): void {
    // The beat comes before the claims: once a claim is applied, its lease counts as renewed.
    transaction.put(NODES.name, record.identifier, JSON.stringify(record));
    for (const shard of drainedShards) stageRelease(this.table, transaction, shard);
    stageClaims(this.#shardUse, transaction, monotonicMs);
    if (!this.table.isOurs(MAINTENANCE_SHARD)) return;
    for (const [id, { heardMs }] of this.table.nodes) {
      if (heardMs < monotonicMs - FORGET_MS) transaction.delete(NODES.name, id);
    }
  }

  async #releaseLeases(): Promise<void> {
    const { store, clock, log, node } = this.#deps;
    const release = (this.#beatLoop ?? Promise.resolve()).then(() =>
      store.transact((transaction) => {
        for (const shard of this.table.ownShards()) stageRelease(this.table, transaction, shard);
        if (this.#isOwnRecord(node, this.table.nodes.get(node)?.record ?? null)) {
          transaction.delete(NODES.name, node);
        }
      })).catch((error: unknown) => log.warning('the leases of this node could not be released: '
        + 'the others wait until they have run out', { error }));
    await endsInTime(clock, RELEASE_MS, release);
  }

  /**
   * Whether beats are tried each RETRY_MS: the last one, or another write, has failed. A beat shows
   * when writes work again.
   */
  get #mustRetry(): boolean {
    return this.#hasBeatFailed || this.#deps.store.failure !== null;
  }

  /** Wakes when the next beat is due, or when another node's lease expires. */
  #scheduleBeat(): void {
    const { monotonicMs } = this.ownership.now();
    const delayMs = this.#mustRetry ? RETRY_MS : Math.min(
      this.#lastSentMs + BEAT_MS - monotonicMs, computeNextEndMs(this.#shardUse, monotonicMs));
    this.#beatTimer?.cancel();
    this.#beatTimer = this.#deps.clock.startTimer(Math.max(1, delayMs), () => {
      const isDue = this.#mustRetry
        || this.#deps.clock.monotonicMs() >= this.#lastSentMs + BEAT_MS;
      this.#giveUpSurplus();
      if (isDue || this.#isMoveDue()) this.#requestBeat();
      else this.#scheduleBeat();
    });
  }

  /** Aborts all attempts when our leases expire, unless our next beat is applied before. */
  #scheduleCutOff(): void {
    this.#cutOffTimer?.cancel();
    const leftMs = Math.max(0, this.table.remainingMs(this.ownership.now()));
    this.#cutOffTimer = this.#deps.clock.startTimer(leftMs, () => {
      if (this.table.remainingMs(this.ownership.now()) > 0) return this.#scheduleCutOff();
      this.ownership.cutOffAll();
    });
  }
}

/** Random text, which no compression makes smaller. */
function createPadding(bytes: number): string {
  return randomBytes(Math.ceil(bytes * 3 / 4)).toString('base64');
}
