/**
 * A stored request is one JSON object on one line. It begins
 *
 *     {"id":"<UUID>","receivedAt":"<time>","updatedAt":"<time>","status":"…","pinned":…,"hook":"…"
 *
 * where identifiers and times have one length, so that these are found without parsing; so is
 * `bodyBytes`, the next, which older records have behind the headers. Then follow the other members
 * of `KeptRequest`, those left out that have their usual value, in `verdict`, in `routes` and in
 * their `attempts` too. The last one is the body: `"bodyText"` where it is valid UTF-8, else
 * `"body"` in base64, or `"body":null` when it lies apart (body.ts). A record that lacks a member
 * that is always there is not sound: decoding it throws, as damage is no state to go on from.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { isJsonObject } from '../../base/fields.ts';
import {
  RepeatedStringEncoder, isEmptyObject, encodeString as text,
} from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { ByteWriter } from '../../base/structures/byte-writer.ts';
import { TIME_LENGTH, decodeRecordAs } from '../../resources/record.ts';
import { BODY_START, NO_BODY, addCarried } from './body.ts';
import {
  REQUEST_STATUSES, type KeptRequest, type KeptVerdict, type RequestStatus, type RouteRun,
  type RunAttempt,
} from './request.ts';

const ID_LENGTH = 36;
const RECEIVED_AT = '{"id":"","receivedAt":"'.length + ID_LENGTH;
const UPDATED_AT = RECEIVED_AT + TIME_LENGTH + '","updatedAt":"'.length;
const STATUS_AT = UPDATED_AT + TIME_LENGTH + '","status":"'.length;
const PINNED_LENGTH = '","pinned":'.length;
const LETTER_T = 0x74;
type StoredRoute = Partial<RouteRun> & Pick<RouteRun, 'name' | 'status'>;
type StoredAttempt = Partial<RunAttempt> & Pick<RunAttempt, 'at' | 'durationMs' | 'success'>;

type Stored = Omit<Partial<KeptRequest>, 'verdict' | 'routes'> & Pick<KeptRequest,
  'id' | 'receivedAt' | 'updatedAt' | 'status' | 'pinned' | 'hook' | 'method' | 'path' | 'headers'
  | 'bodyBytes' | 'bodySha256' | 'client'> & {
    readonly verdict: Partial<KeptVerdict> & Pick<KeptVerdict, 'accepted'>;
    readonly routes: readonly StoredRoute[];
  };

/** A stored request, with what it leaves out filled in. */
export function decodeRequest(bytes: Buffer): KeptRequest {
  const end = bytes.lastIndexOf(BODY_START);
  if (end === -1) throw new TypeError('a stored request has no body');
  // The body may be large, and is passed on as it is.
  const stored = decodeRecordAs<Stored>(`${bytes.toString('utf8', 0, end)}}`, isSound);
  const { id, receivedAt, updatedAt, status, pinned, hook, method, path, headers } = stored;
  return {
    id, receivedAt, updatedAt, status, pinned, hook, method, path, headers,
    query: stored.query ?? '',
    signatures: stored.signatures ?? [],
    bodyBytes: stored.bodyBytes,
    bodySha256: stored.bodySha256,
    client: stored.client,
    host: stored.host ?? '',
    protocol: stored.protocol ?? 'http',
    event: stored.event ?? null,
    eventId: stored.eventId ?? null,
    eventIdReused: stored.eventIdReused ?? false,
    verdict: decodeVerdict(stored.verdict),
    routes: stored.routes.map(decodeRoute),
    answered: stored.answered ?? null,
    duplicateOf: stored.duplicateOf ?? null,
    replayOf: stored.replayOf ?? null,
    isReplay: stored.isReplay ?? false,
    unparsed: stored.unparsed ?? null,
    carried: hasBodyApart(bytes) ? null
      : { bytes: bytes.subarray(end + 1, bytes.length - 1), isStored: true },
  };
}

function decodeVerdict(
  { preset = null, accepted, failedCheck = null, secret = null, signedAt = null }:
  Stored['verdict'],
): KeptVerdict {
  return { preset, accepted, failedCheck, secret, signedAt };
}

function decodeRoute({ name, status, ...route }: StoredRoute): RouteRun {
  const attempts = (route.attempts ?? []).map(decodeAttempt);
  const { nextAttemptAt = null, failures = 0, attemptCount = attempts.length } = route;
  return { name, status, attempts, nextAttemptAt, failures, attemptCount };
}

function decodeAttempt(
  { at, durationMs, success, message = null, data = {} }: StoredAttempt,
): RunAttempt {
  return { at, durationMs, success, message, data };
}

function isSound(record: JsonObject): boolean {
  const { id, receivedAt, status, hook, headers, bodyBytes, verdict, routes } = record;
  return typeof id === 'string' && typeof receivedAt === 'string' && typeof hook === 'string'
    && typeof bodyBytes === 'number' && Array.isArray(headers) && Array.isArray(routes)
    && isJsonObject(verdict) && REQUEST_STATUSES.some((known) => known === status);
}

const writer = new ByteWriter();

/**
 * One line, members in a fixed order; good until the next one is encoded. `before` is the record of
 * an earlier version: what the request was as it came stands there, and never changes.
 */
export function encodeRequest(request: KeptRequest, before: Buffer | null = null): Buffer {
  const { id, receivedAt, updatedAt, status, pinned, hook, carried } = request;
  const head = `{"id":"${id}","receivedAt":"${receivedAt}","updatedAt":"${updatedAt}",`
    + `"status":"${status}","pinned":${pinned},"hook":"${hook}"`;
  const fate = carried === null ? `${fateJson(request)}${NO_BODY}}` : fateJson(request);
  writer.clear();
  if (before === null) {
    writer.addText(head + originJson(request) + fate);
  } else {
    writer.addText(head);
    const origin = hookStart(before) + hook.length + 1;
    writer.addBytes(before, origin, before.indexOf(ROUTES_MARK, origin));
    writer.addText(fate);
  }
  if (carried === null) return writer.bytes;
  addCarried(writer, carried);
  writer.addText('}');
  return writer.bytes;
}

// Their places: the method, the path, the client, the host, and the headers.
const repeated = new RepeatedStringEncoder();
const FIRST_HEADER = 4;

/** What the request was as it came. */
function originJson(request: KeptRequest): string {
  const { query, signatures, host } = request;
  let json = `,"bodyBytes":${request.bodyBytes},"method":${repeated.encode(0, request.method)}`
    + `,"path":${repeated.encode(1, request.path)}`;
  if (query !== '') json += `,"query":${text(query)}`;
  json += `,"headers":[${listJson(request.headers, headerJson)}]`;
  if (signatures.length > 0) json += `,"signatures":[${listJson(signatures, text)}]`;
  json += `,"bodySha256":"${request.bodySha256}","client":${repeated.encode(2, request.client)}`;
  if (host !== '') json += `,"host":${repeated.encode(3, host)}`;
  if (request.protocol !== 'http') json += `,"protocol":${text(request.protocol)}`;
  if (request.event !== null) json += `,"event":${text(request.event)}`;
  if (request.eventId !== null) json += `,"eventId":${text(request.eventId)}`;
  if (request.eventIdReused) json += ',"eventIdReused":true';
  return `${json},"verdict":${verdictJson(request.verdict)}`;
}

function listJson<T>(items: readonly T[], itemJson: (item: T, index: number) => string): string {
  let json = '';
  let index = 0;
  for (const item of items) {
    json += index === 0 ? itemJson(item, index) : `,${itemJson(item, index)}`;
    index += 1;
  }
  return json;
}

function headerJson([name, value]: readonly [string, string], index: number): string {
  const place = FIRST_HEADER + 2 * index;
  return `[${repeated.encode(place, name)},${repeated.encode(place + 1, value)}]`;
}

/** What became of it. */
function fateJson(
  { routes, answered, duplicateOf, replayOf, isReplay, unparsed }: KeptRequest,
): string {
  let json = `,"routes":[${listJson(routes, routeJson)}]`;
  if (answered !== null) {
    json += `,"answered":{"status":${answered.status},"afterMs":${answered.afterMs}}`;
  }
  if (duplicateOf !== null) json += `,"duplicateOf":"${duplicateOf}"`;
  if (replayOf !== null) json += `,"replayOf":"${replayOf}"`;
  if (isReplay) json += ',"isReplay":true';
  if (unparsed !== null) json += `,"unparsed":${JSON.stringify(unparsed)}`;
  return `${json},`;
}

function verdictJson({ preset, accepted, failedCheck, secret, signedAt }: KeptVerdict): string {
  let json = `{"accepted":${accepted}`;
  if (preset !== null) json += `,"preset":${text(preset)}`;
  if (failedCheck !== null) json += `,"failedCheck":${text(failedCheck)}`;
  if (secret !== null) json += `,"secret":"${secret}"`;
  if (signedAt !== null) json += `,"signedAt":"${signedAt}"`;
  return `${json}}`;
}

function routeJson(
  { name, status, attempts, nextAttemptAt, failures, attemptCount }: RouteRun,
): string {
  let json = `{"name":${text(name)},"status":"${status}"`;
  if (attempts.length > 0) json += `,"attempts":[${listJson(attempts, attemptJson)}]`;
  if (nextAttemptAt !== null) json += `,"nextAttemptAt":"${nextAttemptAt}"`;
  if (failures !== 0) json += `,"failures":${failures}`;
  if (attemptCount !== attempts.length) json += `,"attemptCount":${attemptCount}`;
  return `${json}}`;
}

function attemptJson({ at, durationMs, success, message, data }: RunAttempt): string {
  let json = `{"at":"${at}","durationMs":${durationMs},"success":${success}`;
  if (message !== null) json += `,"message":${text(message)}`;
  if (!isEmptyObject(data)) json += `,"data":${JSON.stringify(data)}`;
  return `${json}}`;
}

// The first two letters of a status are enough to tell it.
const STATUS_BY_LETTERS = new Map(REQUEST_STATUSES.map((status) =>
  [status.charCodeAt(0) << 8 | status.charCodeAt(1), status]));

/** The status of a stored request, without parsing it. */
export function statusOf(bytes: Buffer): RequestStatus {
  const status = STATUS_BY_LETTERS.get(bytes.readUInt16BE(STATUS_AT));
  if (status === undefined) throw new TypeError('a stored request has no status');
  return status;
}

/** Whether it may not be removed, without parsing it. */
export function isPinned(bytes: Buffer): boolean {
  return bytes[STATUS_AT + statusOf(bytes).length + PINNED_LENGTH] === LETTER_T;
}

const EVENT_MARK = Buffer.from(',"event":"');
const EVENT_ID_MARK = Buffer.from(',"eventId":"');
const VERDICT_MARK = Buffer.from(',"verdict":{');
const ROUTES_MARK = Buffer.from(',"routes":[');
const HOOK_LENGTH = ',"hook":"'.length;
const QUOTE = 0x22;

/** The incoming webhook's identifier, without parsing the record; so do the next three. */
export function hookOf(bytes: Buffer): string {
  const start = hookStart(bytes);
  return bytes.toString('latin1', start, bytes.indexOf(QUOTE, start));
}

function hookStart(bytes: Buffer): number {
  const pinnedLength = isPinned(bytes) ? 'true'.length : 'false'.length;
  return STATUS_AT + statusOf(bytes).length + PINNED_LENGTH + pinnedLength + HOOK_LENGTH;
}

/** The sender's name of what happened. */
export function eventOf(bytes: Buffer): string | null {
  return textAfter(bytes, EVENT_MARK);
}

/** The sender's identifier of what happened. */
export function eventIdOf(bytes: Buffer): string | null {
  return textAfter(bytes, EVENT_ID_MARK);
}

function textAfter(bytes: Buffer, mark: Buffer): string | null {
  // Up to the verdict no other member has that name, and in a string its quotes are escaped.
  const at = bytes.indexOf(mark, STATUS_AT);
  if (at === -1 || at > bytes.indexOf(VERDICT_MARK, STATUS_AT)) return null;
  const start = at + mark.length - 1;
  let end = bytes.indexOf(QUOTE, start + 1);
  while (isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  return String(JSON.parse(bytes.toString('utf8', start, end + 1)));
}

/** Milliseconds since the epoch. */
export function receivedMsOf(bytes: Buffer): number {
  return Date.parse(bytes.toString('latin1', RECEIVED_AT, RECEIVED_AT + TIME_LENGTH));
}

/** Whether the body has a record of its own, without parsing the request's. */
export function hasBodyApart(bytes: Buffer): boolean {
  // A body in the record ends with a quote.
  return bytes[bytes.length - 2] !== QUOTE;
}

const BACKSLASH = 0x5c;

function isEscaped(bytes: Buffer, quoteAt: number): boolean {
  let start = quoteAt;
  while (bytes[start - 1] === BACKSLASH) start -= 1;
  return (quoteAt - start) % 2 === 1;
}

const BODY_BYTES_MARK = Buffer.from(',"bodyBytes":');
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const LETTER_B = 0x62;
/** Of base64, which a body that is no text takes. */
const BASE64_FACTOR = 4 / 3;

/** About what a request takes with its body, wherever that is, without parsing it. */
export function storedBytesOf(bytes: Buffer): number {
  if (!hasBodyApart(bytes)) return bytes.length;
  return bytes.length + Math.ceil(bodyBytesOf(bytes) * BASE64_FACTOR);
}

// Byte by byte: two searches and a string took ten times as many instructions, 3,500.
function bodyBytesOf(bytes: Buffer): number {
  let at = hookStart(bytes) + 1;
  while (bytes[at - 1] !== QUOTE) at += 1;
  // Older records have `method` here, and this behind the headers.
  if (bytes[at + ',"'.length] !== LETTER_B) at = bytes.indexOf(BODY_BYTES_MARK, at);
  let bodyBytes = 0;
  for (at += BODY_BYTES_MARK.length; ; at += 1) {
    const byte = bytes[at] ?? COMMA;
    if (byte === COMMA) return bodyBytes;
    bodyBytes = bodyBytes * 10 + byte - DIGIT_0;
  }
}

/** Milliseconds since the epoch at which a stored request was last written, without parsing it. */
export function updatedMsOf(bytes: Buffer): number {
  return parseTimestamp(bytes.toString('latin1', UPDATED_AT, UPDATED_AT + TIME_LENGTH));
}
