/** A delivery as the API shows it. */
import { resolveWebhookLabel } from '../../base/webhook-labels.ts';
import type { WebhookLabel } from '../../base/webhook-labels.ts';

export type DeliveryRecord = {
  readonly identifier: string; readonly hook: string | null; readonly event: string | null;
  readonly hookName: string | null;
  /** Host and path of where it goes, or went. */
  readonly target: string | null;
  readonly status: string; readonly createdAt: string; readonly nextAttemptAt: string | null;
  readonly waitsFor: 'webhook' | null;
  readonly resendOf: string | null;
  readonly attempts: readonly {
    readonly at: string; readonly durationMs: number; readonly statusCode: number | null;
    readonly error: string | null; readonly response: string | null;
  }[];
  /** Of one that is looked at: what went out last. */
  readonly sent?: {
    readonly method: string; readonly url: string; readonly bodyBytes: number;
    readonly headers: readonly (readonly [string, string])[];
  } | null;
};

/** What a delivery waits for whose time may be long past; null: for its time alone. */
export function formatWait({ waitsFor }: DeliveryRecord): string | null {
  return waitsFor === null ? null : 'waits: its webhook is off';
}

/** Where it goes, also when its webhook is gone or it has none. */
export function createTargetLabel({ hook, hookName, target }: DeliveryRecord): WebhookLabel {
  const endpoint = target ?? resolveWebhookLabel(hook).endpoint;
  return { title: hookName ?? endpoint, endpoint };
}
