/** What every test of the client needs: a client, its counted timers, and a last look around. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createHttpClient } from '../../src/client/http-client.ts';
import type {
  HttpClient, HttpClientOptions, HttpClientPorts, HttpRequest,
} from '../../src/client/http-client.ts';
import { NetworkError } from '../../src/client/network-error.ts';

/** Every timer that neither ran nor was cancelled is counted. */
export class CountedClock implements Clock {
  timers = 0;
  started = 0;
  readonly #inner: Clock;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  now(): number {
    return this.#inner.now();
  }

  monotonicMs(): number {
    return this.#inner.monotonicMs();
  }

  startTimer(delayMs: number, run: () => void): { cancel(): void } {
    let isPending = true;
    const settle = (): void => {
      if (isPending) this.timers -= 1;
      isPending = false;
    };
    this.timers += 1;
    this.started += 1;
    const timer = this.#inner.startTimer(delayMs, () => {
      settle();
      run();
    });
    return {
      cancel() {
        settle();
        timer.cancel();
      },
    };
  }
}

export type Leaky = {
  /** Resolves when no connection is open, rejects when one stays. */
  drained(): Promise<void>;
  close(): Promise<void>;
};

/** A single attempt, and deadlines that do not come into play, on a busy machine either. */
export const OPTIONS: HttpClientOptions = {
  timeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  totalTimeoutMs: 60_000,
  retries: 0,
  retryDelayMs: 1,
  maxSocketsPerHost: 64,
  verify: true,
  proxy: null,
  noProxy: [],
  denyAddresses: [],
};

/**
 * A client that the end of the test closes, and holds to account: no connection at any of
 * `servers`, no timer, no call under way.
 */
export function setUp(
  context: TestContext, servers: readonly Leaky[], options: Partial<HttpClientOptions> = {},
  ports: Partial<HttpClientPorts> = {},
): { readonly client: HttpClient; readonly clock: CountedClock } {
  const clock = new CountedClock(ports.clock ?? systemClock);
  const client = createHttpClient({ ...OPTIONS, ...options }, { ...ports, clock });
  context.after(async () => {
    try {
      await client.close();
      for (const server of servers) await server.drained();
      assert.equal(clock.timers, 0, 'timers left');
      assert.deepEqual(client.statistics().hosts, [], 'connections or calls left');
    } finally {
      for (const server of servers) await server.close();
    }
  });
  return { client, clock };
}

/** The error that a request must end with. */
export async function failure(client: HttpClient, request: HttpRequest): Promise<NetworkError> {
  try {
    await client.request(request);
  } catch (error) {
    assert.ok(error instanceof NetworkError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'the request got an answer' });
}
