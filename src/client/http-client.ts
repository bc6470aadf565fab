/**
 * The HTTP client that the whole program shares, on node:http, node:net and node:tls alone:
 * deadlines, kept-alive connections, a proxy, a list of denied addresses, retries. Redirects are
 * never followed: the caller gets the 3xx response. A message or log line shows no more of a URL
 * than its host and port.
 */
import type { SecureContext } from 'node:tls';
import { RateLimitedLog } from '../base/rate-limited-log.ts';
import type { Clock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import type { ClientCertificate, GetCertificateContext } from './client-certificate.ts';
import type { HttpOutcome, PreparedRequest } from './http-attempt.ts';
import { HttpCall } from './http-call.ts';
import { checkMethod, encodeBody, encodeHeaders } from './request-encoding.ts';
import type { OutgoingBody, RequestHeaders } from './request-encoding.ts';
import { HttpResponse } from './http-response.ts';
import { canceledError, closedError, deniedError } from './network-error.ts';
import { Pool } from './connection/pool.ts';
import type { PoolOptions, PoolStatistics } from './connection/pool.ts';
import type { Lookup } from './connection/resolve.ts';
import { createConnectionRules } from './connection-rules.ts';
import type { ConnectionOptions } from './connection-rules.ts';
import type { Destination, GetTarget } from './policy/request-target.ts';

export type HttpClientOptions = ConnectionOptions & {
  /** The deadline of one whole attempt, the wait for a free connection included. */
  readonly timeoutMs: number;
  /** The deadline of all attempts and waits of a call; a wait that would pass it is not begun. */
  readonly totalTimeoutMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly maxSocketsPerHost: number;
  readonly idleTimeoutMs?: number;
};

export type HttpRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers?: RequestHeaders;
  /** Sent byte for byte, with Content-Length; text in UTF-8. */
  readonly body?: OutgoingBody | undefined;
  readonly timeoutMs?: number | undefined;
  readonly totalTimeoutMs?: number | undefined;
  /** 0: a single attempt. */
  readonly retries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The certificate that is shown to a target with TLS; absent: none. */
  readonly clientCertificate?: ClientCertificate | undefined;
};

export type ClientStatistics = {
  readonly calls: number;
  readonly attempts: number;
  readonly failures: number;
  readonly hosts: readonly PoolStatistics[];
};

export type HttpClientPorts = {
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly lookup?: Lookup;
};

export interface HttpClient {
  /**
   * Resolves to the response, whatever its status, after the last attempt. Rejects with
   * NetworkError and nothing else when there is none.
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  statistics(): ClientStatistics;
  /** Ends what is under way and closes every connection; idempotent. */
  close(): Promise<void>;
}

const IDLE_TIMEOUT_MS = 15_000;
const POOLS_MAX = 1000;

/** Throws AppError `usage` for a proxy, noProxy or denyAddresses that cannot be read. */
export function createHttpClient(options: HttpClientOptions, ports: HttpClientPorts): HttpClient {
  return new NodeHttpClient(options, ports);
}

class NodeHttpClient implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #getTarget: GetTarget;
  readonly #poolOptions: PoolOptions;
  readonly #getCertificateContext: GetCertificateContext;
  readonly #pools = new Map<string, Pool>();
  // Calls between two attempts; those in an attempt are found through their pool. One Set of all
  // calls, which changes with every request, kept garbage alive: collecting it took a fifth of the
  // time.
  readonly #waitingCalls = new Set<HttpCall>();
  readonly #counts = { calls: 0, attempts: 0, failures: 0 };
  readonly #proxyFailures: RateLimitedLog;
  #isClosed = false;

  constructor(options: HttpClientOptions, ports: HttpClientPorts) {
    this.#options = options;
    this.#clock = ports.clock;
    this.#logger = ports.logger ?? silentLogger;
    this.#proxyFailures = new RateLimitedLog(ports.clock, (leftOut) =>
      this.#logger.warning('the proxy failed for more calls', { leftOut }));
    const { getTarget, connecting, getCertificateContext } = createConnectionRules(options, ports);
    this.#getTarget = getTarget;
    this.#getCertificateContext = getCertificateContext;
    this.#poolOptions = {
      ...connecting,
      socketsMax: options.maxSocketsPerHost,
      idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    };
  }

  request(request: HttpRequest): Promise<HttpResponse> {
    // An error that is thrown in here rejects the promise.
    return new Promise((resolve, reject) => {
      const preparedRequest = this.#prepare(request);
      const { signal } = request;
      const { pool } = preparedRequest;
      const call = new HttpCall(preparedRequest, this.#callOptions(request), (outcome) => {
        pool.callsUnderWay -= 1;
        signal?.removeEventListener('abort', onAbort);
        this.#count(call, outcome);
        if (outcome instanceof HttpResponse) resolve(outcome);
        else reject(outcome);
      });
      const onAbort = (): void => call.abandon(abortedError(signal));
      signal?.addEventListener('abort', onAbort);
      pool.callsUnderWay += 1;
      call.start();
    });
  }

  statistics(): ClientStatistics {
    const hosts = [...this.#pools.values()].filter(({ isEmpty }) => !isEmpty)
      .map(({ statistics }) => statistics);
    return { ...this.#counts, hosts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#proxyFailures.close();
    for (const call of [...this.#waitingCalls]) call.abandon(closedError());
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #prepare(
    { method, url, headers = {}, body, signal, clientCertificate }: HttpRequest,
  ): PreparedRequest {
    if (this.#isClosed) throw closedError();
    if (signal?.aborted === true) throw abortedError(signal);
    const target = this.#getTarget(url);
    if (target.destination.isDenied) throw deniedError();
    const upperCaseMethod = checkMethod(method);
    const bytes = encodeBody(body);
    return {
      pool: this.#getOrCreatePool(target.destination, clientCertificate),
      method: upperCaseMethod,
      path: target.path,
      headers: encodeHeaders(target, upperCaseMethod, headers, bytes),
      body: bytes,
    };
  }

  #callOptions(request: HttpRequest): ConstructorParameters<typeof HttpCall>[1] {
    const { timeoutMs, retries, retryDelayMs, totalTimeoutMs } = this.#options;
    return {
      clock: this.#clock,
      logger: this.#logger,
      timeoutMs: request.timeoutMs ?? timeoutMs,
      policy: {
        retries: request.retries ?? retries,
        delayMs: retryDelayMs,
        totalTimeoutMs: request.totalTimeoutMs ?? totalTimeoutMs,
      },
      waitingCalls: this.#waitingCalls,
    };
  }

  // The proxy is the same for all requests of this client, and TLS but for the certificate that is
  // shown: scheme, host and certificate suffice.
  #getOrCreatePool(
    destination: Destination, clientCertificate: ClientCertificate | undefined,
  ): Pool {
    const { isTls, authority } = destination;
    const context = isTls && clientCertificate !== undefined
      ? this.#getCertificateContext(clientCertificate) : null;
    const origin = isTls ? `https://${authority}` : `http://${authority}`;
    const key = context === null ? origin : `${origin} ${context.poolKey}`;
    return this.#pools.get(key) ?? this.#createPool(key, destination, context?.secureContext);
  }

  #createPool(key: string, destination: Destination, targetContext?: () => SecureContext): Pool {
    // A pool has the private key of its certificate, which is not to stay long after its last use.
    if (targetContext !== undefined || this.#pools.size >= POOLS_MAX) this.#dropEmptyPools();
    const pool = new Pool(destination, { ...this.#poolOptions, targetContext });
    this.#pools.set(key, pool);
    return pool;
  }

  #dropEmptyPools(): void {
    for (const [key, pool] of this.#pools) {
      if (pool.isEmpty) this.#pools.delete(key);
    }
  }

  #count(call: HttpCall, outcome: HttpOutcome): void {
    this.#counts.calls += 1;
    this.#counts.attempts += call.attemptCount;
    if (outcome instanceof HttpResponse) return;
    this.#counts.failures += 1;
    if (outcome.kind !== 'proxy' && !outcome.isProxyFailure) return;
    const { authority } = call.destination;
    this.#proxyFailures.warning({ log: this.#logger }, 'the proxy failed', {
      host: authority, status: outcome.proxyStatusCode, reason: outcome.message,
    });
  }
}

function abortedError(signal: AbortSignal | undefined): ReturnType<typeof canceledError> {
  return canceledError('the request was canceled', signal?.reason);
}
