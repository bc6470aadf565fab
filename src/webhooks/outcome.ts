/**
 * Told what came of each request and of each attempt of a delivery, as it ends. Nothing waits for
 * it, so it must be quick. `hook` is null for what belongs to no webhook, `durationMs` where nobody
 * waited for an answer.
 */
export type OnOutcome = (
  kind: 'requests' | 'deliveries', hook: string | null,
  outcome: 'accepted' | 'rejected' | 'failed' | 'delivered', durationMs: number | null,
) => void;
