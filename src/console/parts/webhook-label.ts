/** The name of a webhook, with its endpoint beside or below. */
import { h } from '../base/dom.ts';
import { resolveWebhookLabel, type WebhookLabel } from '../base/webhook-labels.ts';

export function webhookLabel({ title, endpoint }: WebhookLabel): HTMLElement {
  if (title === endpoint) return h('span', { title }, title);
  return h('span', { title: `${title}, ${endpoint}` }, title, ' ',
    h('span.place', endpoint));
}

export function resolvedWebhookLabel(identifier: string | null): HTMLElement {
  return webhookLabel(resolveWebhookLabel(identifier));
}
