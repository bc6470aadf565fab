/** A delivery and its attempts in words. */
import type { Delivery } from '../../app/api-types.ts';
import type { Attempt } from '../../webhooks/deliveries/delivery.ts';

/** Says what else the delivery waits for; null: only for the time of its next attempt. */
export function formatWait({ waitsFor }: Delivery): string | null {
  return waitsFor === null ? null : 'waits: its webhook is off';
}

/**
 * The result of an attempt: the status of the answer, or the message of a route's action. After a
 * 401 there may be an error, too: why there was no new access token.
 */
export function formatAttempt({ statusCode, error, success, message }: Attempt): string {
  if (success !== undefined) return message ?? (success ? 'done' : 'failed');
  const outcomes = [statusCode, error].filter((one) => one !== null && one !== undefined);
  return outcomes.length === 0 ? 'no answer' : outcomes.join(': ');
}

/** The event, or what a delivery without one is. */
export function formatEvent({ event, kind }: Delivery): string {
  return event ?? (kind === 'route' ? 'A request' : 'A forward');
}
