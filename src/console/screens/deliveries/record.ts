/** A delivery as the API shows it. */

export type DeliveryRecord = {
  readonly identifier: string; readonly hook: string | null; readonly event: string | null;
  readonly status: string; readonly createdAt: string; readonly nextAttemptAt: string | null;
  readonly attempts: readonly {
    readonly at: string; readonly durationMs: number; readonly statusCode: number | null;
    readonly error: string | null; readonly response: string | null;
  }[];
  readonly sent?: {
    readonly method: string; readonly url: string;
    readonly headers: readonly (readonly [string, string])[] | Readonly<Record<string, string>>;
  } | null;
};
