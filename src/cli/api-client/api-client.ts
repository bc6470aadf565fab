/**
 * How a command calls the API. The same requests reach the same routes in three ways: through a
 * server's control socket, over the network, or within this process. In the third the client has
 * opened the data directory itself, and `close` closes it.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { callApi, callApiAnyStatus, openResponse } from '../../server/local/api-call.ts';
import type { ApiResponse, ApiCall, ApiTarget } from '../../server/local/api-call.ts';

export interface ApiClient {
  /** False where this process has opened the data directory itself. */
  readonly hasServer: boolean;
  /** Whether its calls come over the network, so that the server sees an address of ours. */
  readonly isOverNetwork: boolean;
  /** Throws the AppError that a problem response stands for. */
  request(call: ApiCall): Promise<ApiResponse>;
  /** Resolves with the response whatever its status. A 503 is one as well: it is not repeated. */
  requestAnyStatus(call: ApiCall): Promise<ApiResponse>;
  /** Resolves with the response before its body has arrived. Throws as `request`. */
  stream(call: ApiCall): Promise<IncomingMessage>;
  /** Idempotent. */
  close(): Promise<void>;
}

export type ApiClientOptions = {
  readonly clock: Clock;
  readonly hasServer: boolean;
  readonly isOverNetwork?: boolean;
  /** Called once when a request has to wait, with the reason. */
  onWait?(reason: string): void;
  /** Called once. */
  close?(): Promise<void>;
};

// For any 503 with Retry-After: a server that is overloaded for longer is not waited for.
const BUSY_MS_MAX = 120_000;

export function createApiClient(target: ApiTarget, options: ApiClientOptions): ApiClient {
  let closing: Promise<void> | null = null;
  return {
    hasServer: options.hasServer, isOverNetwork: options.isOverNetwork ?? false,
    request: (call) => retryWhileBusy(call, options, () => callApi(target, call)),
    requestAnyStatus: (call) => callApiAnyStatus(target, call),
    stream: (call) => retryWhileBusy(call, options, () => openResponse(target, call)),
    async close() {
      closing ??= options.close?.() ?? Promise.resolve();
      return closing;
    },
  };
}

/**
 * Repeats a GET that is answered 503 with Retry-After, as while a server is overloaded. One that
 * has a signal is wanted soon or not at all.
 */
async function retryWhileBusy<Result>(
  { method, signal }: ApiCall, { clock, onWait }: ApiClientOptions, send: () => Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (thrown) {
      const isBusy = thrown instanceof AppError && thrown.code === 'unavailable';
      const retryAfterS = isBusy ? thrown.details.retryAfterS : undefined;
      if (!isBusy || retryAfterS === undefined) throw thrown;
      if (method !== 'GET' || signal !== undefined) throw thrown;
      const waitedMs = clock.monotonicMs() - startedMs;
      if (waitedMs + retryAfterS * 1000 > BUSY_MS_MAX) {
        const message = `${thrown.message} (waited ${Math.round(waitedMs / 1000)} s)`;
        throw new AppError('unavailable', message, thrown.details, thrown);
      }
      if (attempt === 1) onWait?.(thrown.message);
      await sleep(clock, retryAfterS * 1000);
    }
  }
}
