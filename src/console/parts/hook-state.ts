/** Whether a webhook works, since when, and what failed last. */
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';
import { time } from '../base/format.ts';
import { badge } from './badge.ts';
import type { IncomingWebhook, OutgoingWebhook } from '../../app/api-types.ts';

type Hook = Pick<IncomingWebhook | OutgoingWebhook, 'health' | 'disabledReason'>;

export const HOOK_STATES = ['failing', 'rejecting', 'off', 'healthy'] as const;

/** Of `disabledReason`. */
const REASONS = {
  gone: 'its target is gone (410)', failing: 'every attempt failed for too long',
  manual: 'somebody turned it off',
} as const;

/** The state, and since when. */
export function hookState({ health: { state, since } }: Hook): HTMLElement {
  return h('span', {}, badge(state), ' ', h('span', { class: 'place' }, 'since ', time(since)));
}

/** The same, and why it is off. */
export function hookStateInFull(hook: Hook): HTMLElement {
  const { disabledReason } = hook;
  return disabledReason === undefined ? hookState(hook)
    : h('span', {}, hookState(hook), `: ${REASONS[disabledReason]}`);
}

/** What failed last, and when; nothing where nothing did. */
export function lastFailure({ health: { lastFailure: failure } }: Hook): Child {
  if (failure === null) return null;
  return h('span', { title: failure.reason }, failure.reason, ' ',
    h('span', { class: 'place' }, time(failure.at)));
}
