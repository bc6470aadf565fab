/**
 * The senders' identifiers of what happened, by which duplicates are told. One that belongs to a
 * kept request is a record of the collection `event-ids`,
 *
 *     {"identifier":"<SHA-256>","expiresAt":"<time>","request":"<id>","bodySha256":"<hex>"}
 *
 * committed with its request. `identifier` is the base64url of the SHA-256 of webhook and id, as a
 * JSON array; `bodySha256` stands there only where the sender does not sign the id, as another
 * body is then another event. What became of the event is what became of the request; when that is
 * gone, it was done: the record of a failed one goes with its request.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { TIME_LENGTH, decodeRecordAs } from '../../resources/record.ts';
import type { CollectionSpec, Transaction } from '../../store/store-port.ts';
import type { StoredRequest } from './stored-request.ts';

export const eventIdCollection: CollectionSpec = { name: 'event-ids', key: 'identifier' };

/** Of more the ones that expire next go first. */
export const EVENT_ID_LIMITS = { countMax: 500_000, bytesMax: 128 << 20 };

/** By what a request is compared with others. */
export type EventKey = {
  readonly identifier: string;
  /** null: whatever the body is, it is the same event. */
  readonly bodySha256: string | null;
  readonly expiresAtMs: number;
};

type StoredEventId = {
  readonly expiresAt: string; readonly request: string; readonly bodySha256: string | null;
};

/** `bodySha256` is null where the body does not tell events apart. */
export function hashEventId(
  hook: string, eventId: string, bodySha256: string | null = null,
): string {
  const text = JSON.stringify([hook, eventId, bodySha256]);
  return loadCrypto().hash('sha256', text, 'base64url');
}

/** undefined: there is none, or it has expired. */
export function findEventId(
  find: (identifier: string) => Buffer | undefined, { identifier }: EventKey, nowMs: number,
): StoredEventId | undefined {
  const bytes = find(identifier);
  if (bytes === undefined || readExpiryMs(bytes) <= nowMs) return undefined;
  const { expiresAt, request, bodySha256 = null } = decodeRecordAs<EventIdRecord>(bytes, (record) =>
    typeof record['request'] === 'string');
  return { expiresAt, request, bodySha256 };
}

type EventIdRecord = Omit<StoredEventId, 'bodySha256'> & { readonly bodySha256?: string };

export function putEventId(
  transaction: Transaction, { identifier, bodySha256, expiresAtMs }: EventKey, request: string,
): void {
  transaction.put(eventIdCollection.name, identifier, JSON.stringify({
    identifier, expiresAt: formatTimestamp(expiresAtMs), request,
    bodySha256: bodySha256 ?? undefined,
  }));
}

/** To be called when a request goes that is not done: the event may come again. */
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

/** In milliseconds since the epoch; without parsing the record. */
export function readExpiryMs(bytes: Buffer): number {
  return Date.parse(bytes.toString('latin1', EXPIRES_AT, EXPIRES_AT + TIME_LENGTH));
}
