/** Exit codes, and how a process ends that listens to signals. */

export const EXIT_FAILED = 1;
/** The command line or the settings are wrong. */
export const EXIT_USAGE = 2;
/** Nothing failed, and something is left to do: changes to apply, or to make by hand. */
export const EXIT_PENDING = 3;

// Long enough to set the exit code and to write the rest of the output.
const DELAY_MS = 20;

/**
 * Ends a process that is done, with `process.exitCode`, while it still listens to signals. Node
 * itself would remove the signal handlers while it shuts down, and a second SIGTERM would end the
 * process by signal.
 */
export function exitSoon(): void {
  setTimeout(() => process.exit(), DELAY_MS);
}
