/** The health of a webhook as callers see it: the member `health`, and the filter `state`. */
import { parseTimestamp, formatTimestamp, formatTimestampOrNull } from '../../base/clock.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue, MemberSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf } from '../../base/schema-types.ts';
import type { CollectionFilter } from '../../resources/collection-route.ts';
import type { Observation } from '../../resources/resource.ts';
import type { ListedResource } from '../../resources/resource.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import type { WebhookDirection } from '../webhook-label.ts';
import { PUBLIC_STATES, getLastChangeMs, getStateSinceMs, type PublicState } from './health.ts';
import type { HealthMonitor } from './health-monitor.ts';
import { encodeFailure } from './health-record.ts';
import { computeNextProbeMs, isProbed } from './probe.ts';

/** The wait as callers see it. */
export function toHostWait(
  { target, sinceMs, behind }: Omit<HostWait, 'since'> & { readonly sinceMs: number },
): HostWait {
  return { target, since: formatTimestamp(sinceMs), behind };
}

const time = {
  schema: { kind: 'string', format: 'date-time' }, isRequired: true,
} as const satisfies MemberSchema;

const failureSchema = describeObject({
  kind: 'object', name: 'WebhookFailure',
  members: {
    at: time,
    reason: {
      schema: { kind: 'string', maxLength: 200 }, isRequired: true,
      description: 'A status, the code of an error, the message of an action, or the name of a '
        + 'check',
    },
  },
});

const waitSchema = describeObject({
  kind: 'object', name: 'HostWait',
  members: {
    target: {
      schema: { kind: 'string' }, isRequired: true, description: 'Host and port of the target',
    },
    since: time,
    behind: {
      schema: { kind: 'array', items: { kind: 'string' }, maxItems: 5 }, isRequired: true,
      description: 'Webhooks that have attempts under way there, at most five',
    },
  },
});

/** A webhook's wait, of five seconds or more, for a permit of its host. */
export type HostWait = AnswerOf<typeof waitSchema>;

export const healthMember = {
  schema: describeObject({
    kind: 'object', name: 'WebhookHealth',
    members: {
      // Those of incoming webhooks are all that there are.
      state: { schema: { kind: 'string', values: PUBLIC_STATES.incoming }, isRequired: true },
      since: time,
      lastSuccessAt: { ...time, isNullable: true },
      lastFailure: { schema: failureSchema, isRequired: true, isNullable: true },
      nextProbeAt: {
        schema: { kind: 'string', format: 'date-time' },
        description: 'When the oldest pending delivery of an outgoing webhook is tried, which has '
          + '`probe` and is off for failing. Absent for any other',
      },
      waitsFor: {
        schema: waitSchema, isNullable: true,
        description: 'For which host an outgoing webhook has waited for five seconds or more, as '
          + 'others have the places there. Absent for incoming webhooks',
      },
    },
  }),
  readOnly: 'ignored',
  description: 'Whether it works. `failing`: three tries in a row failed, or something failed for '
    + 'good. `rejecting`: most requests are refused. A try is an attempt of a delivery or a run of '
    + 'an action',
} as const satisfies MemberSchema;

type WebhookHealth = AnswerOf<typeof healthMember.schema>;

/** The columns of lists on a terminal. */
export const healthColumns: ListedResource['columns'] = [
  {
    title: 'STATE', member: 'health', fit: 'whole', show: formatState,
    tones: { healthy: 'good', failing: 'bad', rejecting: 'warning' },
  },
  { title: 'SINCE', member: 'health', form: 'time', importance: 2, show: formatSince },
  { title: 'REASON', member: 'health', importance: 3, show: formatReason },
];

/** The reason is shown beside the state of a disabled webhook, unless it is probed. */
function formatState(
  health: JsonValue | undefined, { disabledReason }: JsonObject,
): string | null {
  if (!isJsonObject(health)) return null;
  const state = String(health['state']);
  if (health['nextProbeAt'] !== undefined) return `${state} (probed)`;
  return typeof disabledReason === 'string' ? `${state} (${disabledReason})` : state;
}

/** What failed last of a webhook that is not healthy. */
function formatReason(health: JsonValue | undefined): string | null {
  if (!isJsonObject(health) || health['state'] === 'healthy') return null;
  const { lastFailure = null } = health;
  return isJsonObject(lastFailure) ? String(lastFailure['reason']) : null;
}

function formatSince(health: JsonValue | undefined): string | null {
  return isJsonObject(health) ? String(health['since']) : null;
}

/** Makes the public health of a stored webhook. `waitsFor` is undefined for an incoming one. */
export function observeHealth(
  monitor: HealthMonitor, webhook: JsonObject, nowMs: number,
  waitsFor: HostWait | null | undefined = undefined,
): Observation {
  const { identifier, enabled, createdAt, updatedAt, disabledAt = updatedAt } = webhook;
  const state = monitor.getPublicState({
    identifier: String(identifier), enabled: enabled !== false,
  });
  const health = monitor.find(String(identifier));
  const sinceMs = getStateSinceMs(health);
  // One that has always been healthy is so since it was created.
  const onSince = sinceMs === null ? String(createdAt) : formatTimestamp(sinceMs);
  const nextProbeMs = computeNextProbeMs(String(disabledAt), health, nowMs);
  const publicHealth: WebhookHealth = {
    state, since: state === 'off' ? String(disabledAt) : onSince,
    lastSuccessAt: formatTimestampOrNull(health.lastSuccessMs),
    lastFailure: encodeFailure(state === 'rejecting' ? health.lastRejection : health.lastFailure),
    ...isProbed(webhook) ? { nextProbeAt: formatTimestamp(nextProbeMs) } : {},
    ...waitsFor === undefined ? {} : { waitsFor },
  };
  return {
    members: { health: publicHealth },
    changedAtMs: Math.max(parseTimestamp(String(updatedAt)), getLastChangeMs(health)),
  };
}

/** The filter `?state=` of a list. */
export function stateFilter(
  monitor: HealthMonitor, direction: WebhookDirection,
): CollectionFilter {
  return {
    parameter: stateParameter(direction),
    select: (state) => (id) => monitor.isListedAs(id, state as PublicState),
  };
}

export function stateParameter(direction: WebhookDirection): ParameterSpec {
  const values = PUBLIC_STATES[direction];
  return {
    name: 'state', in: 'query', schema: { kind: 'string', values },
    description: 'Those in this state; `failing` also those that a failure has switched off',
    option: {
      placeholder: '<state>',
      help: `${values.join(', ')}; failing also those that a failure has switched off`,
    },
  };
}
