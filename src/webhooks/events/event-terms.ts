/** The terms of an event: its key, and the time or the seconds after which it begins. */
import { formatTimestamp, parseTimestamp } from '../../base/clock.ts';
import { invalid } from '../../base/fields.ts';
import type { JsonObject, ObjectSchema } from '../../base/schema.ts';
import { timeSchema } from '../../base/time.ts';
import type { EventTerms } from '../deliveries/event-publisher.ts';

const EVENT_KEY_LENGTH_MAX = 200;

/** A year of 365 days. */
export const DELAY_SECONDS_MAX = 365 * 24 * 3600;

export const eventTermMembers = {
  key: {
    schema: { kind: 'string', minLength: 1, maxLength: EVENT_KEY_LENGTH_MAX },
    description: 'What it is about, such as the number of an order: events can be found by it, and '
      + 'delivered in order',
  },
  deliverAt: {
    schema: timeSchema,
    label: 'At',
    description: 'When it begins, at most a year from now; without a time, or with one that is '
      + 'past, now',
  },
  delaySeconds: {
    schema: { kind: 'integer', minimum: 0, maximum: DELAY_SECONDS_MAX },
    label: 'In', form: { field: 'delay' },
    description: 'After how many seconds it begins; it does not stand beside a time',
  },
} as const satisfies ObjectSchema['members'];

/** The `check` of a schema that has these members. */
export const checkEventTerms: NonNullable<ObjectSchema['check']> = ({ deliverAt, delaySeconds }) =>
  deliverAt === undefined || delaySeconds === undefined ? [] : [{
    pointer: '/delaySeconds',
    detail: 'must not stand beside `deliverAt`: say one of the two',
  }];

/** The schema has checked the members. Throws `invalid` for a time too far ahead. */
export function parseEventTerms(members: JsonObject, nowMs: number): EventTerms {
  const { key, deliverAt, delaySeconds } = members;
  const beginMs = typeof deliverAt === 'string'
    ? parseTimestamp(deliverAt) : nowMs + Number(delaySeconds ?? 0) * 1000;
  const latestMs = nowMs + DELAY_SECONDS_MAX * 1000;
  if (beginMs > latestMs) {
    throw invalid([{
      pointer: '/deliverAt',
      detail: `must be within a year, no later than ${formatTimestamp(latestMs)}`,
    }]);
  }
  return {
    key: key === undefined ? undefined : String(key),
    deliverAt: beginMs > nowMs ? formatTimestamp(beginMs) : undefined,
  };
}
