/**
 * Whether a webhook works, judged by its tries and by how its requests are admitted. A try is an
 * attempt of a delivery, or a run of an action. Pure: times are parameters, in milliseconds since
 * the epoch; that of a try is when it began.
 */
import type { WebhookDirection } from '../webhook-label.ts';

export type HealthState = 'healthy' | 'failing' | 'rejecting';

/** The state that is shown of a webhook. */
export type PublicState = HealthState | 'off';

/** An outgoing webhook has no requests that it could reject. */
export const PUBLIC_STATES: Readonly<Record<WebhookDirection, readonly PublicState[]>> = {
  incoming: ['healthy', 'failing', 'rejecting', 'off'],
  outgoing: ['healthy', 'failing', 'off'],
};

/** A try that failed, or a request that was refused. */
export type Failure = {
  readonly atMs: number;
  /** A status, the code of an error, the message of an action, or the name of a check. */
  readonly reason: string;
};

export type Health = {
  /** Tries that failed since the last that succeeded. */
  readonly failedTries: number;
  /** When the first of them failed; null when there is none. */
  readonly firstFailedMs: number | null;
  /** Ends with the next success. */
  readonly isFailing: boolean;
  /** Since when most requests are refused; null: they are not. */
  readonly rejectingSinceMs: number | null;
  /** Since when it is healthy, or was last; null: since it was made. */
  readonly healthySinceMs: number | null;
  readonly lastSuccessMs: number | null;
  readonly lastFailure: Failure | null;
  readonly lastRefusal: Failure | null;
};

/** Of a webhook that was never tried. */
export const INITIAL_HEALTH: Health = {
  failedTries: 0, firstFailedMs: null, isFailing: false, rejectingSinceMs: null,
  healthySinceMs: null, lastSuccessMs: null, lastFailure: null, lastRefusal: null,
};

/** So many tries in a row that fail make it failing. */
const FAILED_TRIES_MIN = 3;
const REASON_LENGTH_MAX = 200;

/** Failing counts before rejecting. */
export function getState({ isFailing, rejectingSinceMs }: Health): HealthState {
  if (isFailing) return 'failing';
  return rejectingSinceMs === null ? 'healthy' : 'rejecting';
}

/** Since when it is in its state; null: since the webhook was made. */
export function getStateSinceMs(health: Health): number | null {
  if (health.isFailing) return health.firstFailedMs;
  return health.rejectingSinceMs ?? health.healthySinceMs;
}

export function addSuccess(health: Health, atMs: number): Health {
  const lastSuccessMs = Math.max(atMs, health.lastSuccessMs ?? atMs);
  if (health.failedTries === 0 && !health.isFailing) return { ...health, lastSuccessMs };
  const isHealthyNow = health.isFailing && health.rejectingSinceMs === null;
  return {
    ...health, failedTries: 0, firstFailedMs: null, isFailing: false, lastSuccessMs,
    healthySinceMs: isHealthyNow ? atMs : health.healthySinceMs,
  };
}

export function addFailure(health: Health, { atMs, reason }: Failure): Health {
  const failedTries = health.failedTries + 1;
  // A try that began before the last success and ended after it is one of the row behind that.
  const startMs = Math.max(atMs, health.lastSuccessMs ?? atMs);
  return {
    ...health, failedTries, firstFailedMs: health.firstFailedMs ?? startMs,
    isFailing: health.isFailing || failedTries >= FAILED_TRIES_MIN,
    lastFailure: { atMs, reason: cutText(reason) },
  };
}

/**
 * A delivery, or a request that was answered as accepted, has failed for good with the try that
 * began then, and which is counted already. Nothing changes when one has succeeded since.
 */
export function addFinalFailure(health: Health, atMs: number): Health {
  const { firstFailedMs, lastSuccessMs } = health;
  if (health.isFailing || firstFailedMs === null || (lastSuccessMs ?? atMs) > atMs) return health;
  return { ...health, isFailing: true };
}

/** Somebody has switched it on: it is healthy since then, unless it fails or rejects. */
export function addEnabling(health: Health, atMs: number): Health {
  return getState(health) === 'healthy' ? { ...health, healthySinceMs: atMs } : health;
}

/**
 * The last requests that came to the checks of their sender, the newest last: when each was
 * refused, or null for one that passed.
 */
export type RequestWindow = readonly (number | null)[];

export const NO_REQUESTS: RequestWindow = [];

/** It rejects when so many of the last so many requests, and more than half, are refused. */
const WINDOW_LENGTH = 20;
const REFUSED_MIN = 5;
/** So many in a row that pass end that. */
const PASSED_MIN = 3;

type RequestEffect = { readonly health: Health; readonly requests: RequestWindow };

export function addPassedRequest(
  health: Health, requests: RequestWindow, atMs: number,
): RequestEffect {
  // The usual case.
  if (requests.length === WINDOW_LENGTH && requests.every((refusedMs) => refusedMs === null)) {
    return { health, requests };
  }
  const window = [...requests.slice(1 - WINDOW_LENGTH), null];
  const last = window.slice(-PASSED_MIN);
  const isOver = health.rejectingSinceMs !== null && last.length === PASSED_MIN
    && last.every((refusedMs) => refusedMs === null);
  if (!isOver) return { health, requests: window };
  const healthySinceMs = health.isFailing ? health.healthySinceMs : atMs;
  // What was refused before must not count again.
  return { health: { ...health, rejectingSinceMs: null, healthySinceMs }, requests: NO_REQUESTS };
}

export function addRefusedRequest(
  health: Health, requests: RequestWindow, refusal: Failure,
): RequestEffect {
  const window = [...requests.slice(1 - WINDOW_LENGTH), refusal.atMs];
  const refusalTimesMs = window.filter((refusedMs) => refusedMs !== null);
  const isRejecting = refusalTimesMs.length >= REFUSED_MIN
    && refusalTimesMs.length * 2 > window.length;
  const sinceMs = isRejecting ? refusalTimesMs[0] ?? null : null;
  return {
    health: {
      ...health, lastRefusal: refusal,
      rejectingSinceMs: health.rejectingSinceMs ?? sinceMs,
    },
    requests: window,
  };
}

/**
 * What two nodes know of one webhook: `judged` says in which state it is, whatever the clocks say;
 * what was seen last counts of both.
 */
export function mergeHealth(judged: Health, other: Health): Health {
  const { lastSuccessMs } = judged;
  return {
    ...judged,
    lastSuccessMs: lastSuccessMs === null || other.lastSuccessMs === null
      ? lastSuccessMs ?? other.lastSuccessMs : Math.max(lastSuccessMs, other.lastSuccessMs),
    lastFailure: laterFailure(judged.lastFailure, other.lastFailure),
    lastRefusal: laterFailure(judged.lastRefusal, other.lastRefusal),
  };
}

/** When it last changed, as far as people see it. */
export function getLastChangeMs(
  { lastSuccessMs, lastFailure, lastRefusal, healthySinceMs }: Health,
): number {
  return Math.max(lastSuccessMs ?? 0, lastFailure?.atMs ?? 0, lastRefusal?.atMs ?? 0,
    healthySinceMs ?? 0);
}

function laterFailure(left: Failure | null, right: Failure | null): Failure | null {
  if (left === null || right === null) return left ?? right;
  return left.atMs >= right.atMs ? left : right;
}

/** By whole characters. */
function cutText(text: string): string {
  return text.length <= REASON_LENGTH_MAX ? text : [...text].slice(0, REASON_LENGTH_MAX).join('');
}
