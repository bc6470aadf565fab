/** Describes deliveries as a list resource. Events make them, so nobody adds one by hand. */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { ListedResource } from '../../resources/resource.ts';
import { firstText } from '../members/members.ts';
import { formatAnswer } from './attempt-answer.ts';

export const deliveryStatusColumn: ListedResource['columns'][number] = {
  title: 'STATUS', member: 'status', fit: 'whole',
  tones: { delivered: 'good', pending: 'warning', failed: 'bad' },
};

export const deliveryResource: ListedResource = {
  path: '/api/deliveries',
  noun: 'delivery',
  plural: 'deliveries',
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    deliveryStatusColumn,
    { title: 'EVENT', member: 'event', widthMin: 16 },
    { title: 'KEY', member: 'key', importance: 7 },
    {
      title: 'HOOK', member: 'hook', form: 'identifier', importance: 5,
      show: (hook, { hookName }) => firstText(hookName, hook),
    },
    { title: 'TARGET', member: 'target', widthMin: 16, importance: 4 },
    { title: 'CREATED', member: 'createdAt', form: 'time', importance: 3 },
    {
      title: 'NEXT ATTEMPT', member: 'nextAttemptAt', form: 'time', importance: 2,
      show: (_, delivery) => formatNextAttempt(delivery),
    },
    {
      title: 'ATTEMPTS', member: 'attempts', importance: 1,
      show: (attempts) => Array.isArray(attempts) ? String(attempts.length) : '0',
    },
    {
      title: 'LAST ANSWER', member: 'attempts', widthMin: 12, importance: 6,
      show: formatLastAnswer,
    },
  ],
};

/** The answer to the last attempt; null before attempts. */
function formatLastAnswer(attempts: JsonValue | undefined): string | null {
  const last = Array.isArray(attempts) ? attempts.at(-1) : undefined;
  return isJsonObject(last) ? formatAnswer(last['statusCode'], last['error']) : null;
}

/** Attempts with their errors in words. */
export function explainAttempts(attempts: JsonValue | undefined): JsonValue[] {
  if (!Array.isArray(attempts)) return [];
  return attempts.map((attempt) => isJsonObject(attempt)
    ? { ...attempt, error: formatAnswer(null, attempt['error']) } : attempt);
}

/** The time of the next attempt, or what it waits for; null for a finished delivery. */
export function formatNextAttempt({ nextAttemptAt, waitsFor }: JsonObject): string | null {
  // The time would mislead: it is mostly long past.
  if (waitsFor === 'webhook') return 'waits: its webhook is off';
  const time = typeof nextAttemptAt === 'string' ? nextAttemptAt : null;
  return waitsFor === 'rate' ? `waits for its rate, next at ${String(time)}` : time;
}
