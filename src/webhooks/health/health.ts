/**
 * Judges whether a webhook works, by its tries and by its rejected requests. A try is an attempt of
 * a delivery, or a run of an action. Pure: times are parameters in milliseconds since the epoch; a
 * try has the time at which it began.
 */
import { parseTimestamp } from '../../base/clock.ts';
import type { WebhookDirection } from '../webhook-label.ts';

type HealthState = 'healthy' | 'failing' | 'rejecting';

/** The state as people see it. */
export type PublicState = HealthState | 'off';

/** An outgoing webhook has no requests to reject. */
export const PUBLIC_STATES: Readonly<Record<WebhookDirection, readonly PublicState[]>> = {
  incoming: ['healthy', 'failing', 'rejecting', 'off'],
  outgoing: ['healthy', 'failing', 'off'],
};

export type Failure = {
  readonly atMs: number;
  /** A status, an error code, the message of an action, or the name of a check. */
  readonly reason: string;
};

/** The time through which every attempt of one version of a webhook has failed. */
export type FailurePeriod = {
  /** When the first of these attempts ended, as a time of RFC 3339: so it is stored. */
  readonly since: string;
  /** `updatedAt` of the webhook: a change of the webhook begins a new period. */
  readonly webhookVersion: string;
};

export type Health = {
  readonly failedTries: number;
  /** The time of the first failed try since the last success; null without one. */
  readonly firstFailedMs: number | null;
  /** True until the next success. */
  readonly isFailing: boolean;
  /** Until the next success, for a webhook with `disableAfterHours`. */
  readonly failurePeriod: FailurePeriod | null;
  /** null: most requests pass. */
  readonly rejectingSinceMs: number | null;
  /** The time since which the webhook is, or last was, healthy; null: since its creation. */
  readonly healthySinceMs: number | null;
  readonly lastSuccessMs: number | null;
  readonly lastFailure: Failure | null;
  readonly lastRejection: Failure | null;
};

export const INITIAL_HEALTH: Health = {
  failedTries: 0, firstFailedMs: null, isFailing: false, failurePeriod: null,
  rejectingSinceMs: null, healthySinceMs: null, lastSuccessMs: null, lastFailure: null,
  lastRejection: null,
};

const FAILED_TRIES_MIN = 3;
const REASON_LENGTH_MAX = 200;

/** A webhook that fails and rejects counts as failing. */
export function getState({ isFailing, rejectingSinceMs }: Health): HealthState {
  if (isFailing) return 'failing';
  return rejectingSinceMs === null ? 'healthy' : 'rejecting';
}

/** null: since its creation. */
export function getStateSinceMs(health: Health): number | null {
  if (health.isFailing) return health.firstFailedMs;
  return health.rejectingSinceMs ?? health.healthySinceMs;
}

export function addSuccess(health: Health, atMs: number): Health {
  const lastSuccessMs = Math.max(atMs, health.lastSuccessMs ?? atMs);
  if (health.failedTries === 0 && !health.isFailing) return { ...health, lastSuccessMs };
  const isHealthyNow = health.isFailing && health.rejectingSinceMs === null;
  return {
    ...health, failedTries: 0, firstFailedMs: null, isFailing: false, failurePeriod: null,
    lastSuccessMs,
    healthySinceMs: isHealthyNow ? atMs : health.healthySinceMs,
  };
}

/** `period`, if the webhook has `disableAfterHours`, begins unless an earlier one goes on. */
export function addFailure(
  health: Health, { atMs, reason }: Failure, period?: FailurePeriod,
): Health {
  const failedTries = health.failedTries + 1;
  // A try that began before the last success and ended after it counts as a later failure.
  const firstFailedMs = health.firstFailedMs ?? Math.max(atMs, health.lastSuccessMs ?? atMs);
  return {
    ...health, failedTries, firstFailedMs,
    isFailing: health.isFailing || failedTries >= FAILED_TRIES_MIN,
    failurePeriod: period === undefined ? null : extendFailurePeriod(health.failurePeriod, period),
    // A slow try may be reported after a try that began later.
    lastFailure: selectLater({ atMs, reason: cutReason(reason) }, health.lastFailure),
  };
}

/** A period that begins later than `next` is from before the clock was set back. */
function extendFailurePeriod(period: FailurePeriod | null, next: FailurePeriod): FailurePeriod {
  const isSame = period?.webhookVersion === next.webhookVersion
    && parseTimestamp(period.since) <= parseTimestamp(next.since);
  return isSame ? period : next;
}

/** Adds that the try begun at `atMs`, a counted one, was the last; a later success prevails. */
export function addFinalFailure(health: Health, atMs: number): Health {
  const { firstFailedMs, lastSuccessMs } = health;
  if (health.isFailing || firstFailedMs === null || (lastSuccessMs ?? atMs) > atMs) return health;
  return { ...health, isFailing: true };
}

/** Makes an enabled webhook healthy from then on, unless it fails or rejects. */
export function addEnabling(health: Health, atMs: number): Health {
  return getState(health) === 'healthy' ? { ...health, healthySinceMs: atMs } : health;
}

/** The last checked requests, newest last: the time of a rejected one, null for a passed one. */
export type RequestWindow = readonly (number | null)[];

export const NO_REQUESTS: RequestWindow = [];

const WINDOW_LENGTH = 20;
/** A webhook is rejecting if so many requests of the window, and more than half, were rejected. */
const REJECTED_MIN = 5;
/** A webhook stops rejecting when so many requests in a row have passed. */
const PASSED_MIN = 3;

type RequestEffect = { readonly health: Health; readonly requests: RequestWindow };

export function addPassedRequest(
  health: Health, requests: RequestWindow, atMs: number,
): RequestEffect {
  // The usual case, a full window of passed requests, needs no new window.
  if (requests.length === WINDOW_LENGTH && requests.every((rejectedMs) => rejectedMs === null)) {
    return { health, requests };
  }
  const window = [...requests.slice(1 - WINDOW_LENGTH), null];
  const latest = window.slice(-PASSED_MIN);
  const isOver = health.rejectingSinceMs !== null && latest.length === PASSED_MIN
    && latest.every((rejectedMs) => rejectedMs === null);
  if (!isOver) return { health, requests: window };
  const healthySinceMs = health.isFailing ? health.healthySinceMs : atMs;
  // Earlier rejections must not count again.
  return { health: { ...health, rejectingSinceMs: null, healthySinceMs }, requests: NO_REQUESTS };
}

export function addRejectedRequest(
  health: Health, requests: RequestWindow, rejection: Failure,
): RequestEffect {
  const window = [...requests.slice(1 - WINDOW_LENGTH), rejection.atMs];
  const rejectionTimesMs = window.filter((rejectedMs) => rejectedMs !== null);
  const isRejecting = rejectionTimesMs.length >= REJECTED_MIN
    && rejectionTimesMs.length * 2 > window.length;
  const sinceMs = isRejecting ? rejectionTimesMs[0] ?? null : null;
  return {
    health: {
      ...health, lastRejection: { atMs: rejection.atMs, reason: cutReason(rejection.reason) },
      rejectingSinceMs: health.rejectingSinceMs ?? sinceMs,
    },
    requests: window,
  };
}

/**
 * Merges the health of a webhook as two nodes know it. State and number of failed tries are those
 * of `leading`, whatever the clocks say; the last success, failure and rejection are the later
 * ones.
 */
export function mergeHealth(leading: Health, other: Health): Health {
  const { lastSuccessMs } = leading;
  return {
    ...leading,
    lastSuccessMs: lastSuccessMs === null || other.lastSuccessMs === null
      ? lastSuccessMs ?? other.lastSuccessMs : Math.max(lastSuccessMs, other.lastSuccessMs),
    lastFailure: selectLater(leading.lastFailure, other.lastFailure),
    lastRejection: selectLater(leading.lastRejection, other.lastRejection),
  };
}

export function getLastChangeMs(
  { lastSuccessMs, lastFailure, lastRejection, healthySinceMs }: Health,
): number {
  return Math.max(lastSuccessMs ?? 0, lastFailure?.atMs ?? 0, lastRejection?.atMs ?? 0,
    healthySinceMs ?? 0);
}

function selectLater(left: Failure | null, right: Failure | null): Failure | null {
  if (left === null || right === null) return left ?? right;
  return left.atMs >= right.atMs ? left : right;
}

/** Cuts between characters, never within a surrogate pair. */
function cutReason(text: string): string {
  return text.length <= REASON_LENGTH_MAX ? text : [...text].slice(0, REASON_LENGTH_MAX).join('');
}
