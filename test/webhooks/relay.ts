/** The relay behind a real listener, on a store in memory, with every log line kept. */
import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { MemoryBudget } from '../../src/base/memory-budget.ts';
import { createHttpClient, type HttpClientOptions } from '../../src/client/http-client.ts';
import { createTargetCheck } from '../../src/client/policy/deny-list.ts';
import { IDEMPOTENCY_KEYS, IdempotencyKeys } from '../../src/resources/idempotency-keys.ts';
import { Dispatcher } from '../../src/server/routing/dispatcher.ts';
import { createHttpServer, listenOnPort } from '../../src/server/listening/listener.ts';
import { callApiAnyStatus } from '../../src/server/local/api-call.ts';
import { createMemoryTarget } from '../../src/server/local/memory-target.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import type { Store } from '../../src/store/store-port.ts';
import {
  createWebhooks, webhookCollections, type Webhooks,
} from '../../src/webhooks/webhooks.ts';
import {
  createContext, createOptions, type ContextChanges, type OptionChanges,
} from './context.ts';

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

const CLIENT: HttpClientOptions = {
  timeoutMs: 60_000, connectTimeoutMs: 60_000, totalTimeoutMs: 60_000, retries: 0, retryDelayMs: 1,
  maxSocketsPerHost: 64, verify: true, proxy: null, noProxy: [], denyAddresses: [],
};
const BODY_BYTES_MAX = 1_048_576;

export type RelayOptions = OptionChanges & Pick<ContextChanges, 'clock' | 'turns'> & {
  /** Of payloads under way, with their copies. */
  readonly memoryBytesMax?: number;
  readonly client?: Partial<HttpClientOptions>;
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

export async function startRelay(
  { clock = systemClock, turns, memoryBytesMax = 64 << 20, client, ...options }: RelayOptions = {},
): Promise<Relay> {
  const logLines: string[] = [];
  const context = createContext({
    clock, turns, collections: [...webhookCollections, IDEMPOTENCY_KEYS], random: () => 0.5,
    writeLog: (line) => logLines.push(line),
  });
  const { store, log: logger } = context;
  const keys = new IdempotencyKeys(context);
  const http = createHttpClient({ ...CLIENT, ...client }, { clock, logger });
  let url = '';
  const webhooks = createWebhooks(context, createOptions({
    keys, http, baseUri: () => url,
    memoryBudget: new MemoryBudget(memoryBytesMax),
    isDeniedTarget: createTargetCheck(client?.denyAddresses ?? []), ...options,
  }));
  const dispatcher = new Dispatcher({
    routes: webhooks.routes, guard: null, clock, logger, metrics: new Metrics(),
    bodyBytesMax: BODY_BYTES_MAX, accessLog: 'all', trustProxy: false,
  });
  const server = createHttpServer(dispatcher.listeners('loopback'), {
    requestTimeoutMs: 60_000, headersTimeoutMs: 60_000, keepAliveTimeoutMs: 1000,
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
