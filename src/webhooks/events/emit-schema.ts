/** The bodies of the routes by which events come in. */
import { EVENT_NAME_RULE } from '../../base/event-name.ts';
import type { StringSchema } from '../../base/schema.ts';
import { describeObject } from '../../base/schema-types.ts';
import { ANY_JSON } from '../../resources/route-specs.ts';
import { SYSTEM_EVENTS, findEmitProblem } from '../actions/event-name.ts';
import { SENT_EVENT_NAME } from '../deliveries/durable-send.ts';
import { checkEventTerms, eventTermMembers } from './event-terms.ts';

const NAME_SCHEMA: StringSchema = {
  kind: 'string', minLength: 1, maxLength: 200,
  mustBe: `${EVENT_NAME_RULE}; none of hookshelf's own: ${SYSTEM_EVENTS.join(', ')}`,
  canonical: (value) => findEmitProblem(value) === null ? value : null,
  explain: (value) => findEmitProblem(value) ?? '',
};

const PAYLOAD_MEMBER = {
  schema: ANY_JSON, default: {}, description: 'Any JSON; without it `{}`',
} as const;

export const eventSchema = describeObject({
  kind: 'object', name: 'Event',
  members: {
    name: {
      schema: NAME_SCHEMA, isRequired: true,
      description: 'Such as `order.created`; at most 200 printable characters without commas and '
        + 'stars, and none of hookshelf\'s own names such as `delivery.failed`',
    },
    payload: PAYLOAD_MEMBER,
    ...eventTermMembers,
  },
  check: checkEventTerms,
});

export const durableSendingSchema = describeObject({
  kind: 'object', name: 'DurableSending',
  members: {
    payload: PAYLOAD_MEMBER,
    event: { schema: NAME_SCHEMA, default: SENT_EVENT_NAME, description: 'The name of the event' },
    ...eventTermMembers,
  },
  check: checkEventTerms,
});
