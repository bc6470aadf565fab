/** A webhook in cells and facts: its label, its state, for how long, and its last failure. */
import { h, type Child } from '../base/dom.ts';
import { lastingElement, timeElement } from '../base/format.ts';
import { resolveWebhookLabel, type WebhookLabel } from '../base/webhook-labels.ts';
import { badge } from './badge.ts';
import type { IncomingWebhook, OutgoingWebhook } from '../../app/api-types.ts';

type WebhookWithHealth = Pick<IncomingWebhook | OutgoingWebhook, 'health' | 'disabledReason'>
  & { readonly acknowledgedAt?: string };

export const WEBHOOK_STATES = ['failing', 'rejecting', 'off', 'healthy'] as const;

/** Texts for `disabledReason`. */
const REASONS = {
  gone: 'its target is gone (410)', failing: 'every attempt failed for too long',
  manual: 'somebody turned it off',
} as const;

/** The title, with the endpoint beside or below it. */
export function webhookLabel({ title, endpoint }: WebhookLabel): HTMLElement {
  if (title === endpoint) return h('span', { title }, title);
  return h('span', { title: `${title}, ${endpoint}` }, title, ' ',
    h('span.place', endpoint));
}

export function resolvedWebhookLabel(identifier: string | null, calledPath?: string): HTMLElement {
  return webhookLabel(resolveWebhookLabel(identifier, calledPath));
}

/** Whether a failure has switched it off, and nobody has said to have seen that. */
export function isOffUnseen({ disabledReason, acknowledgedAt }: WebhookWithHealth): boolean {
  return (disabledReason === 'gone' || disabledReason === 'failing')
    && acknowledgedAt === undefined;
}

/**
 * The state, and for how long. A webhook that a failure has switched off is called so; one whose
 * last try failed, or that has had no success yet, is not called healthy.
 */
export function webhookState(webhook: WebhookWithHealth): HTMLElement {
  const { state, since, lastTryFailed, lastSuccessAt, lastFailure: failure } = webhook.health;
  if (state === 'healthy' && lastSuccessAt === null && failure === null) {
    // Of an incoming one, requests may have been refused.
    return badge('targetUrl' in webhook ? 'not used yet' : 'no success yet');
  }
  if (lastTryFailed) {
    return h('span', badge('last try failed'), ' ',
      h('span.place', timeElement(failure?.at ?? null)));
  }
  return h('span', badge(isOffUnseen(webhook) ? 'off by a failure' : state), ' ',
    h('span.place', lastingElement(since)));
}

/** The state, for how long, and why the webhook is off. */
export function detailedWebhookState(webhook: WebhookWithHealth): HTMLElement {
  const { disabledReason, health: { nextProbeAt } } = webhook;
  return disabledReason === undefined ? webhookState(webhook)
    : h('span', webhookState(webhook), `: ${REASONS[disabledReason]}`,
      nextProbeAt === undefined ? null : h('span', '; tried next ', timeElement(nextProbeAt)));
}

/** With its time; null when there was none. */
export function lastFailure({ health: { lastFailure: failure } }: WebhookWithHealth): Child {
  if (failure === null) return null;
  const reason = formatCheck(failure.reason);
  return h('span', { title: reason }, reason, ' ', h('span.place', timeElement(failure.at)));
}

/** Texts for the checks that a request may fail, which fit below a status. */
const CHECKS: Readonly<Record<string, string>> = {
  address: 'address not allowed', configuration: 'not set up to verify',
  handshake: 'wrong handshake', mismatch: 'wrong signature', parts: 'a part is missing',
  rate: 'over the rate limit', secret: 'unusable secret', signature_form: 'malformed signature',
  signature_missing: 'no signature', stale: 'not signed just now',
};

/** Says why a request was refused; any other reason of a failure stays as it is. */
export function formatCheck(reason: string): string {
  return CHECKS[reason] ?? reason;
}
