/** Which records a job means, as callers say it. */
import type { JsonObject, MemberSchema } from '../../base/schema.ts';
import { timeSchema } from '../../base/time.ts';
import type { QueueFilter } from '../durable-queue/queue-list-route.ts';

export function filterMembers(
  statuses: readonly string[], meaning: Readonly<Record<'hook' | 'event' | 'time' | 'as', string>>,
): Readonly<Record<string, MemberSchema>> {
  return {
    hook: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 }, description: meaning.hook,
    },
    status: { schema: { kind: 'string', values: statuses }, description: 'Only these' },
    event: {
      schema: { kind: 'string', minLength: 1, maxLength: 200 }, description: meaning.event,
    },
    since: { schema: timeSchema, description: `${meaning.time} at that time or later` },
    until: { schema: timeSchema, description: `${meaning.time} before that time` },
    as: { schema: { kind: 'string', values: ['retry', 'new'] }, default: 'retry',
      description: meaning.as },
  };
}

/** A filter that was parsed by `filterMembers`. */
export function filterOf<Status extends string>(
  { hook, status, event, since, until }: JsonObject, statuses: readonly Status[],
): QueueFilter<Status> {
  const textOf = (value: unknown): string | null => typeof value === 'string' ? value : null;
  const timeOf = (value: unknown): number | null =>
    typeof value === 'string' ? Date.parse(value) : null;
  return {
    hook: textOf(hook), event: textOf(event),
    status: statuses.find((known) => known === status) ?? null,
    sinceMs: timeOf(since), untilMs: timeOf(until),
  };
}
