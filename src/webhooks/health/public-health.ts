/** The health of a webhook as callers see it: the member `health`. */
import { parseTimestamp, formatTimestamp, formatTimestampOrNull } from '../../base/clock.ts';
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, JsonValue, MemberSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf } from '../../base/schema-types.ts';
import { decodeRecord } from '../../resources/record.ts';
import type { ListedResource, Observation } from '../../resources/resource.ts';
import type { Visibility } from '../members/visibility.ts';
import {
  PUBLIC_STATES, getLastChangeMs, getStateSinceMs, type Health, type PublicState,
} from './health.ts';
import { explainState, type HealthMonitor } from './health-monitor.ts';
import { encodeFailure } from './health-record.ts';
import { computeNextProbeMs, isProbed } from './probe.ts';

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

/** A webhook's wait of at least five seconds for a permit of its host. */
export type HostWait = AnswerOf<typeof waitSchema>;

export const healthMember = {
  schema: describeObject({
    kind: 'object', name: 'WebhookHealth',
    members: {
      // Incoming webhooks have every state.
      state: { schema: { kind: 'string', values: PUBLIC_STATES.incoming }, isRequired: true },
      since: time,
      reason: {
        schema: { kind: 'string' },
        description: 'Why it fails, rejects or is off. Absent while it is healthy',
      },
      lastTryFailed: {
        schema: { kind: 'boolean' }, isRequired: true,
        description: 'Whether the last try failed of a webhook that is healthy all the same',
      },
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

export const healthColumns: ListedResource['columns'] = [
  {
    title: 'STATE', member: 'health', fit: 'whole', show: formatState,
    tones: { healthy: 'good', failing: 'bad', rejecting: 'warning' },
  },
  { title: 'SINCE', member: 'health', form: 'time', importance: 2, show: formatSince },
  { title: 'REASON', member: 'health', importance: 3, show: formatReason },
];

/**
 * A disabled webhook has the reason beside its state, unless it is probed. Beside `healthy` stands
 * that nothing was sent to an outgoing one yet, or that the last try failed.
 */
function formatState(
  health: JsonValue | undefined, { disabledReason, targetUrl }: JsonObject,
): string | null {
  if (!isJsonObject(health)) return null;
  const { lastSuccessAt, lastFailure, lastTryFailed } = health;
  const state = String(health['state']);
  if (lastTryFailed === true) return `${state} (last try failed)`;
  const isUnused = lastSuccessAt === null && lastFailure === null && targetUrl !== undefined;
  if (isUnused && state === 'healthy') return `${state} (unused)`;
  if (health['nextProbeAt'] !== undefined) return `${state} (probed)`;
  return typeof disabledReason === 'string' ? `${state} (${disabledReason})` : state;
}

function formatReason(
  health: JsonValue | undefined, { disabledReason, description }: JsonObject,
): string | null {
  const { reason = null } = isJsonObject(health) ? health : {};
  if (reason === null) return null;
  // A webhook that a converted file has off says there why.
  return disabledReason === 'manual' && typeof description === 'string'
    ? `${String(reason)}: ${description}` : String(reason);
}

function formatSince(health: JsonValue | undefined): string | null {
  return isJsonObject(health) ? String(health['since']) : null;
}

/** `waitsFor` is undefined for an incoming webhook. */
export function observeHealth(
  monitor: HealthMonitor, webhook: JsonObject, nowMs: number,
  waitsFor: HostWait | null | undefined,
): Observation {
  const { identifier, enabled, updatedAt, disabledAt = updatedAt, disabledReason } = webhook;
  const monitored = { identifier: String(identifier), enabled: enabled !== false };
  const state = monitor.getPublicState(monitored);
  const health = monitor.find(monitored.identifier);
  const reason = explainState(state, health, disabledReason);
  const nextProbeMs = computeNextProbeMs(String(disabledAt), health, nowMs);
  const publicHealth: WebhookHealth = {
    state, since: findSince(state, health, webhook), ...reason === null ? {} : { reason },
    lastTryFailed: monitor.hasJustFailed(monitored),
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

/**
 * Leaves out of the JSON of a webhook that waits for a host the webhooks before it that the caller
 * does not see; without any other the caller is told of no wait.
 */
export function hideForeignWait(visibility: Visibility, bytes: Buffer): Buffer {
  if (!bytes.includes(WAIT_MARK)) return bytes;
  const webhook = decodeRecord(bytes);
  const { health } = webhook;
  const wait = isJsonObject(health) ? health['waitsFor'] : null;
  if (!isJsonObject(health) || !isJsonObject(wait) || !Array.isArray(wait['behind'])) return bytes;
  const behind = wait['behind'].filter((identifier) => visibility.seesWebhook(String(identifier)));
  const waitsFor = behind.length === 0 ? null : { ...wait, behind };
  return Buffer.from(encodeJson({ ...webhook, health: { ...health, waitsFor } }));
}

const WAIT_MARK = '"waitsFor":{';

type Times = {
  readonly createdAt?: JsonValue; readonly updatedAt?: JsonValue; readonly disabledAt?: JsonValue;
};

/** A webhook that was always healthy is so since its creation. */
export function findSince(
  state: PublicState, health: Health, { createdAt, updatedAt, disabledAt = updatedAt }: Times,
): string {
  if (state === 'off') return String(disabledAt);
  const sinceMs = getStateSinceMs(health);
  return sinceMs === null ? String(createdAt) : formatTimestamp(sinceMs);
}
