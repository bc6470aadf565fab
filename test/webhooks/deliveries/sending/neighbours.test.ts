/**
 * 500 webhooks behind 20 hosts, of which every tenth is slow, never answers, or has a dead host: on
 * a simulated clock and network, with the scheduler, the worker and the sender as they are.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import type { HttpRequest } from '../../../../src/client/http-client.ts';
import { NetworkError } from '../../../../src/client/network-error.ts';
import type { SendOutcome } from '../../../../src/webhooks/deliveries/delivery.ts';
import { QueueWorker } from '../../../../src/webhooks/work/queue-worker.ts';
import type { TargetResponse } from '../../../../src/webhooks/members/http-sender.ts';
import { Scheduler } from '../../../../src/webhooks/work/scheduler.ts';
import {
  assessResponsiveness,
} from '../../../../src/webhooks/deliveries/sending/delivery-attempter.ts';
import { createWebhookSender } from '../../../../src/webhooks/deliveries/sending/webhook-sender.ts';
import { IS_LONG } from '../../../support/long.ts';
import { below, createRandom, type Random } from '../../../support/random.ts';
import { createTaskStubs } from '../../work/task-stubs.ts';
import { createContext } from '../../context.ts';
import { createSimulatedClock } from './simulation.ts';

const WEBHOOKS = 500;
const HOSTS = 20;
const PER_HOST = WEBHOOKS / HOSTS;
const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 2000;
const ANSWER_MS_MAX = 200;
/** One answer of each webhook of a host that is well, one after the other. */
const ROUND_MS = PER_HOST * ANSWER_MS_MAX;
const RETRY_MS = [5000, 300_000];
const EVENTS_MS = 600_000;

type Host = {
  readonly name: string;
  /** `lost`: what is sent there gets no answer, not even a refusal. */
  readonly kind: 'up' | 'refuses' | 'lost';
  /** It refuses more at once than these. */
  readonly connectionsMax: number;
  connectionCount: number;
  refusalCount: number;
};

type Webhook = {
  readonly host: Host;
  kind: 'well' | 'slow' | 'silent' | 'dead';
  /** When each delivery that has no attempt under way is due. */
  readonly dueMs: Map<string, number>;
  startMs: number;
  hasAnswered: boolean;
};

type Setting = {
  /** As `http.maxSocketsPerHost`. */
  readonly runningPerTargetMax: number;
  /** Whether half of the hosts refuse more than a few connections. */
  readonly hasLimits: boolean;
};

type Finished = { readonly id: string; readonly outcome: SendOutcome };

class Neighbours {
  /** The longest waits of those that are well: of all of them, and once each had answered. */
  waitMs = 0;
  answeredWaitMs = 0;
  readonly #random: Random;
  readonly #webhooks: readonly Webhook[];
  readonly #clock = createSimulatedClock();
  readonly #scheduler: Scheduler;
  readonly #worker: QueueWorker<string, Finished>;
  readonly #sender: ReturnType<typeof createWebhookSender>;
  readonly #failures = new Map<string, number>();
  /** Of the deliveries that are pending after an attempt. */
  readonly #retryMs = new Map<string, number>();

  constructor(seed: number, { runningPerTargetMax, hasLimits }: Setting) {
    this.#random = createRandom(seed);
    this.#webhooks = createWebhooks(this.#random, hasLimits);
    const clock = this.#clock;
    const context = createContext({
      clock, log: { ...silentLogger, error: (line) => assert.fail(line) },
    });
    const scheduler = new Scheduler(clock, {
      runningMax: 64, runningPerQueueMax: 8, runningPerTargetMax,
    });
    this.#scheduler = scheduler;
    const http = { request: (request: HttpRequest) => this.#serve(request) };
    this.#sender = createWebhookSender(context, http, { make: () => assert.fail() });
    this.#worker = new QueueWorker(context, scheduler, {
      ...createTaskStubs((id) => this.#retryMs.get(id) ?? null),
      noun: 'a delivery', mayBegin: () => true,
      countAndAssess: ({ outcome }) => assessResponsiveness(outcome), logLabels: (id) => ({ id }),
      runAttempt: (id, _lease, cutOff) => this.#attempt(id, cutOff),
      writeResult: (finished) => this.#write(finished),
    });
  }

  /** Of those that are not well, more is asked than they can do. */
  async run(): Promise<void> {
    this.#worker.start();
    for (const [index, { kind }] of this.#webhooks.entries()) {
      for (let event = 0; event < (kind === 'well' ? 3 : 15); event += 1) {
        const atMs = below(this.#random, 3) === 0 ? 0 : below(this.#random, EVENTS_MS);
        const id = `${index} ${String(event).padStart(2, '0')}`;
        this.#clock.startTimer(atMs, () => this.#emit(id));
      }
    }
    await this.#clock.advance(2 * EVENTS_MS);
    for (const webhook of this.#webhooks) this.#countWait(webhook);
  }

  async #attempt(id: string, cutOff: AbortSignal): Promise<{ readonly result: Finished } | null> {
    const webhook = this.#find(id);
    this.#countWait(webhook);
    this.#checkTurn(webhook);
    webhook.dueMs.delete(id);
    webhook.startMs = this.#clock.now();
    const outcome = await this.#sender.attempt({
      id, url: `http://${webhook.host.name}/`, method: 'POST', headers: {}, secret: null,
      previousSecret: null, dialect: null, body: Buffer.from(id),
    }, cutOff);
    return outcome === null ? null : { result: { id, outcome } };
  }

  async #write({ id, outcome }: Finished): Promise<void> {
    const webhook = this.#find(id);
    webhook.hasAnswered ||= outcome.end === 'delivered';
    const failures = this.#failures.get(id) ?? 0;
    const delayMs = outcome.end === 'delivered' ? undefined : RETRY_MS[failures];
    this.#retryMs.delete(id);
    if (delayMs === undefined) return;
    const dueMs = this.#clock.now() + delayMs;
    this.#failures.set(id, failures + 1);
    webhook.dueMs.set(id, dueMs);
    this.#retryMs.set(id, dueMs);
  }

  #find(id: string): Webhook {
    return this.#webhooks[Number.parseInt(id, 10)] ?? assert.fail();
  }

  #emit(id: string): void {
    const { dueMs, host } = this.#find(id);
    dueMs.set(id, this.#clock.now());
    const key = String(Number.parseInt(id, 10));
    this.#scheduler.add(id, { key, target: host.name, mayStart: true }, 0);
  }

  #countWait(webhook: Webhook): void {
    if (webhook.kind !== 'well') return;
    const waitMs = this.#clock.now() - waitsSince(webhook);
    this.waitMs = Math.max(this.waitMs, waitMs);
    if (webhook.hasAnswered) this.answeredWaitMs = Math.max(this.answeredWaitMs, waitMs);
  }

  /** A dead host gets one attempt at a time, and no webhook there starts twice while one waits. */
  #checkTurn({ host, startMs }: Webhook): void {
    if (host.kind !== 'refuses' || host.refusalCount < 4 * PER_HOST) return;
    assert.equal(host.connectionCount, 0);
    assert.ok(!this.#webhooks.some((other) => other.host === host && waitsSince(other) < startMs));
  }

  async #serve({ body }: HttpRequest): Promise<TargetResponse> {
    const { host, kind } = this.#find(String(body));
    if (host.kind === 'lost') return this.#fail(CONNECT_TIMEOUT_MS, 'timeout', false);
    const isRefused = host.connectionCount >= host.connectionsMax;
    host.connectionCount += 1;
    try {
      if (isRefused) return await this.#fail(5, 'network', false);
      if (kind === 'silent') return await this.#fail(TIMEOUT_MS, 'timeout', true);
      await this.#wait(kind === 'slow' ? 1000 + below(this.#random, TIMEOUT_MS - 1000)
        : below(this.#random, ANSWER_MS_MAX));
      return { statusCode: 200, headers: {}, body: Buffer.alloc(0) };
    } finally {
      host.connectionCount -= 1;
      if (isRefused) host.refusalCount += 1;
    }
  }

  async #fail(ms: number, kind: 'network' | 'timeout', wasConnected: boolean): Promise<never> {
    await this.#wait(ms);
    throw Object.assign(new NetworkError(kind, 'EFAILED', 'failed'), { wasConnected });
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.startTimer(ms, resolve));
  }
}

/** Since when a webhook waits for a start; Infinity: it has nothing to send. */
function waitsSince({ dueMs, startMs }: Webhook): number {
  return Math.max(startMs, Math.min(...dueMs.values()));
}

function createWebhooks(random: Random, hasLimits: boolean): readonly Webhook[] {
  const deadHosts = below(random, 2);
  const hosts = Array.from({ length: HOSTS }, (_, index): Host => {
    const deadKind = below(random, 2) === 0 ? 'refuses' : 'lost';
    const kind = index < deadHosts ? deadKind : 'up';
    const limit = hasLimits && index % 2 === 0 ? 1 + below(random, 5) : Infinity;
    const connectionsMax = kind === 'up' ? limit : 0;
    return { name: `host-${index}`, kind, connectionsMax, connectionCount: 0, refusalCount: 0 };
  });
  const webhooks = hosts.flatMap((host) => Array.from({ length: PER_HOST }, (): Webhook => {
    const kind = host.kind === 'up' ? 'well' : 'dead';
    return { host, kind, dueMs: new Map(), startMs: -Infinity, hasAnswered: false };
  }));
  for (let count = deadHosts * PER_HOST; count < WEBHOOKS / 10;) {
    const webhook = webhooks[below(random, WEBHOOKS)];
    if (webhook?.kind !== 'well') continue;
    webhook.kind = below(random, 3) === 0 ? 'slow' : 'silent';
    count += 1;
  }
  return webhooks;
}

const SEEDS = Array.from({ length: IS_LONG ? 100 : 1 }, (_, index) => index + 1);

for (const seed of SEEDS) {
  test(`nobody who is well waits longer than one time-out (seed ${seed})`, async () => {
    const neighbours = new Neighbours(seed, { runningPerTargetMax: 64, hasLimits: false });
    await neighbours.run();
    assert.ok(neighbours.waitMs <= TIMEOUT_MS, String(neighbours.waitMs));
  });

  for (const runningPerTargetMax of [64, 1]) {
    test('who has answered waits no longer than that where hosts refuse more than a few '
      + `connections, with ${runningPerTargetMax} of ours (seed ${seed})`, async () => {
      const neighbours = new Neighbours(seed, { runningPerTargetMax, hasLimits: true });
      await neighbours.run();
      const { answeredWaitMs } = neighbours;
      assert.ok(answeredWaitMs <= TIMEOUT_MS + ROUND_MS, String(answeredWaitMs));
    });
  }
}
