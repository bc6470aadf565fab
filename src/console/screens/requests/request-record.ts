/** A stored request as the API represents it. */

export type RequestRecord = {
  readonly id: string; readonly hook: string; readonly receivedAt: string;
  readonly method: string; readonly path: string; readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly bodyBytes: number; readonly bodySha256: string; readonly client: string;
  readonly event: string | null; readonly eventId: string | null;
  readonly verdict: {
    readonly preset: string | null; readonly accepted: boolean;
    readonly failedCheck: string | null; readonly secret: string | null;
    readonly signedAt: string | null;
  };
  readonly status: string;
  readonly routes: readonly RouteState[];
  readonly answered: { readonly status: number; readonly afterMs: number } | null;
  readonly duplicateOf: string | null; readonly replayOf: string | null; readonly pinned: boolean;
  readonly unparsed?: true;
  readonly fittingBodyFormat?: string | null;
};

export type RouteState = {
  readonly name: string; readonly status: string; readonly nextAttemptAt: string | null;
  readonly attempts: readonly {
    readonly at: string; readonly durationMs: number; readonly success: boolean;
    readonly message: string | null; readonly data: unknown;
  }[];
};

export function requestPath(id: string): string {
  return `/api/requests/${encodeURIComponent(id)}`;
}
