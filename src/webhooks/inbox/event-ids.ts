/**
 * Event ids: a sender gives each of its events one, and duplicates are recognized by it. The event
 * id of a stored request is a record of the collection `event-ids`, committed with the request:
 *
 *     {"identifier":"<SHA-256>","expiresAt":"<time>","request":"<id>","bodySha256":"<hex>"}
 *
 * `identifier` is the SHA-256, in base64url, of webhook and event id as a JSON array. `bodySha256`
 * is there only if the sender does not sign the event id, because then another body is another
 * event. The event has fared as its request has. If the request is gone, the event was handled: the
 * record of a failed request's event is deleted with the request.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { TIME_LENGTH, decodeRecordAs } from '../../resources/record.ts';
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import type { StoredRequest } from '../incoming/stored-request.ts';

export const eventIdCollection: CollectionSpec = { name: 'event-ids', key: 'identifier' };

/** Above these limits the ids that expire first are removed first. */
export const EVENT_ID_LIMITS = { countMax: 500_000, bytesMax: 128 << 20 };

/** The key by which a request is compared with earlier requests. */
export type EventKey = {
  readonly identifier: string;
  /** null: the event is the same, whatever the body is. */
  readonly bodySha256: string | null;
  readonly expiresAtMs: number;
};

type StoredEventId = { readonly request: string; readonly bodySha256: string | null };

/** The identifier of a record. `bodySha256` is null if bodies do not tell events apart. */
export function hashEventId(
  webhookId: string, eventId: string, bodySha256: string | null = null,
): string {
  const text = JSON.stringify([webhookId, eventId, bodySha256]);
  return loadCrypto().hash('sha256', text, 'base64url');
}

/** Finds a stored event id that has not expired. */
export function findEventId(
  find: (identifier: string) => Buffer | undefined, { identifier }: EventKey, nowMs: number,
): StoredEventId | undefined {
  const bytes = find(identifier);
  if (bytes === undefined || readExpiryMs(bytes) <= nowMs) return undefined;
  const { request, bodySha256 = null } = decodeRecordAs<EventIdRecord>(bytes, (record) =>
    typeof record['request'] === 'string');
  return { request, bodySha256 };
}

type EventIdRecord = { readonly request: string; readonly bodySha256?: string };

export function putEventId(
  transaction: Transaction, { identifier, bodySha256, expiresAtMs }: EventKey, request: string,
): void {
  transaction.put(eventIdCollection.name, identifier, JSON.stringify({
    identifier, expiresAt: formatTimestamp(expiresAtMs), request,
    bodySha256: bodySha256 ?? undefined,
  }));
}

/** Deletes the event id of a request that is removed unfinished: the event may come again. */
export function deleteEventId(
  transaction: Transaction, { id, hook, eventId, eventIdReused, bodySha256 }: StoredRequest,
): void {
  if (eventId === null) return;
  const identifier = hashEventId(hook, eventId, eventIdReused ? bodySha256 : null);
  const bytes = transaction.find(eventIdCollection.name, identifier);
  if (bytes === undefined || !bytes.includes(`"request":"${id}"`)) return;
  transaction.delete(eventIdCollection.name, identifier);
}

// 256 bits in base64url are 43 characters.
const EXPIRES_AT = '{"identifier":"","expiresAt":"'.length + 43;

/** Reads the milliseconds since the epoch at which a record expires, without parsing it. */
export function readExpiryMs(bytes: Buffer): number {
  return Date.parse(bytes.toString('latin1', EXPIRES_AT, EXPIRES_AT + TIME_LENGTH));
}
