/**
 * Finds the route of each request, lets the guard check the request, calls the route's handler, and
 * converts the errors that it throws to responses. One dispatcher serves any number of servers: on
 * a port, on the control socket, over a pipe in memory, or another program's that it is mounted in.
 *
 * Pipelined requests (RFC 9112 §9.3.2) arrive on a connection before earlier ones have their
 * response. They are served in order, one in each turn of the event loop, so that a connection
 * holds at most one response and cannot keep others waiting. While requests wait, nothing more is
 * read from their connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { MemoryBudget } from '../../base/memory-budget.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { RateLimitedLog } from '../../base/rate-limited-log.ts';
import type { InFlightCounter } from '../../base/in-flight-counter.ts';
import { createClientAddressResolver } from '../exchange/client-address.ts';
import type { TrustProxy } from '../exchange/client-address.ts';
import { HttpExchange } from '../exchange/http-exchange.ts';
import type { Endpoint, ExchangeContext } from '../exchange/http-exchange.ts';
import { announcesBody, splitTarget } from '../exchange/request-head.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ResponseBatcher } from '../exchange/whole-response.ts';
import { parseQuery } from '../query.ts';
import type { Entrance, HttpRoute } from '../http-route.ts';
import { ANY, Router, isDecodable } from './router.ts';

/** Checks requests before they are served. */
export interface Guard {
  /**
   * Throws the error to respond with. `hasRoute`: an HTTP route has the path and the method.
   * `responded`: the guard has responded itself (to a browser's preflight), so no handler may.
   */
  admit(
    exchange: HttpExchange, hasRoute: boolean, allowedMethods: AllowedMethods,
  ): GuardOutcome;
}

export type GuardOutcome = 'admitted' | 'responded';

/** The methods of a path; empty when the path is unknown. */
export type AllowedMethods = (path: string) => readonly string[];

/** The rules of serving while several processes share one store. */
export interface ReadConsistency {
  /** The class of exchanges that follow these rules. */
  readonly Exchange: typeof HttpExchange;
  /** Throws `unavailable` while the request cannot be served. */
  assertNotReloading(exchange: HttpExchange): void;
  /** Resolves when the request may be served; null: at once. Throws `unavailable`, `malformed`. */
  waitUntilReadable(exchange: HttpExchange): Promise<void> | null;
  /** The route as the OpenAPI document shows it. */
  describeRoute(route: HttpRoute): HttpRoute;
}

type DispatcherOptions = {
  readonly routes: readonly HttpRoute[];
  /** null: everybody may call everything. */
  readonly guard: Guard | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Counts the requests whose handlers return a promise. */
  readonly inFlight?: InFlightCounter;
  readonly bodyBytesMax: number;
  /** Absent: bodies that are still arriving may take 256 MiB. */
  readonly memoryBudget?: MemoryBudget;
  readonly accessLog: 'all' | 'errors' | 'off';
  readonly trustProxy: TrustProxy;
  /** Absent while this process alone has the store. */
  readonly readConsistency?: ReadConsistency | null;
  /** The beginning of links in responses, without a slash at its end; without it they are paths. */
  readonly baseUri?: string | null;
  /** Readers that take nothing for so long are cut; default 30 s. */
  readonly stallMs?: number;
  /** Streamed bodies of which nothing arrives for so long are cut; default `stallMs`. */
  readonly bodyStallMs?: number;
  /**
   * Called once. Requests from outside are served only after its end; it never rejects. The app
   * stores here that an API token is configured.
   */
  readonly prepare?: () => Promise<void>;
};

export type { Entrance };

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Counts a response that no route has sent; `method` may be unknown. */
export type CountRejection = (method: string, status: number) => void;

/** Listeners for the events of a `node:http` server. */
export type RequestListeners = {
  readonly request: RequestListener;
  /** For clients that wait for `100 Continue`. */
  readonly checkContinue: RequestListener;
  /** To be called for responses to input that never became a request: no event does that. */
  readonly countRejection: CountRejection;
};

const STALL_MS = 30_000;

const UNROUTED_ROUTE: HttpRoute = {
  method: ANY, path: 'unmatched', operationId: 'unmatched', summary: '', access: 'public',
  responses: [], handle() {},
};

export class Dispatcher {
  readonly #context: ExchangeContext;
  readonly #guard: Guard | null;
  readonly #inFlight: InFlightCounter | undefined;
  readonly #readConsistency: ReadConsistency | null;
  readonly #Exchange: typeof HttpExchange;
  readonly #publicTable: RouteTable;
  readonly #controlTable: RouteTable;
  readonly #unrouted: Endpoint;
  /** Unique among the processes that share a log; drawn at the first request. */
  #idPrefix: string | null = null;
  #requestCount = 0;
  #isClosed = false;
  /** The option `prepare`; null after its end, and without the option. */
  #prepare: (() => Promise<void>) | null;
  /** The only run of `#prepare`; null until that begins. */
  #preparation: Promise<void> | null = null;

  constructor(options: DispatcherOptions) {
    const stallMs = options.stallMs ?? STALL_MS;
    const { clock, logger } = options;
    const batcher = new ResponseBatcher({ stallMs, clock, logger });
    const resolveClientAddress = createClientAddressResolver(options.trustProxy);
    const { bodyStallMs = stallMs } = options;
    const { memoryBudget = new MemoryBudget() } = options;
    // Exchanges read the limits, the clock and the log from the options themselves.
    this.#context = {
      ...options, stallMs, bodyStallMs, memoryBudget, batcher, resolveClientAddress,
      isDraining: false,
      failureLog: new RateLimitedLog(clock, (leftOut) =>
        logger.error('more requests failed', { leftOut })),
    };
    this.#guard = options.guard;
    this.#inFlight = options.inFlight;
    this.#readConsistency = options.readConsistency ?? null;
    this.#Exchange = options.readConsistency?.Exchange ?? HttpExchange;
    const open = options.routes.filter((route) => route.access !== 'control');
    this.#publicTable = createTable(open, options.metrics);
    this.#controlTable = createTable(options.routes, options.metrics);
    this.#unrouted = createEndpoint(UNROUTED_ROUTE, options.metrics);
    this.#prepare = options.prepare ?? null;
  }

  listeners(entrance: Entrance): RequestListeners {
    return {
      request: (request, response) => this.#serve(entrance, request, response, false),
      checkContinue: (request, response) => this.#serve(entrance, request, response, true),
      countRejection: (method, status) => this.#unrouted.meter.record(method, status, null),
    };
  }

  /**
   * Runs the option `prepare`, once. The first request from outside starts it too, and all requests
   * wait for its end but those on the control socket.
   */
  prepare(): Promise<void> {
    this.#preparation ??= this.#runPreparation();
    return this.#preparation;
  }

  async #runPreparation(): Promise<void> {
    await this.#prepare?.();
    this.#prepare = null;
  }

  /**
   * From now on every response closes its connection, and requests from another program's server
   * get a 503.
   */
  drain(): void {
    this.#context.isDraining = true;
  }

  /** From now on every request gets a 503. */
  close(): void {
    this.#isClosed = true;
    this.#context.failureLog.close();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #serve(
    entrance: Entrance, request: IncomingMessage, response: ServerResponse,
    awaitsContinue: boolean,
  ): void {
    // Pipelined: Node gives a response its connection when those before it are sent.
    if (response.socket === null) {
      waitForTurn(request, response, () =>
        this.#serve(entrance, request, response, awaitsContinue));
      return;
    }
    const exchange = new this.#Exchange(
      this.#context, this.#unrouted, request, response, this.#resolveRequestId(request), entrance,
    );
    exchange.awaitsContinue = awaitsContinue;
    try {
      const table = exchange.isControl ? this.#controlTable : this.#publicTable;
      const mayRoute = this.#prepare === null || exchange.isControl;
      const pending = mayRoute ? this.#route(exchange, table)
        : this.prepare().then(() => this.#route(exchange, table));
      if (pending === undefined) exchange.ensureResponse();
      else this.#finishLater(exchange, pending);
    } catch (thrown) {
      exchange.fail(thrown);
    }
  }

  #finishLater(exchange: HttpExchange, pending: Promise<void>): void {
    this.#inFlight?.begin();
    pending.then(() => {
      this.#inFlight?.end();
      exchange.ensureResponse();
    }, (thrown: unknown) => {
      this.#inFlight?.end();
      exchange.fail(thrown);
    });
  }

  #route(exchange: HttpExchange, table: RouteTable): void | Promise<void> {
    const { path, search } = splitTarget(exchange.request);
    exchange.path = path;
    exchange.search = search;
    // A listener of our own is closed by its owner; another program's server goes on accepting.
    if (this.#isClosed || (this.#context.isDraining && exchange.entrance === 'embedded')) {
      throw new AppError('unavailable', 'this service is closed');
    }
    const endpoint = table.router.find(exchange.request.method ?? '', path, exchange.params);
    if (endpoint !== undefined) exchange.endpoint = endpoint;
    const hasRoute = endpoint !== undefined;
    // This comes before the guard, which reads stored tokens: a reload may lack some of them.
    this.#readConsistency?.assertNotReloading(exchange);
    const admission = this.#guard?.admit(exchange, hasRoute, table.allowedMethods);
    if (admission === 'responded') return undefined;
    if (!hasRoute) return respondUnrouted(exchange, table.allowedMethods(path));
    const { route } = endpoint;
    if (search !== '' && endpoint.refusesQuery) parseQuery(search, []);
    // This comes after the guard: only permitted callers make this node wait for other nodes.
    const readable = this.#readConsistency?.waitUntilReadable(exchange) ?? null;
    if (endpoint.refusesBody && announcesBody(exchange.request)) {
      return exchange.checkEmptyBody().then(() => readable).then(() => route.handle(exchange));
    }
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
    const value = createEndpoint(route, metrics);
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

// The response to `OPTIONS *`.
const SERVER_METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/**
 * A route of the API without parameters in the query refuses any query; routes with parameters
 * check theirs. A route of the API that changes something and takes no body refuses a body that
 * says anything: the route would do more than its caller asks for. Pages and incoming webhooks take
 * any query: other programs write the links to them.
 */
function createEndpoint(route: HttpRoute, metrics: Metrics): Endpoint {
  const { path, method, body, parameters = [] } = route;
  const takesQuery = parameters.some((parameter) => parameter.in === 'query');
  const isOfApi = path.startsWith('/api/');
  return {
    route, meter: metrics.meter(path), refusesQuery: isOfApi && !takesQuery,
    refusesBody: isOfApi && method !== 'GET' && body === undefined,
  };
}

function respondUnrouted(exchange: HttpExchange, allow: readonly string[]): void {
  const { path, request: { method = '' } } = exchange;
  // Checked after the guard, so that callers without access learn nothing else.
  if (!isDecodable(path)) throw new AppError('malformed', 'the path holds a bad percent-encoding');
  if (allow.length === 0) throw new AppError('not_found', `there is nothing at ${path}`);
  if (method === 'OPTIONS') {
    exchange.send(204, ['Allow', allow.join(', ')]);
    return;
  }
  throw new AppError('method_not_allowed', `${path} does not take ${method}`, { allow });
}

/** Calls `serve` when it is the request's turn, and never if its connection closes before. */
function waitForTurn(
  request: IncomingMessage, response: ServerResponse, serve: () => void,
): void {
  const { socket } = request;
  const queue = queues.get(socket) ?? { waiting: 0, isPausing: false };
  queues.set(socket, queue);
  queue.waiting += 1;
  if (!queue.isPausing) {
    queue.isPausing = true;
    // In the next tick: at the end of a request Node resumes the connection.
    process.nextTick(() => {
      queue.isPausing = false;
      if (queue.waiting > 0) socket.pause();
    });
  }
  response.once('socket', () => {
    queue.waiting -= 1;
    if (queue.waiting === 0) socket.resume();
    setImmediate(() => {
      if (!socket.destroyed) serve();
    });
  });
}

type PipelineQueue = { waiting: number; isPausing: boolean };

const queues = new WeakMap<Socket, PipelineQueue>();

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The id that the client has chosen for the request, so that it is found in our log; null without
 * one, and for one that is unfit for a log.
 */
export function readRequestId(request: IncomingMessage): string | null {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && REQUEST_ID_PATTERN.test(id) ? id : null;
}
