/**
 * Signals that come before a command handles them. By default they end every process but process 1,
 * the first program of a container: there a stop or a Ctrl-C in the first moments would be lost.
 * Loaded before everything else; imports nothing.
 */

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FIRST_PROCESS = 1;
// As shells report a process that a signal has ended.
const EXIT_BASE = 128;

function endBy(_signal: string, number: number): void {
  process.exit(EXIT_BASE + number);
}

/** Ends process 1 at once on a signal: nothing is open yet. */
export function endOnSignals(): void {
  if (process.pid !== FIRST_PROCESS) return;
  for (const signal of SIGNALS) process.on(signal, endBy);
}

/** Called by the code that handles signals from now on. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.off(signal, endBy);
}
