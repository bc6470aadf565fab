/** The fields by which the list of deliveries, and a job that sends many again, filter. */
import { parseChoiceParameter } from '../../server/query.ts';
import type { Visibility } from '../members/visibility.ts';
import { SharedTextColumn, type TextCriterion, type TimeSpan } from '../records/columns.ts';
import {
  choiceField, textField, timeField, type RecordField, type RecordFields,
} from '../records/fields.ts';
import type { SearchedRecord } from '../records/search-query.ts';
import {
  DELIVERY_KINDS, DELIVERY_STATUSES, type Delivery, type DeliveryKind, type DeliveryStatus,
} from './delivery.ts';

export type DeliveryFilter = {
  /** One kind, or the kinds for which a function holds; null: every kind. */
  readonly kind: DeliveryKind | typeof isOutgoingKind | null;
  /** The identifier of a webhook, or a test of identifiers. */
  readonly hook: TextCriterion | null;
  readonly status: DeliveryStatus | null;
  readonly event: string | null;
  readonly time: TimeSpan | null;
};

export const isOutgoingKind = (kind: string): boolean => kind !== 'route';

export const ALL_OUTGOING: DeliveryFilter = {
  kind: isOutgoingKind, hook: null, status: null, event: null, time: null,
};

/** Restricts a filter to what a bound token sees. `isSearch`: it looks into payloads as well. */
export function restrictDeliveries(
  filter: DeliveryFilter, visibility: Visibility, isSearch: boolean,
): DeliveryFilter {
  const { hook, kind } = filter;
  const isOfWebhooks = kind !== 'route' && kind !== 'forward';
  return {
    ...filter, kind: 'webhook',
    hook: (identifier) => isOfWebhooks && (hook === null || hook === identifier)
      && (isSearch ? visibility.seesPayloadsOf(identifier) : visibility.seesWebhook(identifier)),
  };
}

/** Looks up the requests and incoming webhooks of deliveries to routes. */
export type RequestLookup = {
  /** The sender's name of the event; null: it gives none. */
  readonly findEvent: (requestId: string) => string | null;
  /** The request as a search of deliveries sees it; null: the request is gone. */
  readonly findSearched: (requestId: string) => SearchedRecord<unknown> | null;
  readonly findWebhook: (identifier: string) =>
    { readonly name?: string | undefined; readonly enabled: boolean } | undefined;
};

/** The event of a delivery to a route is that of its request: no column has it. */
export function createDeliveryFields(
  findRequestEvent: RequestLookup['findEvent'],
): RecordFields<Delivery, DeliveryFilter> {
  return {
    hook: {
      ...textField('hook', 'Of this outgoing webhook only: its identifier or name',
        ({ hook }: Delivery) => hook, {
          maxLength: 128, option: { placeholder: '<id or name>', completes: 'outgoing-webhooks' },
        }),
      isMet: (criterion, { hook }) => hook !== null
        && (typeof criterion === 'function' ? criterion(hook) : hook === criterion),
      createColumn: () => new SharedTextColumn(({ hook }) => hook, { listsSlots: true }),
    },
    status: choiceField('status', 'Only these', DELIVERY_STATUSES, ({ status }) => status,
      { isChanging: true }),
    event: {
      ...textField('event', 'Only those of this event', ({ event, request }: Delivery) =>
        request === null ? event : findRequestEvent(request),
      { option: { placeholder: '<event>' } }),
      createColumn: () => new SharedTextColumn(({ event }) => event),
    },
    time: timeField('Created', ({ createdAt }) => createdAt),
    kind: kindField,
  };
}

/** Whether the filter reads a value that no column has. */
export function needsRecords({ kind, event }: DeliveryFilter): boolean {
  return event !== null && (kind === null || kind === 'route');
}

const kindField: RecordField<Delivery, DeliveryKind | typeof isOutgoingKind> = {
  parameters: {
    kind: {
      schema: { kind: 'string', values: [...DELIVERY_KINDS, 'all'] },
      description: 'What they go to; webhooks and forwards when absent',
      option: {
        placeholder: '<kind>',
        help: `${DELIVERY_KINDS.join(', ')}, all; webhook and forward when not given`,
      },
    },
  },
  parse: (query) => {
    const kind = parseChoiceParameter(query, 'kind', [...DELIVERY_KINDS, 'all']);
    return kind === 'all' ? null : kind ?? isOutgoingKind;
  },
  isMet: (condition, { kind }) =>
    typeof condition === 'function' ? condition(kind) : kind === condition,
  createColumn: () => new SharedTextColumn(({ kind }) => kind),
};
