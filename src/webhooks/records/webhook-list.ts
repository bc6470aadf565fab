/** How the lists of webhooks are filtered and sorted: by state and by words. */
import { fold } from '../../base/text/fold.ts';
import {
  sortParameter, type CollectionFilter, type CollectionView,
} from '../../resources/collection-route.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import { isOffUnseen, type DisabledMembers } from '../health/disabled-members.ts';
import { PUBLIC_STATES, type PublicState } from '../health/health.ts';
import type { HealthMonitor } from '../health/health-monitor.ts';
import { findSince } from '../health/public-health.ts';
import type { WebhookDirection } from '../webhook-label.ts';
import { MissingWords, parseSearchWords } from './search-words.ts';

type WebhookRow = DisabledMembers & {
  readonly identifier: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly enabled: boolean;
  readonly createdAt?: string;
  readonly updatedAt?: string;
};

type WebhookRows<Webhook> = {
  find(identifier: string): Webhook | undefined;
};

/** The states in the order of the sort: webhooks that somebody must look after come first. */
const STATE_RANKS: readonly (PublicState | 'off unseen' | 'last try failed')[] =
  ['failing', 'rejecting', 'off unseen', 'off', 'last try failed', 'healthy'];
const AFTER_EVERY_NAME = '\uffff';

const SORTS = ['state', 'since', 'name'] as const;

/** The parameters of such a list, but those of pages. */
export function webhookListParameters(direction: WebhookDirection): readonly ParameterSpec[] {
  return [wordsParameter(direction), stateParameter(direction), sortParameter(SORTS)];
}

/**
 * `addressOf` is the address as lists show it, without credentials: nobody may find credentials by
 * searching for their beginnings.
 */
export function webhookListView<Webhook extends WebhookRow>(
  monitor: HealthMonitor, direction: WebhookDirection, webhooks: WebhookRows<Webhook>,
  addressOf: (webhook: Webhook) => string, otherFilters: readonly CollectionFilter[] = [],
): Omit<CollectionView, 'bound'> {
  /** Makes the function that reads a text of the webhook with a key; '' when it is gone. */
  const readBy = (read: (webhook: Webhook) => string) => (id: string) => {
    const webhook = webhooks.find(id);
    return webhook === undefined ? '' : read(webhook);
  };
  const sinceOf = (webhook: Webhook): string =>
    findSince(monitor.getPublicState(webhook), monitor.find(webhook.identifier), webhook);
  const rankOf = (webhook: Webhook): number => {
    if (isOffUnseen(webhook)) return STATE_RANKS.indexOf('off unseen');
    return STATE_RANKS.indexOf(monitor.hasJustFailed(webhook) ? 'last try failed'
      : monitor.getPublicState(webhook));
  };
  return {
    filters: [
      {
        parameter: wordsParameter(direction),
        select(text) {
          const words = parseSearchWords(text);
          if (words === null) return () => false;
          return (id) => {
            const webhook = webhooks.find(id);
            if (webhook === undefined) return false;
            const missing = new MissingWords(words);
            const { name = '', description = '' } = webhook;
            for (const part of [name, addressOf(webhook), description]) missing.lookInto(part);
            return missing.isEmpty;
          };
        },
      },
      {
        parameter: stateParameter(direction),
        select: (state) => (id) => monitor.isListedAs(id, state as PublicState),
      },
      ...otherFilters,
    ],
    sorts: {
      state: readBy((webhook) => `${rankOf(webhook)}${sinceOf(webhook)}`),
      since: readBy(sinceOf),
      name: readBy(({ name }) => name === undefined ? AFTER_EVERY_NAME : fold(name)),
    } satisfies Record<typeof SORTS[number], unknown>,
  };
}

function wordsParameter(direction: WebhookDirection): ParameterSpec {
  const address = direction === 'incoming' ? 'path segment' : 'target';
  return {
    name: 'q', in: 'query', schema: { kind: 'string' },
    description: `Those with all these words, or beginnings of words, in name, ${address} or `
      + 'description',
    option: { placeholder: '<words>' },
  };
}

function stateParameter(direction: WebhookDirection): ParameterSpec {
  const values = PUBLIC_STATES[direction];
  return {
    name: 'state', in: 'query', schema: { kind: 'string', values },
    description: 'Those in this state; `failing` also those that a failure has switched off, until '
      + 'somebody has acknowledged it',
    option: {
      placeholder: '<state>',
      help: `${values.join(', ')}; failing also those that a failure has switched off`,
    },
  };
}
