/**
 * Told what came of each request, of each run of an action for one, and of each attempt of a
 * delivery, as it ends. Nothing waits for it, so it must be quick. `hook` is null for what belongs
 * to no webhook, `durationMs` where no time is counted.
 */
export type OnOutcome = (
  kind: 'requests' | 'runs' | 'deliveries', hook: string | null,
  outcome: 'accepted' | 'rejected' | 'failed' | 'succeeded' | 'delivered',
  durationMs: number | null,
) => void;

/** Told what came of each run of an action for a request, as it ends. Nothing waits for it. */
export type OnRun = (
  hook: string,
  result: {
    readonly success: boolean; readonly message: string | null;
    /** Its caller, who waits for the result, came with a chain that was too long already. */
    readonly isCallersFault: boolean;
  },
  /** When the run began, in milliseconds since the epoch. */
  startedAtMs: number,
) => void;
