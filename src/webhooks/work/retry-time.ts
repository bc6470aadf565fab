/** When work is attempted again. Pure: time and randomness are parameters. */
import { parseTimestamp, formatTimestamp } from '../../base/clock.ts';

/** Jitter only lengthens a wait: what failed together must not be retried together, or early. */
const JITTER = 0.1;
/** The longest pause that a target may ask for. */
const RETRY_AFTER_MS_MAX = 30 * 24 * 3600 * 1000;

/** `random` is in [0, 1). */
export function jittered(ms: number, random: number): number {
  return ms * (1 + JITTER * random);
}

/**
 * The time of the next attempt after `failures` of them; null when the schedule (the seconds
 * between attempts) is used up. `retryAfterMs` is what the target asks for.
 */
export function nextAttemptTime(
  schedule: readonly number[], failures: number, retryAfterMs: number, nowMs: number,
  random: number,
): string | null {
  const delayS = schedule[failures - 1];
  if (delayS === undefined) return null;
  const waitMs = Math.max(
    jittered(delayS * 1000, random), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
  return formatTimestamp(nowMs + waitMs);
}

/**
 * Milliseconds since the epoch at which work is due, by a clock that stands at `nowMs`. Where that
 * was set back since the wait was written down, what counts is how long it was to be.
 */
export function storedDueMs(
  nextAttemptAt: string | null, writtenAt: string, nowMs: number,
): number {
  const dueAtMs = nextAttemptAt === null ? 0 : parseTimestamp(nextAttemptAt);
  if (dueAtMs <= nowMs) return dueAtMs;
  const writtenAtMs = parseTimestamp(writtenAt);
  // Due before it was written: the clock had been set back by then, and is right about this.
  const isSetBack = writtenAtMs > nowMs && dueAtMs >= writtenAtMs;
  return isSetBack ? nowMs + (dueAtMs - writtenAtMs) : dueAtMs;
}

/** A time after `before`, whatever the clock does: that of the next version of a record. */
export function timeAfter(before: string, nowMs: number): string {
  return formatTimestamp(Math.max(nowMs, parseTimestamp(before) + 1));
}
