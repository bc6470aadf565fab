/** The fields by which the list of requests, and a job that runs many of them again, filter. */
import type { TimeSpan } from '../records/columns.ts';
import { choiceField, textField, timeField, type RecordFields } from '../records/fields.ts';
import {
  readEvent, readEventId, readReceivedMs, readRequestStatus, readWebhookId,
} from './request-codec.ts';
import { REQUEST_STATUSES, type RequestStatus } from './stored-request.ts';

export type RequestFilter = {
  readonly eventId: string | null;
  /** The identifier of a webhook. */
  readonly hook: string | null;
  readonly status: RequestStatus | null;
  readonly event: string | null;
  readonly time: TimeSpan | null;
};

export const requestFields: RecordFields<RequestFilter> = {
  eventId: textField('eventId', 'Only those that the sender gave this id, duplicates among them',
    readEventId, { isRare: true }),
  hook: textField('hook', 'Of this incoming webhook only: its identifier, name or path segment',
    readWebhookId, { maxLength: 128 }),
  status: choiceField('status', 'Only these', REQUEST_STATUSES,
    (record, _, find) => readRequestStatus(record, find), { hasColumn: false }),
  event: textField('event', 'Only those that the sender names so, such as `push`', readEvent),
  time: timeField('Received', readReceivedMs),
};
