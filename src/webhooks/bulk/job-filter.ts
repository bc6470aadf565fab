/** Which records a job means, as callers say it. */
import type { JsonObject, MemberSchema } from '../../base/schema.ts';
import { timeSchema } from '../../base/time.ts';
import type { QueueFilter } from '../durable-queue/queue-list-route.ts';

export function jobFilterMembers(
  statuses: readonly string[],
  descriptions: Readonly<Record<'hook' | 'event' | 'time' | 'as', string>>,
): Readonly<Record<string, MemberSchema>> {
  return {
    hook: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 }, description: descriptions.hook,
    },
    status: { schema: { kind: 'string', values: statuses }, description: 'Only these' },
    event: {
      schema: { kind: 'string', minLength: 1, maxLength: 200 }, description: descriptions.event,
    },
    since: { schema: timeSchema, description: `${descriptions.time} at that time or later` },
    until: { schema: timeSchema, description: `${descriptions.time} before that time` },
    as: { schema: { kind: 'string', values: ['retry', 'new'] }, default: 'retry',
      description: descriptions.as },
  };
}

/** A filter that was parsed by `filterMembers`. */
export function toQueueFilter<Status extends string>(
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
