/**
 * The members of a webhook's record that say whether it is on, or else why and since when it is
 * off. The service alone writes the last two with every change of `enabled`; they exist while the
 * webhook is off, and so does `acknowledgedAt`, once somebody has seen that a failure switched it
 * off.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject, JsonValue, MemberSchema, MemberSchemas } from '../../base/schema.ts';

/** `gone`: the target answered 410. `failing`: the `disableAfterHours` are over. */
const DISABLED_REASONS = ['gone', 'failing', 'manual'] as const;
type DisabledReason = (typeof DISABLED_REASONS)[number];

export const enabledMembers = {
  enabled: {
    schema: { kind: 'boolean' }, default: true, description: 'Whether it is on',
    form: { group: 'none' },
    option: { name: 'disabled', help: 'create it disabled', isForNew: true },
  },
  disabledReason: {
    schema: { kind: 'string', values: DISABLED_REASONS }, readOnly: 'echo', isAlwaysPresent: false,
    description: 'Why it is off: its target answered 410, every attempt failed for '
      + '`disableAfterHours`, or somebody switched it off. Absent while it is enabled',
  },
  disabledAt: {
    schema: { kind: 'string', format: 'date-time' }, readOnly: 'echo', isAlwaysPresent: false,
    description: 'Since when it is off. Absent while it is enabled',
  },
} as const satisfies MemberSchemas;

/** Only for outgoing webhooks: an incoming one is never off for failing. */
export const acknowledgedMember = {
  schema: { kind: 'string', format: 'date-time' }, readOnly: 'echo', isAlwaysPresent: false,
  description: 'When somebody has acknowledged that it is off for failing, since when no overview '
    + 'names it. Absent otherwise, and while it is enabled',
} as const satisfies MemberSchema;

export type DisabledMembers = {
  readonly disabledReason?: DisabledReason; readonly disabledAt?: string;
  readonly acknowledgedAt?: string;
};

/** Whether a failure has switched the webhook off and nobody has acknowledged it. */
export function isOffUnseen({ disabledReason, acknowledgedAt }: DisabledMembers): boolean {
  return isFailure(disabledReason) && acknowledgedAt === undefined;
}

function isFailure(disabledReason: JsonValue | undefined): boolean {
  return disabledReason === 'gone' || disabledReason === 'failing';
}

/** Throws `conflict` for a webhook that no failure has switched off. */
export function markAcknowledged(webhook: JsonObject, nowMs: number): JsonObject {
  if (!isFailure(webhook['disabledReason'])) {
    throw new AppError('conflict',
      'no failure has switched it off: there is nothing to acknowledge');
  }
  return webhook['acknowledgedAt'] !== undefined ? webhook
    : { ...webhook, acknowledgedAt: formatTimestamp(nowMs) };
}

export function markDisabled(
  { acknowledgedAt: _, ...webhook }: JsonObject, disabledReason: DisabledReason, nowMs: number,
): JsonObject {
  return addDisabledMembers(webhook, disabledReason, nowMs);
}

function addDisabledMembers(
  webhook: JsonObject, disabledReason: DisabledReason, nowMs: number,
): JsonObject {
  return { ...webhook, enabled: false, disabledReason, disabledAt: formatTimestamp(nowMs) };
}

export function markEnabled(webhook: JsonObject): JsonObject {
  const { disabledReason: _, disabledAt: __, acknowledgedAt: ___, ...rest } = webhook;
  return { ...rest, enabled: true };
}

/**
 * Sets the members that the service alone writes, whatever the body says, and removes `health`,
 * which is not stored. While `current`, the stored webhook, is off, its members are kept; they are
 * new if the body switches the webhook off.
 */
export function keepServiceMembers(
  body: JsonObject, current: JsonObject | null, nowMs: number,
): JsonObject {
  const { health: _, disabledReason: __, disabledAt: ___, ...rest } = body;
  if (rest['enabled'] !== false) return rest;
  if (current?.['enabled'] !== false) return addDisabledMembers(rest, 'manual', nowMs);
  const { disabledReason = null, disabledAt = null, acknowledgedAt } = current;
  const webhook = { ...rest, disabledReason, disabledAt };
  return acknowledgedAt === undefined ? webhook : { ...webhook, acknowledgedAt };
}

/** A body without `enabled` keeps the stored value, which an operator may have set. */
export function keepEnabled(body: JsonObject, current: JsonObject | null): JsonObject {
  const isSaid = body['enabled'] !== undefined && body['enabled'] !== null;
  return isSaid || current === null ? body : { ...body, enabled: current['enabled'] ?? true };
}
