/**
 * Signals that come before a command listens to them. They end any process but process 1, as a
 * container's first program is: for that one the system has no default, and a stop or a Ctrl-C in
 * its first moments would be lost. Loaded before everything else, and imports nothing.
 */

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FIRST_PROCESS = 1;
// What a shell tells of a process that a signal ended.
const EXIT_BASE = 128;

function endBy(_signal: string, number: number): void {
  process.exit(EXIT_BASE + number);
}

/** Nothing of ours is open yet. */
export function endOnSignals(): void {
  if (process.pid !== FIRST_PROCESS) return;
  for (const signal of SIGNALS) process.on(signal, endBy);
}

/** Called by who listens from now on. */
export function leaveSignals(): void {
  for (const signal of SIGNALS) process.off(signal, endBy);
}
