/** How the screens of deliveries show the target of one, and what it waits for. */
import { resolveWebhookLabel } from '../../base/webhook-labels.ts';
import type { WebhookLabel } from '../../base/webhook-labels.ts';
import type { Delivery } from '../../../app/api-types.ts';

/** Says what else the delivery waits for; null: only for the time of its next attempt. */
export function formatWait({ waitsFor }: Delivery): string | null {
  return waitsFor === null ? null : 'waits: its webhook is off';
}

/** A label of the target, also when the webhook was removed or there is none. */
export function createTargetLabel({ hook, hookName, target }: Delivery): WebhookLabel {
  const endpoint = target ?? resolveWebhookLabel(hook).endpoint;
  return { title: hookName ?? endpoint, endpoint };
}
