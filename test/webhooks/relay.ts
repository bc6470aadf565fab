/** The relay behind a real listener, on a store in memory, with every log line kept. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { MemoryBudget } from '../../src/base/memory-budget.ts';
import type { Turns } from '../../src/base/turns.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { createHttpClient } from '../../src/client/http-client.ts';
import type { HttpClientOptions } from '../../src/client/http-client.ts';
import { createTargetCheck } from '../../src/client/policy/deny-list.ts';
import { IDEMPOTENCY_KEYS, IdempotencyKeys } from '../../src/resources/idempotency-keys.ts';
import { createDispatcher } from '../../src/server/routing/dispatcher.ts';
import { createHttpServer, listenOnPort } from '../../src/server/listening/listener.ts';
import { callApiAnyStatus } from '../../src/server/local/api-call.ts';
import { createMemoryTarget } from '../../src/server/local/memory-target.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import type { Store } from '../../src/store/store-port.ts';
import {
  createWebhooks, webhookCollections, type Webhooks,
} from '../../src/webhooks/webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { createMemoryStore } from '../support/memory-store.ts';

export type Relay = {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly logLines: readonly string[];
  ask(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  /** POST to a route of the control socket. */
  control(path: string, body: unknown): Promise<Pick<Answer, 'status' | 'json'>>;
  /** Creates a configuration, and an incoming webhook at `/webhook/in/hook` that runs it. */
  hook(action: object, hook?: object): Promise<Answer>;
  close(): Promise<void>;
};

export type Headers = Readonly<Record<string, string | string[]>>;
export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: Readonly<Record<string, unknown>>;
};

export const INCOMING = {
  defaultAllowedMethods: ['POST'], allowUnsignedWhenSecretMissing: true, actionTimeoutMs: 2000,
  bodyBytesMax: 1 << 20, rateLimit: 0, maxConcurrent: 100,
  retrySchedule: [5, 300], maxInFlightPerHook: 8,
};
export const OUTGOING = {
  retrySchedule: [5, 300], retentionMs: 7 * 86_400_000, retentionCount: 10_000,
  retentionBytes: 64 << 20,
  failedRetentionMs: 30 * 86_400_000, maxPending: 100_000, maxPendingBytes: 256 << 20,
  maxInFlight: 64, maxInFlightPerHook: 8, maxInFlightPerHost: 64,
};
export const INBOX = {
  retentionMs: 7 * 86_400_000, failedRetentionMs: 30 * 86_400_000, maxCount: 100_000,
  maxBytes: 256 << 20,
};
export const EVENTS = { keep: 'heard', retentionMs: 7 * 86_400_000, bytesMax: 256 << 20 } as const;
const CLIENT: HttpClientOptions = {
  timeoutMs: 2000, connectTimeoutMs: 1000, totalTimeoutMs: 3000, retries: 0, retryDelayMs: 1,
  maxSocketsPerHost: 64, verify: true, proxy: null, noProxy: [], denyAddresses: [],
};
const BODY_BYTES_MAX = 1_048_576;

export type RelayOptions = {
  readonly incoming?: Partial<WebhooksOptions['incoming']>;
  /** Of payloads under way, with their copies. */
  readonly memoryBytesMax?: number;
  readonly inbox?: Partial<WebhooksOptions['inbox']>;
  readonly events?: Partial<WebhooksOptions['events']>;
  readonly outgoing?: Partial<WebhooksOptions['outgoing']>;
  readonly client?: Partial<HttpClientOptions>;
  readonly actions?: readonly unknown[];
  readonly optionalActions?: NonNullable<WebhooksOptions['optionalActions']>;
  readonly onOutcome?: WebhooksOptions['onOutcome'];
  readonly turns?: Turns;
  readonly clock?: Clock;
};

/** A relay that is closed when the test is over. */
export async function startRelayFor(
  context: TestContext, options?: RelayOptions,
): Promise<Relay> {
  const relay = await startRelay(options);
  context.after(() => relay.close());
  return relay;
}

/** The same with an incoming webhook at `/webhook/in/hook`, which runs that action. */
export async function startRelayWithHook(
  context: TestContext, action: object, hook: object, options?: RelayOptions,
): Promise<Relay> {
  const relay = await startRelayFor(context, options);
  const made = await relay.hook(action, hook);
  assert.equal(made.status, 201, made.text);
  return relay;
}

export async function startRelay(options: RelayOptions = {}): Promise<Relay> {
  const logLines: string[] = [];
  const { clock = systemClock } = options;
  const logger = createLogger({
    level: 'debug', format: 'json', write: (line) => logLines.push(line), now: () => clock.now(),
  });
  const store = createMemoryStore([...webhookCollections, IDEMPOTENCY_KEYS]);
  const keys = new IdempotencyKeys({ store, clock, logger });
  const http = createHttpClient({ ...CLIENT, ...options.client }, { clock, logger });
  let url = '';
  const webhooks = createWebhooks({
    store, keys, http, logger, clock, makeId: createIdSource(clock),
    random: () => 0.5, baseUri: () => url, onOutcome: options.onOutcome ?? (() => {}),
    ...options.turns === undefined ? {} : { turns: options.turns },
    memoryBudget: new MemoryBudget(options.memoryBytesMax ?? 64 << 20),
    isDeniedTarget: createTargetCheck(options.client?.denyAddresses ?? []),
    actions: (options.actions ?? []).map((actionClass) => ({ actionClass, origin: 'a test' })),
    optionalActions: options.optionalActions ?? [],
    incoming: { ...INCOMING, ...options.incoming },
    inbox: { ...INBOX, ...options.inbox },
    events: { ...EVENTS, ...options.events }, outgoing: { ...OUTGOING, ...options.outgoing },
  });
  const dispatcher = createDispatcher({
    routes: webhooks.routes, guard: null, clock, logger, metrics: new Metrics(),
    bodyBytesMax: BODY_BYTES_MAX, accessLog: 'all', trustProxy: false,
  });
  const server = createHttpServer(dispatcher.listeners('loopback'), {
    requestTimeoutMs: 10_000, headersTimeoutMs: 10_000, keepAliveTimeoutMs: 1000,
    connectionsMax: 1000,
  }, clock);
  const listener = await listenOnPort(server, '127.0.0.1', 0, clock);
  const port = listener.port ?? 0;
  url = listener.url;
  const ask: Relay['ask'] = (method, path, body, headers = {}) =>
    send(port, method, path, body, headers);
  return {
    url, port, store, webhooks, logLines, ask,
    async control(path, body) {
      const target = createMemoryTarget(dispatcher.listeners('control').request);
      const answer = await callApiAnyStatus(target, { method: 'POST', path, body });
      return { status: answer.status, json: answer.body as Answer['json'] };
    },
    async hook(action, hook = {}) {
      const made = await ask('POST', '/api/action-configurations', action);
      return ask('POST', '/api/incoming-webhooks', {
        pathSegment: 'hook', actionConfiguration: made.json['identifier'], ...hook,
      });
    },
    async close() {
      await listener.close(1000);
      await webhooks.close(1000);
      await webhooks.closeHealth();
      await keys.close();
      await http.close();
    },
  };
}

/** Fails unless an answer is 422 for one reason: at this pointer, and in such words. */
export function assertRefused({ status, json, text }: Answer, pointer: string, detail = /./): void {
  assert.equal(status, 422, text);
  const errors = json['errors'] as readonly { readonly pointer: string; readonly detail: string }[];
  assert.deepEqual(errors.map((error) => error.pointer), [pointer], text);
  assert.match(errors[0]?.detail ?? '', detail, text);
}

/** One request on a connection of its own. A string or buffer goes out as it is, else as JSON. */
export function send(
  port: number, method: string, path: string, body: unknown, headers: Headers,
): Promise<Answer> {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = isRaw ? body : JSON.stringify(body) ?? '';
  const framing = body === undefined ? {}
    : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(bytes) };
  return new Promise((resolve, reject) => {
    const options = {
      port, host: '127.0.0.1', method, path, agent: false, headers: { ...framing, ...headers },
    };
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text),
        });
      });
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

function parse(text: string): Answer['json'] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
