/**
 * Handles signals for a command that does not handle them itself. By default a signal ends every
 * process except process 1, the first program of a container: there a stop or a Ctrl-C in the first
 * moments would be lost. SIGUSR1 does nothing. Loaded before everything else; imports nothing.
 */

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** A terminal that closes sends SIGHUP. */
const CLEAN_UP_SIGNALS = [...SIGNALS, 'SIGHUP'] as const;
const FIRST_PROCESS = 1;
// The convention of shells for a process that a signal has ended.
const EXIT_CODE_BASE = 128;

function endBySignal(_signal: string, number: number): void {
  process.exit(EXIT_CODE_BASE + number);
}

/**
 * Keeps Node from opening its debugger on SIGUSR1, as it does without a listener: through that port
 * every local user could run code as this process.
 */
export function keepDebuggerClosed(): void {
  process.on('SIGUSR1', () => {});
}

/** Ends process 1 at once on a signal: nothing is open yet. */
export function endOnSignals(): void {
  if (process.pid !== FIRST_PROCESS) return;
  for (const signal of SIGNALS) process.on(signal, endBySignal);
}

/** Called by the code that handles signals from now on. */
export function releaseSignals(): void {
  for (const signal of SIGNALS) process.off(signal, endBySignal);
}

/**
 * Calls `cleanUp` before a signal ends the process; the process still ends by that signal. Returns
 * a function that undoes this.
 */
export function cleanUpOnSignals(cleanUp: () => void): () => void {
  const stopListening = (): void => {
    for (const signal of CLEAN_UP_SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals, number: number): void => {
    stopListening();
    try {
      cleanUp();
    } finally {
      if (process.pid === FIRST_PROCESS) endBySignal(signal, number);
      else process.kill(process.pid, signal);
    }
  };
  for (const signal of CLEAN_UP_SIGNALS) process.on(signal, end);
  releaseSignals();
  return stopListening;
}
