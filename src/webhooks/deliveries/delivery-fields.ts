/** The fields by which the list of deliveries, and a job that sends many again, filter. */
import { parseChoiceParameter } from '../../server/query.ts';
import { SharedTextColumn, type TimeSpan } from '../records/columns.ts';
import {
  choiceField, textField, timeField, type RecordField, type RecordFields,
} from '../records/fields.ts';
import { getCreatedAt, getListedStatus, type ListedDelivery } from './delivery-list.ts';
import {
  DELIVERY_KINDS, LISTED_STATUSES, type DeliveryKind, type ListedStatus,
} from './delivery.ts';
import { parseRequestId } from './route-delivery-id.ts';

export type DeliveryFilter = {
  /** One kind, or those of which `isOutgoingKind` holds; null: every kind. */
  readonly kind: DeliveryKind | typeof isOutgoingKind | null;
  /** The identifier of a webhook. */
  readonly hook: string | null;
  readonly status: ListedStatus | null;
  readonly event: string | null;
  readonly time: TimeSpan | null;
};

/** Whether a delivery of that kind goes to an outgoing webhook, or is a forward. */
export const isOutgoingKind = (kind: string): boolean => kind !== 'route';

/** Every delivery of a webhook, and every forward. */
export const ALL_OUTGOING: DeliveryFilter = {
  kind: isOutgoingKind, hook: null, status: null, event: null, time: null,
};

/** Finds what the sender of a request calls its event, by the request's id; null: it has none. */
type FindRequestEvent = (requestId: string) => string | null;

/** The event of a delivery to a route is that of its request, so no column has it. */
export function createDeliveryFields(
  findRequestEvent: FindRequestEvent,
): RecordFields<ListedDelivery, DeliveryFilter> {
  return {
    hook: textField('hook', 'Of this outgoing webhook only: its identifier or name',
      ({ hook }) => hook, { maxLength: 128 }),
    status: choiceField('status', 'Only these', LISTED_STATUSES, getListedStatus,
      { isChanging: true }),
    event: {
      ...textField('event', 'Only those of this event', (listed: ListedDelivery) =>
        'route' in listed ? findRequestEvent(parseRequestId(listed.identifier)) : listed.event),
      createColumn: () => new SharedTextColumn((listed) =>
        'route' in listed ? null : listed.event),
    },
    time: timeField('Created', getCreatedAt),
    kind: kindField,
  };
}

/** Whether a filter names what no column has. */
export function needsRecords({ kind, event }: DeliveryFilter): boolean {
  return event !== null && (kind === null || kind === 'route');
}

const kindField: RecordField<ListedDelivery, DeliveryKind | typeof isOutgoingKind> = {
  parameters: {
    kind: {
      schema: { kind: 'string', values: [...DELIVERY_KINDS, 'all'] },
      description: 'What they go to; webhooks and forwards when absent',
    },
  },
  parse: (query) => {
    const kind = parseChoiceParameter(query, 'kind', [...DELIVERY_KINDS, 'all']);
    return kind === 'all' ? null : kind ?? isOutgoingKind;
  },
  isMet: (kind, listed) =>
    typeof kind === 'function' ? kind(getKind(listed)) : getKind(listed) === kind,
  createColumn: () => new SharedTextColumn(getKind),
};

function getKind(listed: ListedDelivery): DeliveryKind {
  if ('route' in listed) return 'route';
  return listed.hook === null ? 'forward' : 'webhook';
}
