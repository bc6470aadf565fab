/**
 * Called with the outcome of each request, of each run of an action for one, and of each attempt of
 * a delivery, as it ends. Nothing waits for the call, so it must be quick. `webhookId` is null if
 * no webhook is concerned, `durationMs` if no time is measured.
 */
export type OnOutcome = (
  kind: 'requests' | 'runs' | 'deliveries', webhookId: string | null,
  outcome: 'accepted' | 'rejected' | 'failed' | 'succeeded' | 'coalesced' | 'delivered',
  durationMs: number | null,
) => void;

/**
 * Called with the outcome of each run of an action for a request, as it ends. Nothing waits for it.
 * compose-incoming.ts has the run counted there, and reach the health of its webhook.
 */
export type OnRun = (
  webhookId: string,
  result: {
    readonly success: boolean; readonly message: string | null;
    /** The action never ran, as a newer run of it did for this one. */
    readonly isCoalesced: boolean;
    /** Its caller, who waits for the result, came with a chain that was too long already. */
    readonly isCallersFault: boolean;
  },
  /** When the run began, in milliseconds since the epoch. */
  startedAtMs: number,
) => void;
