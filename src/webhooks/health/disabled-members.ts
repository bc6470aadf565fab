/**
 * Why and since when a webhook is off: members of its record that the service alone writes, with
 * every change of `enabled`. They are there while it is off. A webhook that an earlier version
 * switched off has neither.
 */
import { formatTimestamp } from '../../base/clock.ts';
import type { JsonObject, MemberSchema } from '../../base/schema.ts';

/** `gone`: its target answered 410. `failing`: its `disableAfterHours` are over. */
const DISABLED_REASONS = ['gone', 'failing', 'manual'] as const;
type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Of a webhook's type. */
export type DisabledMembers = {
  readonly disabledReason?: DisabledReason;
  /** RFC 3339 */
  readonly disabledAt?: string;
};

/** To stand after `enabled`. */
export const disablingMembers: Readonly<Record<keyof DisabledMembers, MemberSchema>> = {
  disabledReason: {
    schema: { kind: 'string', values: DISABLED_REASONS }, readOnly: 'echo', isAlwaysShown: false,
    description: 'Why it is off: its target answered 410, every attempt failed for '
      + '`disableAfterHours`, or somebody switched it off. Absent while it is enabled',
  },
  disabledAt: {
    schema: { kind: 'string', format: 'date-time' }, readOnly: 'echo', isAlwaysShown: false,
    description: 'Since when it is off. Absent while it is enabled',
  },
};

/** A stored webhook, switched off now. */
export function markDisabled(
  webhook: JsonObject, disabledReason: DisabledReason, nowMs: number,
): JsonObject {
  return { ...webhook, enabled: false, disabledReason, disabledAt: formatTimestamp(nowMs) };
}

/**
 * A body with what the service alone says of a webhook, whatever the body says itself: without
 * `health`, which is not stored, and with the two members of `current`, the stored webhook, while
 * that is off; with new ones when the body switches it off.
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
