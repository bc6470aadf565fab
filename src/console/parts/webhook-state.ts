/** Whether a webhook works, since when, and what failed last. */
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { timeElement } from '../base/format.ts';
import { badge } from './badge.ts';
import type { IncomingWebhook, OutgoingWebhook } from '../../app/api-types.ts';

type WebhookWithHealth = Pick<IncomingWebhook | OutgoingWebhook, 'health' | 'disabledReason'>;

export const WEBHOOK_STATES = ['failing', 'rejecting', 'off', 'healthy'] as const;

/** Of `disabledReason`. */
const REASONS = {
  gone: 'its target is gone (410)', failing: 'every attempt failed for too long',
  manual: 'somebody turned it off',
} as const;

/** The state, and since when. */
export function webhookState({ health: { state, since } }: WebhookWithHealth): HTMLElement {
  return h('span', {}, badge(state), ' ',
    h('span', { class: 'place' }, 'since ', timeElement(since)));
}

/** The same, and why it is off. */
export function detailedWebhookState(webhook: WebhookWithHealth): HTMLElement {
  const { disabledReason } = webhook;
  return disabledReason === undefined ? webhookState(webhook)
    : h('span', {}, webhookState(webhook), `: ${REASONS[disabledReason]}`);
}

/** What failed last, and when; nothing where nothing did. */
export function lastFailure({ health: { lastFailure: failure } }: WebhookWithHealth): Child {
  if (failure === null) return null;
  return h('span', { title: failure.reason }, failure.reason, ' ',
    h('span', { class: 'place' }, timeElement(failure.at)));
}
