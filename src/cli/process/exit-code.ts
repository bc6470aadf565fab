/** How a process of ours ends. */

export const EXIT_FAILED = 1;
/** The command line or the settings are wrong. */
export const EXIT_USAGE = 2;

// For the exit code to be set, and what is left of the output to be written.
const DELAY_MS = 20;

/**
 * Ends, with `process.exitCode`, a process that has done its work and listens to signals. Left to
 * itself Node would give the signals back to the system while it tidies up, and a second SIGTERM
 * would end us by signal.
 */
export function exitSoon(): void {
  setTimeout(() => process.exit(), DELAY_MS);
}
