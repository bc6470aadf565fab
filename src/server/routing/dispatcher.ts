/**
 * Finds the route of each request, lets the guard check the request, calls the route's handler, and
 * turns what it throws into an answer. One dispatcher serves any number of servers: on a port, on
 * the control socket, over a pipe in memory, or another program's server that it is mounted in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import type { InFlightCounter } from '../../base/in-flight-counter.ts';
import { BodyBudget } from '../body-budget.ts';
import { createClientAddressResolver } from '../exchange/client-address.ts';
import type { TrustProxy } from '../exchange/client-address.ts';
import { HttpExchange } from '../exchange/http-exchange.ts';
import type { Endpoint, Entrance, ExchangeContext } from '../exchange/http-exchange.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ResponseBatcher } from '../exchange/response-batcher.ts';
import { isPipelined, waitForTurn } from '../exchange/pipeline.ts';
import { readRequestId } from '../exchange/request-id.ts';
import { parseQuery } from '../query.ts';
import type { HttpRoute } from '../http-route.ts';
import { ANY, Router, isDecodable } from './router.ts';
import { splitTarget } from './request-target.ts';

/** Checks requests before they are served. */
export interface Guard {
  /**
   * Throws what is to be answered instead. `isServed` is false when the path is unknown or does not
   * have the method; `allowedMethods` tells those it has. True when the guard itself has answered.
   */
  admit(exchange: HttpExchange, isServed: boolean, allowedMethods: AllowedMethods): boolean;
}

/** What a path can be asked; empty when it is unknown. */
export type AllowedMethods = (path: string) => readonly string[];

/** What is done besides where several processes share one store. */
export interface ReadConsistency {
  /** Of each request. */
  readonly Exchange: typeof HttpExchange;
  /** Throws `unavailable` while the request cannot be served. */
  assertNotReloading(exchange: HttpExchange): void;
  /** null: it may be served at once. Else it may then; rejects with `unavailable`, `malformed`. */
  waitUntilReadable(exchange: HttpExchange): Promise<void> | null;
  /** The route as its document shows it. */
  describeRoute(route: HttpRoute): HttpRoute;
}

type DispatcherOptions = {
  readonly routes: readonly HttpRoute[];
  /** null: everybody may do everything. */
  readonly guard: Guard | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Told of requests whose handlers are not done at once. */
  readonly underWay?: InFlightCounter;
  readonly bodyBytesMax: number;
  /** What all bodies that are still arriving may hold; 256 MiB when not given. */
  readonly bodiesBytesMax?: number;
  readonly accessLog: 'all' | 'errors' | 'off';
  readonly trustProxy: TrustProxy;
  /** Not given: the store is this process's alone. */
  readonly readConsistency?: ReadConsistency | null;
  /** What links in answers begin with, without a slash at its end; not given, they are paths. */
  readonly baseUri?: string | null;
  /** A reader that takes nothing for so long is cut; 30 s when not given. */
  readonly stallMs?: number;
  /** A streamed body of which nothing arrives for so long is cut; as `stallMs` when not given. */
  readonly bodyStallMs?: number;
  /** What must be done before any request from outside is served; never rejects. */
  readonly prepare?: () => Promise<void>;
};

export type { Entrance };

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Told the status of an answer that no route gave, and the method, or that it is unknown. */
export type CountRejection = (method: string, status: number) => void;

/** Listeners for the events of a `node:http` server. */
export type RequestListeners = {
  readonly request: RequestListener;
  /** A sender that waits for `100 Continue`. */
  readonly checkContinue: RequestListener;
  /** No event: told of an answer to what never became a request of ours. */
  readonly countRejection: CountRejection;
};

export interface Dispatcher {
  listeners(entrance: Entrance): RequestListeners;
  /**
   * Does what must be done before a request from outside is served, once. The first such request
   * asks for it, too, and all of them wait for its end; those on the control socket do not.
   */
  prepare(): Promise<void>;
  /**
   * From now on every answer closes its connection, and what another program's server still passes
   * is answered with 503.
   */
  drain(): void;
  /** From now on every request is answered with 503. */
  close(): void;
  readonly isClosed: boolean;
}

const STALL_MS = 30_000;
// A hundred senders of the largest bodies at once still have room.
export const BODIES_BYTES_MAX = 256 << 20;

const UNROUTED_ROUTE: HttpRoute = {
  method: ANY, path: 'unmatched', operationId: 'unmatched', summary: '', access: 'public',
  responses: [], handle() {},
};

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new HttpDispatcher(options);
}

class HttpDispatcher implements Dispatcher {
  readonly #context: ExchangeContext;
  readonly #guard: Guard | null;
  readonly #underWay: InFlightCounter | undefined;
  readonly #readConsistency: ReadConsistency | null;
  readonly #Exchange: typeof HttpExchange;
  readonly #publicTable: RouteTable;
  readonly #controlTable: RouteTable;
  readonly #unrouted: Endpoint;
  /** Unique among processes with one log, cheap to make; drawn for the first request. */
  #idPrefix: string | null = null;
  #requestCount = 0;
  #isClosed = false;
  #isPrepared: boolean;
  readonly #prepare: () => Promise<void>;
  #preparation: Promise<void> | null = null;

  constructor(options: DispatcherOptions) {
    const stallMs = options.stallMs ?? STALL_MS;
    const { clock, logger } = options;
    const batcher = new ResponseBatcher({ stallMs, clock, logger });
    const resolveClientAddress = createClientAddressResolver(options.trustProxy);
    const { bodyStallMs = stallMs, bodiesBytesMax = BODIES_BYTES_MAX } = options;
    const bodyBudget = new BodyBudget(options.bodyBytesMax, bodiesBytesMax);
    this.#context = {
      ...options, stallMs, bodyStallMs, bodyBudget, batcher, resolveClientAddress,
      isDraining: false,
    };
    this.#guard = options.guard;
    this.#underWay = options.underWay;
    this.#readConsistency = options.readConsistency ?? null;
    this.#Exchange = options.readConsistency?.Exchange ?? HttpExchange;
    const open = options.routes.filter((route) => route.access !== 'control');
    this.#publicTable = createTable(open, options.metrics);
    this.#controlTable = createTable(options.routes, options.metrics);
    this.#unrouted = { route: UNROUTED_ROUTE, meter: options.metrics.meter(UNROUTED_ROUTE.path) };
    const { prepare } = options;
    this.#isPrepared = prepare === undefined;
    this.#prepare = prepare ?? (async () => {});
  }

  listeners(entrance: Entrance): RequestListeners {
    return {
      request: (request, response) => this.#accept(entrance, request, response, false),
      checkContinue: (request, response) => this.#accept(entrance, request, response, true),
      countRejection: (method, status) => this.#unrouted.meter.record(method, status, null),
    };
  }

  prepare(): Promise<void> {
    this.#preparation ??= this.#prepare().then(() => {
      this.#isPrepared = true;
    });
    return this.#preparation;
  }

  drain(): void {
    this.#context.isDraining = true;
  }

  close(): void {
    this.#isClosed = true;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #accept(
    entrance: Entrance, request: IncomingMessage, response: ServerResponse,
    awaitsContinue: boolean,
  ): void {
    if (isPipelined(response)) {
      waitForTurn(request, response, () =>
        this.#serve(entrance, request, response, awaitsContinue));
    } else {
      this.#serve(entrance, request, response, awaitsContinue);
    }
  }

  #serve(
    entrance: Entrance, request: IncomingMessage, response: ServerResponse,
    awaitsContinue: boolean,
  ): void {
    const exchange = new this.#Exchange(
      this.#context, this.#unrouted, request, response, this.#resolveRequestId(request), entrance,
    );
    exchange.awaitsContinue = awaitsContinue;
    try {
      const table = entrance === 'control' ? this.#controlTable : this.#publicTable;
      const pending = this.#isPrepared || entrance === 'control' ? this.#route(exchange, table)
        : this.prepare().then(() => this.#route(exchange, table));
      if (pending === undefined) exchange.ensureResponse();
      else this.#finishLater(exchange, pending);
    } catch (thrown) {
      exchange.fail(thrown);
    }
  }

  #finishLater(exchange: HttpExchange, pending: Promise<void>): void {
    this.#underWay?.begin();
    pending.then(() => {
      this.#underWay?.end();
      exchange.ensureResponse();
    }, (thrown: unknown) => {
      this.#underWay?.end();
      exchange.fail(thrown);
    });
  }

  #route(exchange: HttpExchange, table: RouteTable): void | Promise<void> {
    splitTarget(exchange);
    if (this.#isClosed || (this.#context.isDraining && exchange.entrance === 'embedded')) {
      throw new AppError('unavailable', 'this service is closed');
    }
    const { path } = exchange;
    const endpoint = table.router.find(exchange.request.method ?? '', path, exchange.params);
    if (endpoint !== undefined) exchange.endpoint = endpoint;
    const isServed = endpoint !== undefined;
    this.#readConsistency?.assertNotReloading(exchange);
    if (this.#guard?.admit(exchange, isServed, table.allowedMethods) === true) return undefined;
    if (!isServed) return respondUnrouted(exchange, table.allowedMethods(path));
    const { route } = endpoint;
    if (exchange.search !== '') checkQuery(route, exchange.search);
    const readable = this.#readConsistency?.waitUntilReadable(exchange) ?? null;
    return readable === null ? route.handle(exchange)
      : readable.then(() => route.handle(exchange));
  }

  #resolveRequestId(request: IncomingMessage): string {
    const callersId = readRequestId(request);
    if (callersId !== null) return callersId;
    this.#requestCount += 1;
    this.#idPrefix ??= `${loadCrypto().randomBytes(6).toString('hex')}-`;
    return this.#idPrefix + this.#requestCount;
  }
}

type RouteTable = {
  readonly router: Router<Endpoint>;
  readonly allowedMethods: AllowedMethods;
};

/** Every GET route serves HEAD too. */
function createTable(routes: readonly HttpRoute[], metrics: Metrics): RouteTable {
  const router = new Router(routes.flatMap((route) => {
    const value = { route, meter: metrics.meter(route.path) };
    const entry = { method: route.method, path: route.path, value };
    return route.method === 'GET' ? [entry, { ...entry, method: 'HEAD' }] : [entry];
  }));
  const allowedMethods = (path: string): readonly string[] => {
    if (path === '*') return SERVER_METHODS;
    const methods = router.listMethods(path);
    return methods.length === 0 ? methods : [...methods, 'OPTIONS'].sort();
  };
  return { router, allowedMethods };
}

// What `OPTIONS *` is answered with.
const SERVER_METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** Refuses any parameter where the route knows none; others are looked at by the route. */
function checkQuery({ path, parameters = [] }: HttpRoute, search: string): void {
  const takesQuery = parameters.some((parameter) => parameter.in === 'query');
  if (path.startsWith('/api/') && !takesQuery) parseQuery(search, []);
}

function respondUnrouted(exchange: HttpExchange, allow: readonly string[]): void {
  const { path, request: { method = '' } } = exchange;
  // Only now, so that who may not come in is told that first.
  if (!isDecodable(path)) throw new AppError('malformed', 'the path holds a bad percent-encoding');
  if (allow.length === 0) throw new AppError('not_found', `there is nothing at ${path}`);
  if (method === 'OPTIONS') {
    exchange.send(204, ['Allow', allow.join(', ')]);
    return;
  }
  throw new AppError('method_not_allowed', `${path} does not take ${method}`, { allow });
}
