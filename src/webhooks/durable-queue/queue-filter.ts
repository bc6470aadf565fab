/**
 * The filter of a queue's items. A list takes it as query parameters, a bulk job as members of its
 * body. Both are made from one table, and either way the result is a `QueueFilter`.
 */
import { AppError } from '../../base/errors.ts';
import type { JsonObject, MemberSchema, StringSchema } from '../../base/schema.ts';
import { quote } from '../../base/text/error-message.ts';
import { parseTime, timeSchema } from '../../base/time.ts';
import { parseChoiceParameter } from '../../server/query.ts';
import type { ParameterSpec } from '../../server/http-route.ts';

/** The criteria that an item must meet; null stands for no criterion. */
export type QueueFilter<Status extends string> = {
  /** The identifier of a webhook. */
  readonly hook: string | null;
  readonly status: Status | null;
  readonly event: string | null;
  /** Milliseconds since the epoch: at or after `sinceMs`, and before `untilMs`. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
};

export const FILTER_NAMES = ['hook', 'status', 'event', 'since', 'until'] as const;

type FilterMembers =
  Readonly<Record<typeof FILTER_NAMES[number], MemberSchema & { readonly schema: StringSchema }>>;

/** Says for the documents what a webhook, an event and a time are in a queue. */
type FilterDescriptions = {
  readonly hook: string; readonly event: string; readonly time: string;
};

/** Describes the members of a filter, as a body has them. */
export function filterMembers(
  statuses: readonly string[], { hook, event, time }: FilterDescriptions,
): FilterMembers {
  return {
    hook: { schema: { kind: 'string', minLength: 1, maxLength: 128 }, description: hook },
    status: { schema: { kind: 'string', values: statuses }, description: 'Only these' },
    event: { schema: { kind: 'string', minLength: 1, maxLength: 200 }, description: event },
    since: { schema: timeSchema, description: `${time} at that time or later` },
    until: { schema: timeSchema, description: `${time} before that time` },
  };
}

/** Describes the same members as query parameters. A query bounds no lengths. */
export function filterParameters(
  statuses: readonly string[], descriptions: FilterDescriptions,
): readonly ParameterSpec[] {
  const members = filterMembers(statuses, descriptions);
  return FILTER_NAMES.map((name) => {
    const { schema: { kind, format, values }, description = '' } = members[name];
    return { name, in: 'query', description, schema: { kind, format, values } };
  });
}

/**
 * Parses the filter in a query. `resolveHookId` finds the identifier of the webhook that a person
 * names. Throws `malformed`.
 */
export function parseQueryFilter<Status extends string>(
  query: ReadonlyMap<string, string>, statuses: readonly Status[],
  resolveHookId: (name: string) => string,
): QueueFilter<Status> {
  const hook = query.get('hook');
  return {
    hook: hook === undefined ? null : resolveHookId(hook),
    status: parseChoiceParameter(query, 'status', statuses),
    event: query.get('event') ?? null,
    sinceMs: parseTimeParameter(query, 'since'), untilMs: parseTimeParameter(query, 'until'),
  };
}

/** Makes the filter of a body that was parsed by `filterMembers`. */
export function toQueueFilter<Status extends string>(
  { hook, status, event, since, until }: JsonObject, statuses: readonly Status[],
): QueueFilter<Status> {
  const textOrNull = (value: unknown): string | null => typeof value === 'string' ? value : null;
  const timeOrNull = (value: unknown): number | null =>
    typeof value === 'string' ? Date.parse(value) : null;
  return {
    hook: textOrNull(hook), event: textOrNull(event),
    status: statuses.find((candidate) => candidate === status) ?? null,
    sinceMs: timeOrNull(since), untilMs: timeOrNull(until),
  };
}

/** Whether a time meets the criteria of a filter. It is read only if there are some. */
export function isInTime(
  { sinceMs, untilMs }: Pick<QueueFilter<string>, 'sinceMs' | 'untilMs'>, readMs: () => number,
): boolean {
  if (sinceMs === null && untilMs === null) return true;
  const atMs = readMs();
  return (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
}

/** Parses a time to milliseconds since the epoch; null when it is absent. Throws `malformed`. */
export function parseTimeParameter(
  query: ReadonlyMap<string, string>, name: string,
): number | null {
  const value = query.get(name);
  if (value === undefined) return null;
  // A query's plus sign stands for a space, but in a time it was meant as a plus.
  const time = parseTime(value.replace(' ', '+'));
  if (time !== null) return time;
  throw new AppError('malformed', `\`${name}\` must be an RFC 3339 time such as `
    + `2026-01-31T12:00:00Z, not ${quote(value)}`);
}
