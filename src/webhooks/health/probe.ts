/**
 * The member `probe` of an outgoing webhook: whether it is probed once it is off because every
 * attempt has failed for its `disableAfterHours`. A probe is an attempt of its oldest pending
 * delivery, once an hour, which uses up nothing of the delivery's schedule. The first success
 * switches the webhook on again. Meanwhile events queue for it, as for a webhook that is on. The
 * record of a webhook says whether it is probed, so nothing else is stored. A webhook off for
 * another reason, a 410 or a switch by hand, is not probed. Pure.
 */
import { parseTimestamp } from '../../base/clock.ts';
import type { FieldError } from '../../base/errors.ts';
import type { JsonObject, JsonValue, MemberSchema } from '../../base/schema.ts';
import type { Health } from './health.ts';

export const PROBE_INTERVAL_MS = 3_600_000;

export const probeMember = {
  schema: { kind: 'boolean' }, label: 'Then try once an hour', form: { group: 'attempts' },
  description: 'Once it is off as every attempt failed, its oldest delivery is tried every hour, '
    + 'until one arrives and it is on again. Events queue meanwhile. Not after a 410, or when '
    + 'somebody has turned it off',
} as const satisfies MemberSchema;

/** A `probe` needs a webhook that can be off for failing. */
export function findProbeProblems({ probe, disableAfterHours }: JsonObject): FieldError[] {
  if (probe !== true) return [];
  return typeof disableAfterHours === 'number' && disableAfterHours > 0 ? [] : [{
    pointer: '/probe',
    detail: 'needs disableAfterHours above 0, after which it begins; or set probe to null',
  }];
}

type ProbedMembers = {
  readonly [Name in 'enabled' | 'disabledReason' | 'probe']?: JsonValue | undefined;
};

export function isProbed({ enabled, disabledReason, probe }: ProbedMembers): boolean {
  return enabled === false && disabledReason === 'failing' && probe === true;
}

/** The time of the next probe by a clock that shows `nowMs`; it may be past. */
export function computeNextProbeMs(
  disabledAt: string | undefined, health: Health, nowMs: number,
): number {
  const lastMs = findLastTryMs(disabledAt, health, nowMs);
  return lastMs === null ? nowMs : Math.min(lastMs, nowMs) + PROBE_INTERVAL_MS;
}

/**
 * The time of the last attempt, or when the webhook was disabled. Times more than an interval ahead
 * are from before the clock was set back, and are ignored: null if all are. A time less ahead may
 * be of another node.
 */
export function findLastTryMs(
  disabledAt: string | undefined, { lastSuccessMs, lastFailure }: Health, nowMs: number,
): number | null {
  const disabledMs = disabledAt === undefined ? nowMs : parseTimestamp(disabledAt);
  const times = [disabledMs, lastSuccessMs ?? -Infinity, lastFailure?.atMs ?? -Infinity];
  const lastMs = Math.max(...times.filter((atMs) => atMs <= nowMs + PROBE_INTERVAL_MS));
  return lastMs === -Infinity ? null : lastMs;
}

/** Makes the base of a patch, so that `enabled: false` differs from a patch without it. */
export function dropProbedState(webhook: JsonObject): JsonObject {
  if (!isProbed(webhook)) return webhook;
  const { enabled: _, disabledReason: __, disabledAt: ___, ...rest } = webhook;
  return rest;
}

/**
 * Whether the body of a change by hand repeats that the webhook is off for failing, as read before
 * a probe switched it on: that must not switch it off again.
 */
export function isProbeEcho(body: JsonObject, current: JsonObject | null): boolean {
  return current !== null && current['enabled'] !== false && current['probe'] === true
    && body['enabled'] === false && body['disabledReason'] === 'failing';
}

/**
 * Whether the body of a change by hand switches off a probed webhook. A body that repeats
 * `disabledReason` does not: it may change something else.
 */
export function isProbeEnded(body: JsonObject, current: JsonObject | null): boolean {
  return current !== null && isProbed(current)
    && body['enabled'] === false && body['disabledReason'] !== 'failing';
}
