/**
 * Runs what is pending in the inbox: each route of a request is a task of its own, in the queue of
 * its webhook. A route that is done is never run again, whatever becomes of the others.
 */
import * as types from 'node:util/types';
import { parseTimestamp } from '../../base/clock.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, Collection, Transaction } from '../../store/store-port.ts';
import { logRun } from '../actions/run-log.ts';
import type { SystemEvents } from '../deliveries/system-events.ts';
import { incomingCollection } from '../incoming/incoming-webhook.ts';
import { decodeRequest, readStatus, readUpdatedMs } from '../inbox/request-codec.ts';
import { requestCollection, type StoredRequest } from '../inbox/stored-request.ts';
import { requestQueue, type StoredStatus, type RequestRemoval } from '../inbox/request-changes.ts';
import { Scheduler, type QueueSettings } from '../scheduler/scheduler.ts';
import type { TargetHealth } from '../scheduler/task.ts';
import {
  endPending, stageEndOfPending, type EndPendingDeps, type RemovalListener,
} from '../durable-queue/end-pending.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import type { OnRun } from '../outcome-listeners.ts';
import type { QueueLease, Ownership } from '../durable-queue/ownership.ts';
import { ResultBatch } from '../durable-queue/result-batch.ts';
import { computeDueMs } from '../durable-queue/retry-time.ts';
import { retryWrite } from '../durable-queue/write-retry.ts';
import {
  QueueWorker, type AttemptResult, type AttemptRunner,
} from '../durable-queue/queue-worker.ts';
import { afterRun, failedWithWebhook } from './after-run.ts';
import { NO_ROOM, runKept, type Ran, type RunParts } from './run.ts';
import { requestOf, routeIndexOf, taskIdOf } from './task.ts';

type WorkerParts = RunParts & {
  /** Seconds between attempts. */
  readonly schedule: readonly number[];
  /** In [0, 1). */
  readonly random: () => number;
  readonly makeId: () => string;
  readonly onRun: OnRun;
  readonly health: HealthMonitor;
  readonly ownership: Ownership;
  readonly systemEvents: Pick<SystemEvents, 'requestFailed'>;
  /** Runs at once for one webhook; with 1 they begin in order of arrival. */
  readonly runningPerHookMax: number;
};

/** Runs at once. */
const RUNNING_MAX = 64;
/** A run that takes longer holds a slot that others could use: its webhook counts as slow. */
const SLOW_MS = 1000;

export class RequestWorker implements AttemptRunner<Ran, StoredRequest>, RemovalListener {
  readonly noun = 'a run of a request';
  readonly #parts: WorkerParts;
  readonly #worker: QueueWorker<Ran, StoredRequest>;
  readonly #scheduler: Scheduler;
  readonly #ending: EndPendingDeps<StoredRequest, StoredStatus, RequestRemoval>;
  readonly #results: ResultBatch<StoredRequest, StoredStatus, RequestRemoval>;
  readonly #records: Collection;
  readonly #unfollow: readonly (() => void)[];
  /** How many routes a pending request has that has several. */
  readonly #routeCounts = new Map<string, number>();
  /** Set while a run waits for room for its payload: the others wait behind it. */
  #isWaitingForRoom = false;

  constructor(parts: WorkerParts) {
    const { store, clock, runningPerHookMax } = parts;
    this.#scheduler = new Scheduler(clock, {
      runningMax: RUNNING_MAX, runningPerQueueMax: runningPerHookMax,
    });
    this.#worker = new QueueWorker({ ...parts, scheduler: this.#scheduler }, this);
    this.#parts = parts;
    this.#ending = {
      kind: requestQueue, store, scheduler: this.#scheduler, recordIdOf: requestOf,
    };
    this.#results = new ResultBatch(requestQueue, store);
    parts.payloadRoom.onFree(() => {
      this.#isWaitingForRoom = false;
      this.#worker.requestRun();
    });
    this.#records = store.collection(requestCollection.name);
    this.#unfollow = [
      followRecords(this.#records, (applied) => this.#apply(applied)),
      store.collection(incomingCollection.name).onChange(({ id }) => this.#onHookChange(id)),
      parts.ownership.onChange(() => this.#onOwnershipChange()),
    ];
  }

  start(): void {
    this.#worker.start();
    for (const hook of this.#scheduler.listStoppedKeys()) this.#failIfOrphaned(hook);
  }

  /** See `Worker.close`. */
  async close(graceMs: number): Promise<void> {
    for (const unfollow of this.#unfollow) unfollow();
    await this.#worker.close(graceMs);
  }

  /** What waits for a webhook that is removed fails. */
  onRemoved(transaction: Transaction, hook: string, nowMs: number): void {
    stageEndOfPending(this.#ending, transaction, hook, (before) => failedWithWebhook(before,
      nowMs));
  }

  afterRemoved(hook: string): Promise<void> {
    const { hooks, clock } = this.#parts;
    return endPending(this.#ending, hook, () => hooks.find(hook) === undefined,
      (nowMs) => (before) => failedWithWebhook(before, nowMs), clock);
  }

  mayBegin(): boolean {
    return !this.#isWaitingForRoom;
  }

  runAttempt(
    id: string, hold: QueueLease, cutOff: AbortSignal,
  ): AttemptResult<Ran> | null | Promise<AttemptResult<Ran> | null> {
    const ran = runKept(this.#parts, id, hold, cutOff);
    if (ran === NO_ROOM) {
      this.#isWaitingForRoom = true;
      return { postponedMs: 0 };
    }
    return types.isPromise(ran) ? ran.then(asAttempt) : asAttempt(ran);
  }

  reportAttempt({ known, attempt, unparsed }: Ran): TargetHealth | null {
    const { hook, unparsed: before } = known.item;
    if (before === null && unparsed !== null && unparsed !== undefined) {
      const { load = null } = this.#parts.hooks.find(hook) ?? {};
      if (load !== null) load.unparsed += 1;
    }
    const { success, message, durationMs, at } = attempt;
    this.#parts.onRun(hook, { success, message, isCallersFault: false }, parseTimestamp(at));
    if (!success) return null;
    return durationMs < SLOW_MS ? 'healthy' : 'slow';
  }

  writeResult(ran: Ran): Promise<StoredRequest | undefined> {
    const told = (recorded: StoredRequest | undefined): StoredRequest | undefined => {
      this.#log(ran, recorded);
      return recorded;
    };
    return this.#write(ran).then(told, (thrown: unknown) => retryWrite(this.#worker.writeRetryDeps,
      'the result of a run waits to be written', { request: ran.known.item.id },
      () => this.#write(ran), thrown).then(told));
  }

  dueTimeMs(id: string, recorded: StoredRequest | undefined): number | null {
    // Mostly it is done: then the record need not be looked up.
    if (this.#scheduler.find(id) === undefined) return null;
    const bytes = this.#records.findBytes(requestOf(id));
    if (bytes === undefined || readStatus(bytes) !== 'pending') return null;
    const isCurrent = recorded !== undefined
      && Date.parse(recorded.updatedAt) === readUpdatedMs(bytes);
    return this.#dueTimeMs(isCurrent ? recorded : decodeRequest(bytes), routeIndexOf(id));
  }

  logLabels(id: string): object {
    return { request: requestOf(id) };
  }

  #apply({ id, after }: Change): void {
    if (after === null || readStatus(after) !== 'pending') return this.#forget(id);
    const recent = this.#parts.recent.find(id, after);
    if (recent === undefined) this.#parts.recent.delete(id);
    const request = recent?.item ?? decodeRequest(after);
    if (request.routes.length > 1) this.#routeCounts.set(id, request.routes.length);
    for (let index = 0; index < request.routes.length; index += 1) this.#sync(request, index);
    if (this.#worker.isStarted) this.#failIfOrphaned(request.hook);
  }

  #write(
    { known, index, attempt, isChainRefused, unparsed, hold }: Ran,
  ): Promise<StoredRequest | undefined> {
    const { clock, schedule, random, makeId, systemEvents, health } = this.#parts;
    const { hook } = known.item;
    const nowMs = clock.now();
    const retries = { schedule, random: random() };
    const change = (before: StoredRequest): StoredRequest =>
      afterRun(before, index, { attempt, isChainRefused, unparsed }, retries, nowMs);
    // Nothing fails then, and nobody is to be told.
    if (attempt.success && known.item.routes.length === 1) {
      return this.#results.write(known, hold, change, health.isWritten(hook) ? null
        : (transaction) => health.stage(transaction, hook));
    }
    const drawn = { nowMs, seed: makeId() };
    let hasFailed = false;
    return this.#results.write(known, hold, (before) => {
      const after = change(before);
      hasFailed = before.status === 'pending' && after.status === 'failed';
      return after;
    }, (transaction, after) => {
      if (hasFailed) health.recordFinalFailure(hook, parseTimestamp(attempt.at));
      health.stage(transaction, hook);
      if (hasFailed) systemEvents.requestFailed(transaction, drawn, after);
    });
  }

  #log(
    { known: { item }, index, attempt, isChainRefused }: Ran, recorded: StoredRequest | undefined,
  ): void {
    const { id, hook } = item;
    const { name: route = null, attemptCount = 0 } = item.routes[index] ?? {};
    const { status = null, nextAttemptAt = null } = recorded?.routes[index] ?? {};
    const { labels = { hook, hookName: null }, routes = [] } = this.#parts.hooks.find(hook) ?? {};
    logRun(this.#parts, 'a kept request was run', {
      labels: {
        request: id, ...labels, route, status, attempt: attemptCount + 1, nextAttemptAt,
      },
      actionConfiguration: routes.find(({ name }) => name === route)?.actionConfiguration,
      ...attempt, isChainRefused,
    });
  }

  #forget(id: string): void {
    const count = this.#routeCounts.get(id) ?? 1;
    if (count > 1) this.#routeCounts.delete(id);
    this.#parts.recent.delete(id);
    for (let index = 0; index < count; index += 1) this.#scheduler.remove(taskIdOf(id, index));
  }

  /** Makes a route's task what its record says. */
  #sync(request: StoredRequest, index: number): void {
    const id = taskIdOf(request.id, index);
    const dueAtMs = this.#dueTimeMs(request, index);
    if (dueAtMs === null) return this.#scheduler.remove(id);
    const task = this.#scheduler.find(id);
    if (task === undefined) this.#scheduler.add(id, this.#queueSettings(request.hook), dueAtMs);
    else this.#scheduler.reschedule(task, dueAtMs);
  }

  /** null: the route is not to run. */
  #dueTimeMs({ receivedAt, routes }: StoredRequest, index: number): number | null {
    const route = routes[index];
    if (route?.status !== 'pending') return null;
    const writtenAt = route.attempts.at(-1)?.at ?? receivedAt;
    return computeDueMs(route.nextAttemptAt, writtenAt, this.#parts.clock.now());
  }

  #queueSettings(hook: string): QueueSettings {
    const { enabled = false } = this.#parts.hooks.find(hook) ?? {};
    return { key: hook, target: hook, mayStart: enabled && this.#isOwn(hook) };
  }

  #isOwn(hook: string): boolean {
    return this.#parts.ownership.findLease(hook) !== null;
  }

  #onOwnershipChange(): void {
    for (const hook of this.#scheduler.keys()) this.#onHookChange(hook);
    this.#worker.requestRun();
  }

  #onHookChange(hook: string): void {
    if (this.#worker.closing.aborted) return;
    this.#scheduler.update(this.#queueSettings(hook));
    if (this.#worker.isStarted) this.#failIfOrphaned(hook);
  }

  // A request may be accepted while the removal of its webhook is staged.
  #failIfOrphaned(hook: string): void {
    const isThere = this.#parts.hooks.find(hook) !== undefined;
    if (isThere || !this.#isOwn(hook) || this.#scheduler.listIds(hook, 1).length === 0) return;
    this.#worker.writeLater('requests of a removed webhook wait to be failed', { hook },
      () => this.afterRemoved(hook));
  }
}

function asAttempt(ran: Ran | null): AttemptResult<Ran> | null {
  return ran === null ? null : { result: ran };
}

