/**
 * Says which stored events a webhook has missed: its triggers and its condition, as they are now,
 * let it hear them, and it had no delivery of them. Passed over are events that have not begun,
 * because they are delayed, and events that nobody hears: those sent to one webhook, and queued
 * forwards.
 */
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { JsonValue } from '../../base/schema.ts';
import type { FindRecord } from '../../store/store-port.ts';
import { createEventMatcher } from '../outgoing/outgoing-webhook-index.ts';
import type { StoredOutgoingWebhook } from '../outgoing/outgoing-webhook.ts';
import {
  decodeEventHead, readPayloadBytes, readReceiverIds, type EventHead,
} from '../deliveries/event-record.ts';
import { delayedEventCollection } from '../deliveries/delayed-events.ts';
import { findFanOutWebhookIds } from '../deliveries/fan-out.ts';
import { isAboutWebhook } from '../deliveries/system-events.ts';

/** `find` finds the records beside the event. */
export type MissedEventMatcher = (id: string, record: Buffer, find: FindRecord) => boolean;

export function createMissedEventMatcher(
  webhook: StoredOutgoingWebhook, isSelected: (event: EventHead) => boolean,
): MissedEventMatcher {
  const { identifier: webhookId } = webhook;
  const hears = createEventMatcher(webhook);
  return (id, record, find) => {
    const event = decodeEventHead(record);
    const { name, to } = event;
    if (name === null || to !== null || !isSelected(event)) return false;
    if (find(delayedEventCollection.name, id) !== undefined) return false;
    let parsedPayload: JsonValue | undefined;
    const payload = (): JsonValue =>
      parsedPayload ??= parseJsonText(readPayloadBytes(record).toString());
    if (!hears(name, payload) || isAboutWebhook(name, payload, webhookId)) return false;
    return !readReceiverIds(find, id, record).includes(webhookId)
      && !findFanOutWebhookIds(find, id).includes(webhookId);
  };
}
