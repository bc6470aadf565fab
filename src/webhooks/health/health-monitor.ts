/**
 * The health of all webhooks of one direction, and the statistics of the outgoing ones
 * (webhook-statistics.ts), which are written with it. The monitor counts tries in memory, at the
 * cost of a few numbers, and keeps the records that health-record.ts describes. The transaction
 * that writes the result of a try stages the health with it (`stage`); the monitor itself writes
 * the rest.
 */
import { formatTimestampOrNull, parseTimestamp, type Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/schema.ts';
import { decodeRecord } from '../../resources/record.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, Transaction } from '../../store/store-port.ts';
import type { RelayContext } from '../relay-context.ts';
import type { WebhookDirection } from '../webhook-label.ts';
import { isOffUnseen, type DisabledMembers } from './disabled-members.ts';
import {
  NO_REQUESTS, INITIAL_HEALTH, addEnabling, addFailure, addFinalFailure, addPassedRequest,
  addRejectedRequest, addSuccess, mergeHealth, getStateSinceMs, getState, type Failure,
  type FailurePeriod, type Health, type PublicState, type RequestWindow,
} from './health.ts';
import { decodeHealth, encodeHealth, healthCollection } from './health-record.ts';
import { AttemptStatistics, isTotal, stageStatisticsRemoval } from './webhook-statistics.ts';

type MonitoredWebhook = DisabledMembers & {
  readonly identifier: string;
  readonly enabled: boolean;
  readonly labels: { readonly webhook: string };
};

type UnhealthyWebhook = {
  readonly identifier: string;
  readonly label: string;
  readonly state: Exclude<PublicState, 'healthy'>;
  readonly sinceMs: number;
  readonly reason: string | null;
};

export type HealthMonitors = Readonly<Record<WebhookDirection, HealthMonitor>>;

type MonitoredWebhooks = {
  readonly direction: WebhookDirection;
  readonly collection: string;
  readonly webhooks: {
    find(identifier: string): MonitoredWebhook | undefined;
    all(): Iterable<MonitoredWebhook>;
  };
};

/** A few hundred bytes for a webhook that was tried or called. */
type HealthEntry = {
  health: Health;
  requests: RequestWindow;
  committedHealth: Health;
};

/** `isLoggedElsewhere`: another log line reports what the try led to. */
type TransitionLog = { readonly isLoggedElsewhere?: boolean };

const WRITE_DELAY_MS = 10_000;
const STATISTICS_INTERVAL_MS = 60_000;
const CHUNK_RECORDS_MAX = 250;
const UNHEALTHY_MAX = 100;

/** The webhooks of both directions that somebody must look after, oldest state first. */
export function listUnhealthyWebhooks(
  monitors: HealthMonitors,
): readonly (UnhealthyWebhook & { readonly direction: WebhookDirection })[] {
  return (['incoming', 'outgoing'] as const)
    .flatMap((direction) => monitors[direction].listUnhealthy()
      .map((webhook) => ({ direction, ...webhook })))
    .sort((left, right) => left.sinceMs - right.sinceMs).slice(0, UNHEALTHY_MAX);
}

export class HealthMonitor {
  /** Counts the attempts of outgoing webhooks by their outcomes, and both directions in total. */
  readonly statistics: AttemptStatistics;
  readonly #context: RelayContext;
  readonly #monitored: MonitoredWebhooks;
  readonly #entries = new Map<string, HealthEntry>();
  /** Monotonic: when counts may be written again. */
  #statisticsDueMs = 0;
  /** Webhooks whose health has changed; a result may have been written with it since. */
  readonly #changedIds = new Set<string>();
  #timer: Timer | null = null;
  #isWriteAsked = false;
  #isClosed = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    context: RelayContext, monitored: MonitoredWebhooks,
    statistics = new AttemptStatistics(context),
  ) {
    this.#context = context;
    this.#monitored = monitored;
    const { store } = context;
    this.statistics = statistics;
    statistics.onTotals = () => this.#startTimer();
    followRecords(store.collection(healthCollection.name), (change) => this.#applyRecord(change));
    store.collection(monitored.collection).onChange((change) => this.#applyWebhook(change));
  }

  recordSuccess(webhookId: string, atMs: number): void {
    const entry = this.#getOrCreateEntry(webhookId);
    this.#update(webhookId, entry, addSuccess(entry.health, atMs));
  }

  /** See `addFailure`. */
  recordFailure(
    webhookId: string, failure: Failure,
    { period, ...logOptions }: TransitionLog & { period?: FailurePeriod | undefined } = {},
  ): boolean {
    const entry = this.#getOrCreateEntry(webhookId);
    this.#update(webhookId, entry, addFailure(entry.health, failure, period), logOptions);
    return entry.health.isFailing;
  }

  /** The try that began at `atMs` has failed for good. May be reported several times. */
  recordFinalFailure(webhookId: string, atMs: number, logOptions?: TransitionLog): void {
    const entry = this.#getOrCreateEntry(webhookId);
    this.#update(webhookId, entry, addFinalFailure(entry.health, atMs), logOptions);
  }

  /** The request passed the checks of its sender. */
  recordPassedRequest(webhookId: string, atMs: number): void {
    const entry = this.#getOrCreateEntry(webhookId);
    const { health, requests } = addPassedRequest(entry.health, entry.requests, atMs);
    entry.requests = requests;
    if (health === entry.health) return;
    this.#update(webhookId, entry, health);
    this.writeSoon();
  }

  recordRejectedRequest(webhookId: string, rejection: Failure): void {
    const entry = this.#getOrCreateEntry(webhookId);
    const wasRejecting = entry.health.rejectingSinceMs !== null;
    const { health, requests } = addRejectedRequest(entry.health, entry.requests, rejection);
    entry.requests = requests;
    if (health.rejectingSinceMs === null) {
      // Anybody can send such requests: nothing is written while the webhook is healthy.
      entry.health = health;
      return;
    }
    this.#update(webhookId, entry, health);
    if (!wasRejecting) this.writeSoon();
  }

  /** Whether the state is committed; times and counts of tries may not be. */
  isStateCommitted(webhookId: string): boolean {
    const entry = this.#entries.get(webhookId);
    return entry === undefined || isSameButForTries(entry.health, entry.committedHealth);
  }

  /** Stages an uncommitted state; `mustWriteTries`: also times and counts of tries alone. */
  stage(transaction: Transaction, webhookId: string, mustWriteTries = false): void {
    const entry = this.#entries.get(webhookId);
    if (entry === undefined || (this.isStateCommitted(webhookId) && !mustWriteTries)) return;
    this.#put(transaction, webhookId, entry);
  }

  /** Writes changed states within this turn of the event loop. */
  writeSoon(): void {
    if (this.#isWriteAsked || this.#isClosed) return;
    this.#isWriteAsked = true;
    setImmediate(() => {
      this.#isWriteAsked = false;
      this.#write([...this.#changedIds].filter((webhookId) => !this.isStateCommitted(webhookId)));
    });
  }

  /** Counts an attempt of an outgoing webhook that has just ended. */
  recordAttempt(webhookId: string, isDelivered: boolean, durationMs: number): void {
    if (this.#monitored.webhooks.find(webhookId) === undefined) return;
    this.statistics.record(webhookId, isDelivered, durationMs);
    this.#startTimer();
  }

  /** Writes what is in memory first: the removal may be taken back (removed-records.ts). */
  stageRemoval(transaction: Transaction, webhookId: string): void {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined) this.#putHealth(transaction, webhookId, entry);
    this.statistics.stagePending(transaction, webhookId, this.#context.clock.now());
    transaction.delete(healthCollection.name, webhookId);
    stageStatisticsRemoval(transaction, webhookId);
  }

  find(webhookId: string): Health {
    return this.#entries.get(webhookId)?.health ?? INITIAL_HEALTH;
  }

  getPublicState(
    { identifier, enabled }: Pick<MonitoredWebhook, 'identifier' | 'enabled'>,
  ): PublicState {
    if (!enabled) return 'off';
    const entry = this.#entries.get(identifier);
    return entry === undefined ? 'healthy' : getState(entry.health);
  }

  /** Whether the last try failed of a webhook that is healthy all the same. */
  hasJustFailed(webhook: Pick<MonitoredWebhook, 'identifier' | 'enabled'>): boolean {
    return this.getPublicState(webhook) === 'healthy'
      && this.find(webhook.identifier).failedTries > 0;
  }

  /** `failing` lists also webhooks that a failure has switched off and nobody has acknowledged. */
  isListedAs(identifier: string, state: PublicState): boolean {
    const webhook = this.#monitored.webhooks.find(identifier);
    if (webhook === undefined) return false;
    return this.getPublicState(webhook) === state
      || (state === 'failing' && isOffUnseen(webhook));
  }

  countStates(): Readonly<Record<PublicState, number>> {
    const counts = { healthy: 0, failing: 0, rejecting: 0, off: 0 };
    for (const webhook of this.#monitored.webhooks.all()) counts[this.getPublicState(webhook)] += 1;
    return counts;
  }

  countJustFailed(): number {
    let count = 0;
    for (const webhook of this.#monitored.webhooks.all()) {
      if (this.hasJustFailed(webhook)) count += 1;
    }
    return count;
  }

  /** Webhooks that fail or reject, or that a failure has switched off and nobody has seen. */
  listUnhealthy(): readonly UnhealthyWebhook[] {
    const unhealthy: UnhealthyWebhook[] = [];
    for (const webhook of this.#monitored.webhooks.all()) {
      const { identifier, labels: { webhook: label }, disabledAt = '' } = webhook;
      const state = this.getPublicState(webhook);
      const health = this.find(identifier);
      const reason = explainState(state, health, webhook.disabledReason);
      if (isOffUnseen(webhook)) {
        const sinceMs = parseTimestamp(disabledAt);
        unhealthy.push({ identifier, label, state: 'off', sinceMs, reason });
      } else if (state === 'failing' || state === 'rejecting') {
        const sinceMs = getStateSinceMs(health) ?? 0;
        unhealthy.push({ identifier, label, state, sinceMs, reason });
      }
    }
    return unhealthy;
  }

  /** Writes the changes; later tries are lost. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#writeAll();
    await this.#writing;
  }

  #getOrCreateEntry(webhookId: string): HealthEntry {
    const existing = this.#entries.get(webhookId);
    if (existing !== undefined) return existing;
    const entry = {
      health: INITIAL_HEALTH, requests: NO_REQUESTS, committedHealth: INITIAL_HEALTH,
    };
    // A try may end after its webhook was removed: then its entry is not kept.
    if (this.#monitored.webhooks.find(webhookId) !== undefined) this.#entries.set(webhookId, entry);
    return entry;
  }

  #update(
    webhookId: string, entry: HealthEntry, health: Health,
    { isLoggedElsewhere = false }: TransitionLog = {},
  ): void {
    const before = entry.health;
    entry.health = health;
    this.#markChanged(webhookId);
    if (getState(before) !== getState(health) && !isLoggedElsewhere) {
      this.#logTransition(webhookId, before, health);
    }
  }

  #markChanged(webhookId: string): void {
    this.#changedIds.add(webhookId);
    this.#startTimer();
  }

  #startTimer(): void {
    if (this.#timer !== null || this.#isClosed) return;
    const { clock } = this.#context;
    this.#timer = clock.startTimer(WRITE_DELAY_MS, () => {
      this.#timer = null;
      if (clock.monotonicMs() >= this.#statisticsDueMs) this.#writeAll();
      else this.#write([...this.#changedIds]);
      if (this.statistics.isPending) this.#startTimer();
    });
  }

  #writeAll(): void {
    this.#statisticsDueMs = this.#context.clock.monotonicMs() + STATISTICS_INTERVAL_MS;
    const webhookIds = new Set([...this.#changedIds, ...this.statistics.collectPendingIds()]);
    this.#write([...webhookIds], true);
  }

  /** Logs a line when a webhook begins or ceases to fail or to reject. */
  #logTransition(identifier: string, before: Health, after: Health): void {
    const { log } = this.#context;
    const { webhooks, direction } = this.#monitored;
    const webhook = webhooks.find(identifier);
    if (webhook?.enabled !== true) return;
    const fields = { direction, ...webhook.labels };
    const formatBegin = (health: Health): string | null =>
      formatTimestampOrNull(getStateSinceMs(health));
    if (after.isFailing && !before.isFailing) {
      log.warning('a webhook fails', {
        ...fields, since: formatBegin(after), reason: after.lastFailure?.reason ?? null,
      });
    } else if (before.isFailing && !after.isFailing) {
      log.info('a webhook works again', { ...fields, failingSince: formatBegin(before) });
    }
    if (getState(after) === 'rejecting') {
      log.warning('a webhook rejects most of its requests', {
        ...fields, since: formatBegin(after), reason: after.lastRejection?.reason ?? null,
      });
    } else if (getState(before) === 'rejecting' && !after.isFailing) {
      log.info('a webhook accepts its requests again',
        { ...fields, rejectingSince: formatBegin(before) });
    }
  }

  #write(webhookIds: readonly string[], hasCounts = false): void {
    for (const webhookId of webhookIds) this.#changedIds.delete(webhookId);
    for (let start = 0; start < webhookIds.length; start += CHUNK_RECORDS_MAX) {
      const chunk = webhookIds.slice(start, start + CHUNK_RECORDS_MAX);
      this.#writing = this.#writing.then(() => this.#writeChunk(chunk, hasCounts));
    }
  }

  async #writeChunk(webhookIds: readonly string[], hasCounts: boolean): Promise<void> {
    const counts = this.statistics.take(hasCounts ? webhookIds : []);
    const nowMs = this.#context.clock.now();
    try {
      await this.#context.store.transact((transaction) => {
        for (const webhookId of webhookIds) {
          const entry = this.#entries.get(webhookId);
          if (entry !== undefined) this.#put(transaction, webhookId, entry);
        }
        for (const [webhookId, each] of counts) {
          const isThere = isTotal(webhookId)
            || transaction.find(this.#monitored.collection, webhookId) !== undefined;
          if (!isThere) continue;
          this.statistics.stage(transaction, webhookId, each, nowMs);
        }
      });
      this.statistics.forgetTaken();
    } catch (error) {
      // The store itself has logged why it takes no writes.
      if (!(error instanceof AppError)) {
        this.#context.log.error('the health of webhooks could not be written', { error });
      }
      this.statistics.putBack();
      for (const webhookId of webhookIds) {
        if (this.#entries.has(webhookId)) this.#markChanged(webhookId);
      }
    }
  }

  #put(transaction: Transaction, webhookId: string, entry: HealthEntry): void {
    // The webhook may be removed by now, on disk or in this transaction.
    if (transaction.find(this.#monitored.collection, webhookId) === undefined) return;
    this.#putHealth(transaction, webhookId, entry);
  }

  #putHealth(transaction: Transaction, webhookId: string, { health }: HealthEntry): void {
    const { store } = this.#context;
    const { direction } = this.#monitored;
    const record = transaction.find(healthCollection.name, webhookId);
    const mayHoldOthersTries = store.replica !== null && record !== undefined;
    const latest = mayHoldOthersTries ? mergeHealth(health, decodeHealth(record).health) : health;
    const json = encodeHealth(webhookId, direction, latest);
    if (record?.toString() !== json) transaction.put(healthCollection.name, webhookId, json);
  }

  #applyRecord({ id, after }: Change): void {
    if (after === null) return;
    const { direction, health } = decodeHealth(after);
    if (direction !== this.#monitored.direction) return;
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#entries.set(id, { health, requests: NO_REQUESTS, committedHealth: health });
      return;
    }
    const hasOwnState = !this.isStateCommitted(id);
    const isSameAsBefore = isSameButForTries(health, entry.committedHealth);
    entry.committedHealth = health;
    if (this.#context.store.replica === null) return;
    // Another node, with tries that this node does not know, may have written the record. A new
    // state counts here, too, unless this node has its own state to write.
    const [leading, other] = hasOwnState || (isSameAsBefore && this.#changedIds.has(id))
      ? [entry.health, health] : [health, entry.health];
    entry.health = mergeHealth(leading, other);
  }

  #applyWebhook({ id, before, after }: Change): void {
    if (after === null) {
      this.#entries.delete(id);
      this.#changedIds.delete(id);
      this.statistics.delete(id);
      return;
    }
    if (before === null || !isSwitchedOn(before, after)) return;
    const entry = this.#getOrCreateEntry(id);
    const { updatedAt } = decodeRecord(after);
    this.#update(id, entry, addEnabling(entry.health, parseTimestamp(String(updatedAt))));
    this.writeSoon();
  }
}

/** null: the webhook is healthy, or no reason is known. */
export function explainState(
  state: PublicState, { lastFailure, lastRejection }: Health,
  disabledReason: JsonValue | undefined,
): string | null {
  if (state === 'healthy') return null;
  if (state === 'rejecting') return lastRejection?.reason ?? null;
  const lastReason = lastFailure?.reason ?? null;
  if (state === 'failing') return lastReason;
  if (disabledReason === 'gone') return 'its target answered 410';
  if (disabledReason !== 'failing') return 'switched off by hand, or by a file';
  return `every attempt failed for too long${lastReason === null ? '' : `: ${lastReason}`}`;
}

function isSwitchedOn(before: Buffer, after: Buffer): boolean {
  return decodeRecord(before)['enabled'] === false && decodeRecord(after)['enabled'] === true;
}

/** Whether state and begin are the same: times and counts of tries may differ. */
function isSameButForTries(left: Health, right: Health): boolean {
  return left.isFailing === right.isFailing
    && (!left.isFailing || left.firstFailedMs === right.firstFailedMs)
    && left.rejectingSinceMs === right.rejectingSinceMs
    && left.healthySinceMs === right.healthySinceMs
    && left.failurePeriod?.since === right.failurePeriod?.since;
}

