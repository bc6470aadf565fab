/**
 * The record of a stored request is one JSON object on one line. It begins
 *
 *     {"id":"<UUID>","receivedAt":"<time>","updatedAt":"<time>","status":"…","pinned":…,"hook":"…"
 *
 * where identifiers and times have a fixed length, so that these members are found without parsing.
 * `bodyBytes` follows and is found likewise. Then come the other members of `StoredRequest`.
 * Members with their default value are left out, also in `verdict`. The body comes last:
 * `"bodyText"` if it is valid UTF-8, else `"body"` in base64, or `"body":null` if it has a record
 * of its own (request-body.ts). Decoding throws if a required member is missing, because nothing
 * may go on from damaged data.
 *
 * `status` is `accepted`, `filtered` or `duplicate`. What became of an accepted request is said by
 * its deliveries, one for each route (route-record.ts).
 */
import { parseTimestamp } from '../../base/clock.ts';
import { isJsonObject } from '../../base/fields.ts';
import { RepeatedStringEncoder, encodeString as text } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { ByteWriter } from '../../base/structures/byte-writer.ts';
import { TIME_LENGTH, decodeRecordAs } from '../../resources/record.ts';
import { BODY_MARK, BODY_APART, appendInlineBody } from './request-body.ts';
import { deliveryCollection } from '../deliveries/delivery.ts';
import { deliveryHead } from '../deliveries/delivery-codec.ts';
import { createRouteDeliveryId } from '../deliveries/route-delivery-id.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { decodeRoute } from '../deliveries/route-record.ts';
import {
  combineStatuses, computeStatus, requestCollection, type RequestStatus, type StoredRequest,
  type StoredRequestHead, type StoredVerdict,
} from './stored-request.ts';

/** The status of a record whose deliveries say what became of the request. */
const ACCEPTED = 'accepted';
const RECORD_STATUSES = [ACCEPTED, 'filtered', 'duplicate'] as const;
type RecordStatus = (typeof RECORD_STATUSES)[number];

const ID_AT = '{"id":"'.length;
const ID_LENGTH = 36;
const UPDATED_AT = '{"id":"","receivedAt":"","updatedAt":"'.length + ID_LENGTH + TIME_LENGTH;
const STATUS_AT = UPDATED_AT + TIME_LENGTH + '","status":"'.length;
const PINNED_LENGTH = '","pinned":'.length;
const QUOTE = 0x22;
const LETTER_T = 0x74;
const REQUIRED_TEXTS = [
  'id', 'receivedAt', 'updatedAt', 'hook', 'method', 'path', 'bodySha256', 'client',
] as const;

type RequestRecord = Omit<Partial<StoredRequest>, 'verdict' | 'routes' | 'status'>
  & Pick<StoredRequest, 'id' | 'receivedAt' | 'updatedAt' | 'pinned' | 'hook' | 'method' | 'path'
  | 'headers' | 'bodyBytes' | 'bodySha256' | 'client'> & {
    readonly status: RecordStatus;
    readonly verdict: Partial<StoredVerdict> & Pick<StoredVerdict, 'accepted'>;
  };

/** Whether the request of a record has deliveries of its own. */
export function hasDeliveries(bytes: Buffer): boolean {
  return readRecordStatus(bytes) === ACCEPTED;
}

/**
 * Decodes a stored request from its record and those of its deliveries, and fills in the members
 * that are left out. `find` is asked for the deliveries.
 */
export function decodeRequest(bytes: Buffer, find: FindRecord): StoredRequest {
  const bodyStart = findBody(bytes);
  const record = parseRecord(bytes, bodyStart);
  const head = createHead(record, bytes, bodyStart);
  const { status } = record;
  if (status !== ACCEPTED) return { ...head, status, routes: [] };
  const routes = listRouteRecords(head.id, find).map(decodeRoute);
  const updatedAt = routes.reduce((latest, route) =>
    route.updatedAt > latest ? route.updatedAt : latest, head.updatedAt);
  return { ...head, routes, updatedAt, status: computeStatus(routes) };
}

/** Finds a committed request with its deliveries. */
export function findCommittedRequest(
  store: Pick<Store, 'collection'>, id: string,
): StoredRequest | undefined {
  const find = findCommitted(store);
  const bytes = find(requestCollection.name, id);
  return bytes === undefined ? undefined : decodeRequest(bytes, find);
}

/** Lists the records of a request's deliveries, in the order of its routes. */
export function listRouteRecords(requestId: string, find: FindRecord): Buffer[] {
  const records: Buffer[] = [];
  for (;;) {
    const id = createRouteDeliveryId(requestId, records.length);
    const bytes = find(deliveryCollection.name, id);
    if (bytes === undefined) return records;
    records.push(bytes);
  }
}

/** Decodes the record of a request without its deliveries, which say its status and routes. */
export function decodeRequestHead(bytes: Buffer): StoredRequestHead {
  const bodyStart = findBody(bytes);
  return createHead(parseRecord(bytes, bodyStart), bytes, bodyStart);
}

/** Parses a record without the body, which may be large. */
function parseRecord(bytes: Buffer, bodyStart: number): RequestRecord {
  return decodeRecordAs<RequestRecord>(`${bytes.toString('utf8', 0, bodyStart)}}`, isSound);
}

/** Finds where the body begins. With a body of 16 KiB that takes 0.1 ms, so it is done once. */
function findBody(bytes: Buffer): number {
  const start = bytes.lastIndexOf(BODY_MARK);
  if (start === -1) throw new TypeError('a stored request has no body');
  return start;
}

/** Fills in the members that are left out. The body stays encoded. */
function createHead(
  record: RequestRecord, bytes: Buffer, bodyStart: number,
): StoredRequestHead {
  const { id, receivedAt, updatedAt, pinned, hook, method, path, headers } = record;
  return {
    id, receivedAt, updatedAt, pinned, hook, method, path, headers,
    query: record.query ?? '',
    signatures: record.signatures ?? [],
    bodyBytes: record.bodyBytes,
    bodySha256: record.bodySha256,
    client: record.client,
    host: record.host ?? '',
    protocol: record.protocol ?? 'http',
    event: record.event ?? null,
    eventId: record.eventId ?? null,
    eventIdReused: record.eventIdReused ?? false,
    verdict: decodeVerdict(record.verdict),
    answered: record.answered ?? null,
    duplicateOf: record.duplicateOf ?? null,
    replayOf: record.replayOf ?? null,
    isReplay: record.isReplay ?? false,
    unparsed: record.unparsed ?? null,
    inlineBody: hasBodyRecord(bytes) ? null
      : { bytes: bytes.subarray(bodyStart + 1, bytes.length - 1), isEncoded: true },
  };
}

function decodeVerdict(
  { preset = null, accepted, failedCheck = null, secret = null, signedAt = null }:
  RequestRecord['verdict'],
): StoredVerdict {
  return { preset, accepted, failedCheck, secret, signedAt };
}

function isSound(record: JsonObject): boolean {
  const { status, pinned, headers, bodyBytes, verdict } = record;
  return REQUIRED_TEXTS.every((name) => typeof record[name] === 'string')
    && typeof pinned === 'boolean' && typeof bodyBytes === 'number' && Array.isArray(headers)
    && isJsonObject(verdict) && typeof verdict['accepted'] === 'boolean'
    && RECORD_STATUSES.some((candidate) => candidate === status);
}

const writer = new ByteWriter();

/**
 * Encodes the record of a request as one line, with the members in a fixed order; its deliveries
 * are encoded apart. The result is valid until the next call.
 */
export function encodeRequest(request: StoredRequest): Buffer {
  const { id, receivedAt, updatedAt, pinned, hook, inlineBody, routes } = request;
  const status = routes.length === 0 ? request.status : ACCEPTED;
  writer.clear();
  writer.addText(`{"id":"${id}","receivedAt":"${receivedAt}","updatedAt":"${updatedAt}",`
    + `"status":"${status}","pinned":${pinned},"hook":"${hook}"${encodeOrigin(request)}`
    + `${encodeProgress(request)},`
    + (inlineBody === null ? `${BODY_APART}}` : ''));
  if (inlineBody === null) return writer.bytes;
  appendInlineBody(writer, inlineBody);
  writer.addText('}');
  return writer.bytes;
}

// The slots of the encoder: method, path, client, host, and then names and values of headers.
const repeatedTexts = new RepeatedStringEncoder();
const FIRST_HEADER_SLOT = 4;

/** Encodes the members that describe the request as it was received. */
function encodeOrigin(request: StoredRequest): string {
  const { query, signatures, host } = request;
  let json = `,"bodyBytes":${request.bodyBytes},"method":${repeatedTexts.encode(0, request.method)}`
    + `,"path":${repeatedTexts.encode(1, request.path)}`;
  if (query !== '') json += `,"query":${text(query)}`;
  json += `,"headers":[${encodeList(request.headers, encodeHeader)}]`;
  if (signatures.length > 0) json += `,"signatures":[${encodeList(signatures, text)}]`;
  json += `,"bodySha256":"${request.bodySha256}"`
    + `,"client":${repeatedTexts.encode(2, request.client)}`;
  if (host !== '') json += `,"host":${repeatedTexts.encode(3, host)}`;
  if (request.protocol !== 'http') json += `,"protocol":${text(request.protocol)}`;
  if (request.event !== null) json += `,"event":${text(request.event)}`;
  if (request.eventId !== null) json += `,"eventId":${text(request.eventId)}`;
  if (request.eventIdReused) json += ',"eventIdReused":true';
  return `${json},"verdict":${encodeVerdict(request.verdict)}`;
}

function encodeList<T>(
  items: readonly T[], encodeItem: (item: T, index: number) => string,
): string {
  let json = '';
  let index = 0;
  for (const item of items) {
    json += index === 0 ? encodeItem(item, index) : `,${encodeItem(item, index)}`;
    index += 1;
  }
  return json;
}

function encodeHeader([name, value]: readonly [string, string], index: number): string {
  const slot = FIRST_HEADER_SLOT + 2 * index;
  return `[${repeatedTexts.encode(slot, name)},${repeatedTexts.encode(slot + 1, value)}]`;
}

/** Encodes the members that tell how the request has fared. */
function encodeProgress(
  { answered, duplicateOf, replayOf, isReplay, unparsed }: StoredRequest,
): string {
  let json = '';
  if (answered !== null) {
    json += `,"answered":{"status":${answered.status},"afterMs":${answered.afterMs}}`;
  }
  if (duplicateOf !== null) json += `,"duplicateOf":"${duplicateOf}"`;
  if (replayOf !== null) json += `,"replayOf":"${replayOf}"`;
  if (isReplay) json += ',"isReplay":true';
  if (unparsed !== null) json += `,"unparsed":${JSON.stringify(unparsed)}`;
  return json;
}

function encodeVerdict({ preset, accepted, failedCheck, secret, signedAt }: StoredVerdict): string {
  let json = `{"accepted":${accepted}`;
  if (preset !== null) json += `,"preset":${text(preset)}`;
  if (failedCheck !== null) json += `,"failedCheck":${text(failedCheck)}`;
  if (secret !== null) json += `,"secret":"${secret}"`;
  if (signedAt !== null) json += `,"signedAt":"${signedAt}"`;
  return `${json}}`;
}

// The first letter of a status identifies it.
const STATUS_BY_LETTER = new Map<number | undefined, RecordStatus>(
  RECORD_STATUSES.map((status) => [status.charCodeAt(0), status]));

/** Reads the status of a stored request, without parsing more than it must. */
export function readRequestStatus(bytes: Buffer, find: FindRecord): RequestStatus {
  return readStatusWithRoutes(
    bytes, hasDeliveries(bytes) ? listRouteRecords(readRequestId(bytes), find) : []);
}

/** Does as `readRequestStatus`. `routes` are the records of the request's deliveries. */
export function readStatusWithRoutes(bytes: Buffer, routes: readonly Buffer[]): RequestStatus {
  const status = readRecordStatus(bytes);
  return status === ACCEPTED ? combineStatuses(
    routes.map((route) => deliveryHead.readStatus(route))) : status;
}

/** Reads the identifier, without parsing. */
export function readRequestId(bytes: Buffer): string {
  return bytes.toString('latin1', ID_AT, ID_AT + ID_LENGTH);
}

function readRecordStatus(bytes: Buffer): RecordStatus {
  const status = STATUS_BY_LETTER.get(bytes[STATUS_AT]);
  if (status === undefined) throw new TypeError('a stored request has no status');
  return status;
}

/** Whether a stored request is pinned, without parsing it. */
export function isPinned(bytes: Buffer): boolean {
  return bytes[STATUS_AT + readRecordStatus(bytes).length + PINNED_LENGTH] === LETTER_T;
}

const HOOK_LENGTH = ',"hook":"'.length;

function findHookStart(bytes: Buffer): number {
  const pinnedLength = isPinned(bytes) ? 'true'.length : 'false'.length;
  return STATUS_AT + readRecordStatus(bytes).length + PINNED_LENGTH + pinnedLength + HOOK_LENGTH;
}

/** Whether the body has a record of its own, without parsing. */
export function hasBodyRecord(bytes: Buffer): boolean {
  // An inline body ends with a quote.
  return bytes[bytes.length - 2] !== QUOTE;
}

const BODY_BYTES_LENGTH = ',"bodyBytes":'.length;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
/** The growth of a body in base64. */
const BASE64_FACTOR = 4 / 3;

/** Estimates the bytes of a stored request with its body, wherever that is, without parsing. */
export function estimateStoredBytes(bytes: Buffer): number {
  if (!hasBodyRecord(bytes)) return bytes.length;
  return bytes.length + Math.ceil(readBodyBytes(bytes) * BASE64_FACTOR);
}

// It goes byte by byte: two searches and a string took ten times as many instructions (3,500).
function readBodyBytes(bytes: Buffer): number {
  let position = findHookStart(bytes) + 1;
  while (bytes[position - 1] !== QUOTE) position += 1;
  let bodyBytes = 0;
  for (position += BODY_BYTES_LENGTH; ; position += 1) {
    const byte = bytes[position] ?? COMMA;
    if (byte === COMMA) return bodyBytes;
    bodyBytes = bodyBytes * 10 + byte - DIGIT_0;
  }
}

/**
 * Reads the milliseconds since the epoch of the request's last change, without parsing. `routes`
 * are the records of its deliveries.
 */
export function readRequestUpdatedMs(bytes: Buffer, routes: readonly Buffer[]): number {
  const ownMs = parseTimestamp(bytes.toString('latin1', UPDATED_AT, UPDATED_AT + TIME_LENGTH));
  return routes.reduce((latestMs, record) =>
    Math.max(latestMs, deliveryHead.readUpdatedMs(record)), ownMs);
}
