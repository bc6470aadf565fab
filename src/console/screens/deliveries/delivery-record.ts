/** A delivery as the API represents it. */
import { resolveWebhookLabel } from '../../base/webhook-labels.ts';
import type { WebhookLabel } from '../../base/webhook-labels.ts';

export type DeliveryRecord = {
  readonly identifier: string; readonly hook: string | null; readonly event: string | null;
  readonly hookName: string | null;
  /** Host and path of the target. */
  readonly target: string | null;
  readonly status: string; readonly createdAt: string; readonly nextAttemptAt: string | null;
  readonly waitsFor: 'webhook' | null;
  readonly resendOf: string | null;
  readonly attempts: readonly {
    readonly at: string; readonly durationMs: number; readonly statusCode: number | null;
    readonly error: string | null; readonly response: string | null;
  }[];
  /** The last request that was sent; absent in lists. */
  readonly sent?: {
    readonly method: string; readonly url: string; readonly bodyBytes: number;
    readonly headers: readonly (readonly [string, string])[];
  } | null;
};

/** Says what else the delivery waits for; null: only for the time of its next attempt. */
export function formatWait({ waitsFor }: DeliveryRecord): string | null {
  return waitsFor === null ? null : 'waits: its webhook is off';
}

/** A label of the target, also when the webhook was removed or there is none. */
export function createTargetLabel({ hook, hookName, target }: DeliveryRecord): WebhookLabel {
  const endpoint = target ?? resolveWebhookLabel(hook).endpoint;
  return { title: hookName ?? endpoint, endpoint };
}
