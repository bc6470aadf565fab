/** Computes when an item is attempted again. Pure: time and randomness are parameters. */
import { parseTimestamp, formatTimestamp } from '../../base/clock.ts';
import { SET_BACK_MS_MIN } from './due-times.ts';

/** Only lengthens a wait, so that attempts that failed together do not return together. */
const JITTER = 0.1;
const RETRY_AFTER_MS_MAX = 30 * 24 * 3600 * 1000;

export function addJitter(ms: number, random: number): number {
  return ms * (1 + JITTER * random);
}

/**
 * Computes when the attempt after `failures` failed ones is due; null: the schedule is used up.
 * `schedule` has the seconds between attempts, `retryAfterMs` is the target's wish, and `random` is
 * in [0, 1).
 */
export function computeNextAttemptTime(
  schedule: readonly number[], failures: number, retryAfterMs: number, nowMs: number,
  random: number,
): string | null {
  const delayS = schedule[failures - 1];
  if (delayS === undefined) return null;
  const waitMs = Math.max(
    addJitter(delayS * 1000, random), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
  return formatTimestamp(nowMs + waitMs);
}

/**
 * Computes when an item is due by a clock that shows `nowMs`. If that clock was set back after
 * `writtenAt`, the wait keeps the length it had then. `writtenAt` is the time of a version, which
 * may be a few milliseconds ahead of the clock.
 */
export function computeDueMs(
  nextAttemptAt: string | null, writtenAt: string, nowMs: number,
): number {
  const dueAtMs = nextAttemptAt === null ? 0 : parseTimestamp(nextAttemptAt);
  if (dueAtMs <= nowMs) return dueAtMs;
  const writtenAtMs = parseTimestamp(writtenAt);
  // An item due before it was written was written by a clock set back already: no correction.
  const isSetBack = writtenAtMs > nowMs + SET_BACK_MS_MIN && dueAtMs >= writtenAtMs;
  return isSetBack ? nowMs + (dueAtMs - writtenAtMs) : dueAtMs;
}

/** The time of a record's next version: later than `before`, even if the clock was set back. */
export function nextVersionTime(before: string, nowMs: number): string {
  return formatTimestamp(Math.max(nowMs, parseTimestamp(before) + 1));
}
