/** Decides when to try again. Pure: time comes in as a parameter. */
import { PROXY_AUTHENTICATION_REQUIRED } from '../network-error.ts';
import type { NetworkError, NetworkErrorKind } from '../network-error.ts';

export type RetryPolicy = {
  /** Further attempts after the first. */
  readonly retries: number;
  readonly delayMs: number;
  /** For all attempts and waits together. */
  readonly totalTimeoutMs: number;
};

const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const TRANSIENT_KINDS: ReadonlySet<NetworkErrorKind> = new Set(['network', 'timeout', 'proxy']);

export function isTransientStatus(statusCode: number): boolean {
  return TRANSIENT_STATUSES.has(statusCode);
}

/** Whether another attempt may succeed. A bad certificate, for one, would only fail again. */
export function isTransientError(error: NetworkError): boolean {
  return TRANSIENT_KINDS.has(error.kind)
    && error.proxyStatusCode !== PROXY_AUTHENTICATION_REQUIRED;
}

/**
 * Milliseconds to wait before the next attempt, or null when there is to be none: attempts are used
 * up, or the wait would reach the end of the total time. `retryAfterMs` is what the server asked
 * for; it only ever lengthens the delay.
 */
export function nextDelayMs(
  attempts: number, elapsedMs: number, retryAfterMs: number | null, policy: RetryPolicy,
): number | null {
  if (attempts > policy.retries) return null;
  const delayMs = Math.max(policy.delayMs, retryAfterMs ?? 0);
  return elapsedMs + delayMs < policy.totalTimeoutMs ? delayMs : null;
}

/**
 * A Retry-After value (RFC 9110 §10.2.3), whole seconds or an HTTP date, as milliseconds from
 * `nowMs`; a date in the past is 0. Null when absent or neither.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // All three forms of RFC 9110 §5.6.7 begin with a weekday; Date.parse alone takes far more.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return null;
  const atMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
