/** A server on loopback over given routes, with everything else as the tests mostly want it. */
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { LogFields, Logger } from '../../src/base/log.ts';
import type { MemoryBudget } from '../../src/base/memory-budget.ts';
import type { TrustProxy } from '../../src/server/exchange/client-address.ts';
import {
  Dispatcher, type Entrance, type Guard,
} from '../../src/server/routing/dispatcher.ts';
import { createHttpServer, listenOnPort } from '../../src/server/listening/listener.ts';
import type { Certificate, Listener, ServerLimits } from '../../src/server/listening/listener.ts';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import type { Handler, Method, HttpRoute } from '../../src/server/http-route.ts';

export type TestServer = {
  readonly port: number;
  readonly dispatcher: Dispatcher;
  readonly listener: Listener;
  readonly metrics: Metrics;
  readonly logged: readonly Logged[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type Logged = {
  readonly level: string; readonly message: string; readonly fields: LogFields;
};

export type TestServerOptions = {
  readonly guard?: Guard;
  readonly entrance?: Entrance;
  readonly bodyBytesMax?: number;
  readonly memoryBudget?: MemoryBudget;
  readonly accessLog?: 'all' | 'errors' | 'off';
  readonly trustProxy?: TrustProxy;
  readonly stallMs?: number;
  readonly limits?: Partial<ServerLimits>;
  readonly certificate?: Certificate;
  readonly prepare?: () => Promise<void>;
  /** For the limits that are ours: closing and those of Node go by the real one. */
  readonly clock?: Clock;
};

export const LIMITS: ServerLimits = {
  requestTimeoutMs: 60_000, headersTimeoutMs: 60_000, keepAliveTimeoutMs: 65_000,
  connectionsMax: 100,
};

export async function startServer(
  routes: readonly HttpRoute[], options: TestServerOptions = {},
): Promise<TestServer> {
  const metrics = new Metrics();
  const logged: Logged[] = [];
  const { clock = systemClock } = options;
  const dispatcher = new Dispatcher({
    routes,
    guard: options.guard ?? null,
    clock,
    logger: memoryLogger(logged),
    metrics,
    bodyBytesMax: options.bodyBytesMax ?? 1_048_576,
    ...options.memoryBudget === undefined ? {} : { memoryBudget: options.memoryBudget },
    accessLog: options.accessLog ?? 'off',
    trustProxy: options.trustProxy ?? false,
    ...options.stallMs === undefined ? {} : { stallMs: options.stallMs },
    ...options.prepare === undefined ? {} : { prepare: options.prepare },
  });
  const server = createHttpServer(
    dispatcher.listeners(options.entrance ?? 'loopback'),
    { ...LIMITS, ...options.limits }, clock, options.certificate,
  );
  const listener = await listenOnPort(server, '127.0.0.1', 0, systemClock);
  const close = (): Promise<void> => {
    dispatcher.drain();
    return listener.close(100);
  };
  return {
    port: listener.port ?? 0, dispatcher, listener, metrics, logged, close,
    [Symbol.asyncDispose]: close,
  };
}

/** A route with only what is served; `access` is `read` when not given. */
export function route(
  method: Method | 'ANY', path: string, handle: Handler, more: Partial<HttpRoute> = {},
): HttpRoute {
  return {
    method, path, handle, operationId: `${method}${path}`, summary: '', access: 'read',
    responses: [],
    ...more,
  };
}

/** A route that answers with what it received. */
export function echoRoute(method: Method, path: string, more: Partial<HttpRoute> = {}): HttpRoute {
  return route(method, path, async (exchange) => {
    const body = await exchange.readBody();
    exchange.sendJson(200, {
      params: exchange.params, search: exchange.search, body: body.toString(),
      client: exchange.clientAddress,
    });
  }, more);
}

function memoryLogger(logged: Logged[]): Logger {
  const at = (level: string) => (message: string, fields: LogFields = {}): void => {
    logged.push({ level, message, fields });
  };
  return { debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error') };
}
