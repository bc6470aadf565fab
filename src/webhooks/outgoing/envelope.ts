/**
 * The body in the format `envelope`, as Standard Webhooks recommends it ("Payload structure"):
 *
 *     {"type":"<event>","timestamp":"<time of the event>","data":<the body without the format>}
 *
 * The console's scripts have this file too: it imports nothing.
 */

/** Whether a body has this form already, and names this event; null: it may name any. */
export function isEnvelope(body: unknown, event: string | null): boolean {
  if (typeof body !== 'object' || body === null || Object.keys(body).length !== 3) return false;
  if (!('type' in body && 'timestamp' in body && 'data' in body)) return false;
  const { type, timestamp } = body;
  return typeof type === 'string' && (event === null || type === event)
    && typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp));
}
