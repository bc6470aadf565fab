/**
 * What a search sees of an event, also by a delivery of it: its name and its payload, and of a
 * queued forward the body that it sends.
 */
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { Facts, type FactSource } from '../members/filters/facts.ts';
import type { SearchedContent } from '../records/search-query.ts';
import { decodeForward, isEvent, readPayloadBytes } from './event-record.ts';

/** The facts that the conditions of a search among events or deliveries may read. */
export const EVENT_FACT_SOURCES: readonly FactSource[] = ['payload', 'event'];

/** `name` is null for a queued forward; `eventRecord` is undefined when the event is gone. */
export function readSearchedEvent(
  ids: readonly string[], name: string | null, eventRecord: Buffer | undefined,
): SearchedContent {
  const readPayload = (): Buffer | null => {
    if (eventRecord === undefined) return null;
    return isEvent(eventRecord) ? readPayloadBytes(eventRecord) : decodeForward(eventRecord).body;
  };
  return {
    ids, texts: name === null ? [] : [name], readPayload,
    createFacts: () => new Facts({ event: () => name, payload: () => parsePayload(readPayload()) }),
  };
}

/** undefined: it is no JSON, which only a forward can send. */
function parsePayload(payload: Buffer | null): unknown {
  try {
    return payload === null ? undefined : parseJsonText(payload.toString('utf8'));
  } catch {
    return undefined;
  }
}
