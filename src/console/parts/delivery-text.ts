/** A delivery, its target and its attempts in words. */
import { resolveWebhookLabel, type WebhookLabel } from '../base/webhook-labels.ts';
import { h } from '../base/dom.ts';
import { timeElement } from '../base/format.ts';
import { badge } from './badge.ts';
import { formatAnswer } from '../../webhooks/deliveries/attempt-answer.ts';
import type { PublicDelivery } from '../../app/api-types.ts';
import type { Attempt } from '../../webhooks/deliveries/delivery.ts';

/** Says what else the delivery waits for; null: only for the time of its next attempt. */
export function formatWait({ waitsFor, nextAttemptAt }: PublicDelivery): HTMLElement | null {
  if (waitsFor === null) return null;
  return waitsFor === 'webhook' ? h('span', 'waits: its webhook is off')
    : h('span', 'waits for its rate, next ', timeElement(nextAttemptAt));
}

/** The status; a pending delivery of which an attempt has failed is called failing. */
export function deliveryBadge({ status, attempts }: PublicDelivery): HTMLElement {
  return badge(status === 'pending' && attempts.length > 0 ? 'failing' : status);
}

/**
 * The result of an attempt: the status of the answer, or the message of a route's action. After a
 * 401 there may be an error, too: why there was no new access token.
 */
export function formatAttempt({ statusCode, error, success, message }: Attempt): string {
  if (success !== undefined) return message ?? (success ? 'done' : 'failed');
  return formatAnswer(statusCode, error) ?? 'no answer';
}

/** The event, or what a delivery without one is. */
export function formatEvent({ event, kind }: PublicDelivery): string {
  return event ?? (kind === 'route' ? 'A request' : 'A forward');
}

/** A label of the target, also when the webhook was removed or there is none. */
export function createTargetLabel({ hook, hookName, target, route }: PublicDelivery): WebhookLabel {
  const label = resolveWebhookLabel(hook);
  if (route !== null) return { title: hookName ?? label.endpoint, endpoint: `route ${route}` };
  const endpoint = target ?? label.endpoint;
  return { title: hookName ?? endpoint, endpoint };
}
