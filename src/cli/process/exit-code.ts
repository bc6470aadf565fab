/** Exit codes, and how a process ends that listens to signals. */
import { hasLiveThreads } from '../../base/live-threads.ts';

export const EXIT_FAILED = 1;
/** The command line or the settings are wrong. */
export const EXIT_USAGE = 2;
/** Nothing failed, and something is left to do: changes to apply, or to make by hand. */
export const EXIT_PENDING = 3;
/** A server does not start, as the data is damaged or of another version. */
export const EXIT_DAMAGED = 4;

// Long enough to set the exit code and to write the rest of the output.
const DELAY_MS = 20;

/**
 * Ends a process that is done, with `process.exitCode`, while it still listens to signals. Node
 * itself would remove the signal handlers while it shuts down, and a second SIGTERM would end the
 * process by signal.
 */
export function exitSoon(): void {
  setTimeout(exitNow, DELAY_MS);
}

/**
 * Ends the process at once. A thread that may be held up in the system would keep Node from ending:
 * beside one the process ends by SIGTERM, whatever its exit code.
 */
export function exitNow(): void {
  if (!hasLiveThreads()) process.exit();
  process.removeAllListeners('SIGTERM');
  process.kill(process.pid, 'SIGTERM');
  // The first process of a container cannot end itself by a signal.
  if (process.pid === 1) process.abort();
}

/** Has a process that has nothing left to do end, though a thread may be held up in the system. */
export function exitDespiteThreads(): void {
  process.once('beforeExit', () => {
    if (hasLiveThreads()) exitNow();
  });
}
