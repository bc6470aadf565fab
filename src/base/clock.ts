/** Makes time a parameter, so that tests run through weeks of schedule in milliseconds. */
import { setMaxListeners } from 'node:events';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall-clock time in milliseconds since the epoch; may step back. */
  now(): number;
  /** Milliseconds from an arbitrary start; never steps back. For durations and deadlines. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`, which is capped at what the timer can hold (24.8 days). */
  startTimer(delayMs: number, run: () => void): Timer;
}

/** The longest wait that a setting or a webhook may ask for: a timer holds a little more. */
export const TIMER_SECONDS_MAX = 2_000_000;

const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // `performance` is as fast, but its modules take 0.3 MB of an idle server.
  monotonicMs() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  startTimer(delayMs, run) {
    const handle = setTimeout(run, Math.min(Math.max(delayMs, 0), TIMER_MS_MAX));
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs` on the given clock, or as soon as `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  // Many may sleep until one signal aborts, and Node warns above ten listeners.
  if (signal !== undefined) setMaxListeners(0, signal);
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.startTimer(delayMs, end);
    signal?.addEventListener('abort', end);
  });
}

/**
 * Resolves with true when `promise` resolves within `timeoutMs`, and with false when it takes
 * longer. Rejects if `promise` rejects in time.
 */
export function endsInTime(
  clock: Clock, timeoutMs: number, promise: Promise<unknown>,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = clock.startTimer(timeoutMs, () => resolve(false));
    promise.then(() => resolve(true), reject).finally(() => timer.cancel());
  });
}

let lastMs = NaN;
let lastText = '';

/**
 * RFC 3339 in UTC with milliseconds. The last text is cached: records that are written together
 * mostly have the same time, and formatting it costs as much as a look-up of a record.
 */
export function formatTimestamp(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

export function formatTimestampOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTimestamp(ms);
}

let lastSecond = NaN;
let lastDate = '';

/** An HTTP date (RFC 9110 §5.6.7). The last date is cached, as in `formatTimestamp`. */
export function formatHttpDate(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastDate = new Date(ms).toUTCString();
    lastSecond = second;
  }
  return lastDate;
}

let lastParsedText = '';
let lastParsedMs = NaN;

/** Milliseconds of a text of `formatTimestamp`, which caches the last text, as this does. */
export function parseTimestamp(text: string): number {
  if (text !== lastParsedText) {
    lastParsedMs = Date.parse(text);
    lastParsedText = text;
  }
  return lastParsedMs;
}
