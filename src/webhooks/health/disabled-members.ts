/**
 * The members of a webhook's record that say whether it is on, and else why and since when it is
 * off. These two the service alone writes, with every change of `enabled`; they exist while the
 * webhook is off.
 */
import { formatTimestamp } from '../../base/clock.ts';
import type { JsonObject, MemberSchemas } from '../../base/schema.ts';

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

export type DisabledMembers = {
  readonly disabledReason?: DisabledReason; readonly disabledAt?: string;
};

/** Whether a failure has switched the webhook off. */
export function isOffForFailing({ disabledReason }: DisabledMembers): boolean {
  return disabledReason === 'gone' || disabledReason === 'failing';
}

/** The stored webhook, switched off now. */
export function markDisabled(
  webhook: JsonObject, disabledReason: DisabledReason, nowMs: number,
): JsonObject {
  return { ...webhook, enabled: false, disabledReason, disabledAt: formatTimestamp(nowMs) };
}

/** The stored webhook, switched on. */
export function markEnabled(webhook: JsonObject): JsonObject {
  const { disabledReason: _, disabledAt: __, ...rest } = webhook;
  return { ...rest, enabled: true };
}

/**
 * Sets the members that the service alone writes, whatever the body says. `health` is removed, as
 * it is not stored. While `current`, the stored webhook, is off, its two members are kept; they are
 * new if the body switches the webhook off.
 */
export function keepServiceMembers(
  body: JsonObject, current: JsonObject | null, nowMs: number,
): JsonObject {
  const { health: _, disabledReason: __, disabledAt: ___, ...rest } = body;
  if (rest['enabled'] !== false) return rest;
  if (current?.['enabled'] !== false) return markDisabled(rest, 'manual', nowMs);
  const { disabledReason = null, disabledAt = null } = current;
  return { ...rest, disabledReason, disabledAt };
}

/** A body that does not say `enabled` keeps what is stored: an operator's switch stays as it is. */
export function keepEnabled(body: JsonObject, current: JsonObject | null): JsonObject {
  const isSaid = body['enabled'] !== undefined && body['enabled'] !== null;
  return isSaid || current === null ? body : { ...body, enabled: current['enabled'] ?? true };
}
