/**
 * The whole queue on a simulated clock, network and disk: weeks of schedule pass in milliseconds,
 * targets do as they are told, and a crash keeps what was committed and nothing else.
 */
import assert from 'node:assert/strict';
import { createIdSource } from '../../../../src/base/uuid.ts';
import type { HttpRequest } from '../../../../src/client/http-client.ts';
import { NetworkError } from '../../../../src/client/network-error.ts';
import type { TargetResponse } from '../../../../src/webhooks/members/http-sender.ts';
import { decodeDelivery } from '../../../../src/webhooks/deliveries/delivery-codec.ts';
import type { Delivery } from '../../../../src/webhooks/deliveries/delivery.ts';
import {
  createWebhooks, webhookCollections, type Webhooks,
} from '../../../../src/webhooks/webhooks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../../../support/memory-store.ts';
import {
  createContext, createOptions, type ContextChanges, type OptionChanges,
} from '../../context.ts';

// As the settings have it.
const SCHEDULE_S = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

/** What a target does with a request. */
export type Behaviour =
  | {
    readonly kind: 'answer'; readonly status: number; readonly retryAfter?: string;
    readonly body?: string;
  }
  | { readonly kind: 'refuse' | 'proxy' | 'hang' }
  | { readonly kind: 'timeOut'; readonly ms: number }
  | { readonly kind: 'slow'; readonly ms: number; readonly status?: number };

export type Request = {
  readonly id: string;
  readonly host: string;
  readonly atMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Undefined while it is under way; then the status that was answered, or an error's code. */
  result?: number | string;
};

export const UP: Behaviour = { kind: 'answer', status: 200 };
export const DOWN: Behaviour = { kind: 'refuse' };
const LATENCY_MS = 20;

/** Its turns are enough for two transactions, and for what their callers do next. */
export function createSimulatedClock(): ManualClock {
  return new ManualClock({ turns: 8 });
}

export type SimulationOptions =
  OptionChanges & Pick<ContextChanges, 'random' | 'ownership' | 'turns'>;

export class Simulation {
  readonly clock = createSimulatedClock();
  readonly targets = new Map<string, Behaviour>();
  readonly requests: Request[] = [];
  readonly logLines: string[] = [];
  store: MemoryStore = createMemoryStore(webhookCollections);
  webhooks: Webhooks;
  readonly #makeId = createIdSource(this.clock);
  readonly #options: SimulationOptions;
  readonly #requestsById = new Map<string, readonly Request[]>();
  #generation = 0;

  constructor(options: SimulationOptions = {}) {
    this.#options = options;
    this.webhooks = this.#open();
  }

  /** Requests that have no answer yet. */
  get underWay(): readonly Request[] {
    // What is old has ended: nothing is under way for longer than the newest thousand.
    return this.requests.slice(-1000).filter(({ result }) => result === undefined);
  }

  async addHook(host: string, members: object = {}, target?: Behaviour): Promise<string> {
    if (target !== undefined) this.targets.set(host, target);
    const added = this.webhooks.resources.outgoing.add({
      targetUrl: `http://${host}/`, triggerEvent: 'thing.*', ...members,
    });
    const [view] = await Promise.all([added, this.clock.advance(0)]);
    return String(JSON.parse(view.bytes.toString()).identifier);
  }

  async emit(payload: unknown = {}, name = 'thing.happened'): Promise<string[]> {
    const [ids] = await Promise.all([this.webhooks.emit(name, payload), this.clock.advance(0)]);
    return ids;
  }

  /** Emits so many events within one turn. */
  async emitMany(count: number): Promise<string[]> {
    const emitted = Array.from({ length: count }, () => this.webhooks.emit('thing.happened', {}));
    return (await this.run(Promise.all(emitted))).flat();
  }

  async run<T>(work: Promise<T>): Promise<T> {
    const [result] = await Promise.all([work, this.clock.advance(0)]);
    return result;
  }

  delivery(id: string): Delivery | undefined {
    const bytes = this.store.collection('deliveries').find(id)?.bytes;
    return bytes === undefined ? undefined : decodeDelivery(bytes);
  }

  isEnabled(webhook: string): boolean {
    const stored = this.webhooks.resources.outgoing.find(webhook);
    return JSON.parse(stored?.bytes.toString() ?? '{}').enabled;
  }

  async assertReconciled(): Promise<void> {
    const { isReconciled, problems } = await this.run(this.webhooks.deliveries.reconcile());
    assert.deepEqual([problems, isReconciled], [[], true]);
  }

  requestsOf(id: string): readonly Request[] {
    return this.#requestsById.get(id) ?? [];
  }

  /** The process ends at once; a new one starts on what was committed. */
  async crash(): Promise<void> {
    const old = this.store;
    this.#generation += 1;
    for (const request of this.underWay) request.result = 'crash';
    this.store = createMemoryStore(webhookCollections);
    const copied = this.store.transact((transaction) => {
      for (const { name } of webhookCollections) {
        const collection = old.collection(name);
        for (let slot = 0; slot < collection.slotBound; slot += 1) {
          const id = collection.idAt(slot);
          const bytes = collection.bytesAt(slot);
          if (id !== undefined && bytes !== undefined) transaction.put(name, id, bytes.toString());
        }
      }
    });
    await copied;
    // The dead process must neither send nor be waited for.
    void this.webhooks.close(0);
    this.webhooks = this.#open();
  }

  #open(): Webhooks {
    const generation = this.#generation;
    const { random, ownership, turns, ...options } = this.#options;
    const context = createContext({
      store: this.store, clock: this.clock, makeId: this.#makeId, random, ownership, turns,
      writeLog: (line) => this.logLines.push(line),
    });
    const webhooks = createWebhooks(context, createOptions({
      baseUri: () => 'http://localhost', ...options,
      http: { request: (request) => this.#serve(request, generation) },
      outgoing: { retrySchedule: SCHEDULE_S, ...options.outgoing },
    }));
    webhooks.start();
    return webhooks;
  }

  async #serve(sent: HttpRequest, generation: number): Promise<TargetResponse> {
    if (generation !== this.#generation) return new Promise(() => {});
    const { host, pathname } = new URL(sent.url);
    const headers = sent.headers as Record<string, string>;
    const request: Request = {
      id: headers['webhook-id'] ?? '', host, headers, atMs: this.clock.now(),
      body: sent.body?.toString() ?? '',
    };
    this.requests.push(request);
    this.#requestsById.set(request.id, [...this.requestsOf(request.id), request]);
    const behaviour = this.targets.get(`${host}${pathname}`) ?? this.targets.get(host) ?? UP;
    if (behaviour.kind === 'refuse') return fail(request, 'ECONNREFUSED');
    if (behaviour.kind === 'proxy') return fail(request, 'EPROXY');
    await new Promise<void>((resolve, reject) => {
      const ms = 'ms' in behaviour ? behaviour.ms : LATENCY_MS;
      if (behaviour.kind !== 'hang') this.clock.startTimer(ms, resolve);
      sent.signal?.addEventListener('abort', () => {
        request.result ??= 'aborted';
        reject(new NetworkError('canceled', 'ECANCELED', 'canceled'));
      });
    });
    if (generation !== this.#generation) return new Promise(() => {});
    if (behaviour.kind === 'timeOut') return fail(request, 'ETIMEDOUT');
    const { status = 200 } = 'status' in behaviour ? behaviour : {};
    request.result = status;
    const body = behaviour.kind === 'answer' ? behaviour.body : undefined;
    const retryAfter = behaviour.kind === 'answer' ? behaviour.retryAfter : undefined;
    return {
      statusCode: status, body: Buffer.from(body ?? `answer ${status}`),
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    };
  }
}

async function fail(request: Request, code: string): Promise<never> {
  request.result = code;
  const isProxy = code === 'EPROXY';
  const kind = code === 'ETIMEDOUT' ? 'timeout' : 'network';
  throw new NetworkError(isProxy ? 'proxy' : kind, code, 'failed', { isProxyFailure: isProxy });
}
