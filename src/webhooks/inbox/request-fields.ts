/** The fields by which the list of requests, and a job that runs many of them again, filter. */
import type { TimeSpan } from '../records/columns.ts';
import { choiceField, textField, timeField, type RecordFields } from '../records/fields.ts';
import {
  REQUEST_STATUSES, type RequestStatus, type StoredRequest,
} from '../incoming/stored-request.ts';

export type RequestFilter = {
  readonly eventId: string | null;
  /** The identifier of a webhook. */
  readonly hook: string | null;
  readonly status: RequestStatus | null;
  readonly event: string | null;
  readonly time: TimeSpan | null;
};

/** A request as its fields have it. The columns have no status: RequestStates has it. */
export type ListedRequest = Pick<StoredRequest, 'hook' | 'event' | 'eventId' | 'receivedAt'>
  & { readonly status?: RequestStatus };

export const requestFields: RecordFields<ListedRequest, RequestFilter> = {
  eventId: textField('eventId', 'Only those that the sender gave this id, duplicates among them',
    ({ eventId }) => eventId, { isRare: true, option: { placeholder: '<id>' } }),
  hook: textField('hook', 'Of this incoming webhook only: its identifier, name or path segment',
    ({ hook }) => hook,
    { maxLength: 128, option: { placeholder: '<id or name>', completes: 'incoming-webhooks' } }),
  status: choiceField('status', 'Only these', REQUEST_STATUSES,
    ({ status = null }) => status, { hasColumn: false }),
  event: textField('event', 'Only those that the sender names so, such as `push`',
    ({ event }) => event, { option: { placeholder: '<name>' } }),
  time: timeField('Received', ({ receivedAt }) => receivedAt),
};
