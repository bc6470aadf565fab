/** The members of an incoming webhook that stand in place of settings: its limits of its own. */
import { TIMER_SECONDS_MAX } from '../../base/clock.ts';
import type { MemberSchema } from '../../base/schema.ts';

export type LimitMembers = {
  /** Requests a second; 0: no limit. Absent: the setting `incoming.rateLimit`. */
  readonly rateLimit?: number;
  /** Absent: the setting `incoming.maxConcurrent`. */
  readonly maxConcurrent?: number;
  /** Seconds. Absent: the setting `incoming.actionTimeout`. */
  readonly actionTimeout?: number;
  /** Absent: the setting `incoming.maxInFlightPerHook`. */
  readonly maxInFlight?: number;
};

// The bounds of the settings.
const COUNT_MAX = 1_000_000_000;
const IN_FLIGHT_MAX = 65_535;
const TIMEOUT_S_MIN = 0.001;

export const limitMembers: Readonly<Record<keyof LimitMembers, MemberSchema>> = {
  rateLimit: {
    schema: { kind: 'number', minimum: 0, maximum: COUNT_MAX },
    description: 'Requests a second, over it 429, in place of the setting `incoming.rateLimit`; 0: '
      + 'no limit',
  },
  maxConcurrent: {
    schema: { kind: 'integer', minimum: 1, maximum: COUNT_MAX },
    description: 'Requests whose actions are under way at once, over it 503, in place of the '
      + 'setting `incoming.maxConcurrent`. For the `answer` `result`',
  },
  actionTimeout: {
    schema: { kind: 'number', minimum: TIMEOUT_S_MIN, maximum: TIMER_SECONDS_MAX },
    description: 'Seconds for one action, then it has failed, in place of the setting '
      + '`incoming.actionTimeout`; a command\'s own `timeout` goes before it',
  },
  maxInFlight: {
    schema: { kind: 'integer', minimum: 1, maximum: IN_FLIGHT_MAX },
    description: 'Runs at once of requests that were accepted, or are replayed, in place of the '
      + 'setting `incoming.maxInFlightPerHook`; 1 is strict order',
  },
};

/** The limits prepared once for each change of the webhook; null: that of the settings. */
export type ReadyLimits = {
  readonly maxConcurrent: number | null;
  readonly actionTimeoutMs: number | null;
  readonly maxInFlight: number | null;
};

export function prepareLimits(
  { maxConcurrent, actionTimeout, maxInFlight }: LimitMembers,
): ReadyLimits {
  const actionTimeoutMs = actionTimeout === undefined ? null : actionTimeout * 1000;
  return {
    maxConcurrent: maxConcurrent ?? null, actionTimeoutMs, maxInFlight: maxInFlight ?? null,
  };
}
