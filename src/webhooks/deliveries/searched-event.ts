/**
 * The part of an event that a search sees: its payload, and of a queued forward the body that it
 * sends.
 */
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { Facts, type FactSource } from '../filters/facts.ts';
import { decodeForward, isEvent, readPayloadBytes } from './event-record.ts';

/** The facts that the conditions of a search among events or deliveries may read. */
export const EVENT_FACT_SOURCES: readonly FactSource[] = ['payload', 'event'];

/** Reads what is searched; null: the event is gone, or is a forward without a body. */
export function readSearchedPayload(eventRecord: Buffer | undefined): Buffer | null {
  if (eventRecord === undefined) return null;
  return isEvent(eventRecord) ? readPayloadBytes(eventRecord) : decodeForward(eventRecord).body;
}

/** The facts of an event; `name` is null for a queued forward. */
export function createEventFacts(name: string | null, payload: Buffer | null): Facts {
  return new Facts({ event: () => name, payload: () => parsePayload(payload) });
}

/** undefined: it is no JSON, which only a forward can send. */
function parsePayload(payload: Buffer | null): unknown {
  try {
    return payload === null ? undefined : parseJsonText(payload.toString('utf8'));
  } catch {
    return undefined;
  }
}
