/**
 * What a transparent relay sends on of a request that it received: end-to-end headers, so that the
 * target can verify the signature by itself, and who called. Pure.
 */
import { CHAIN_HEADER } from '../../base/webhook-chain.ts';

/** Where a request came from, beside what its action is told. */
export type RequestOrigin = {
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** `''` on a unix socket. */
  readonly clientAddress: string;
  readonly host: string;
  readonly protocol: string;
  readonly requestId: string;
};

export type PassedHeaders = Readonly<Record<string, string | readonly string[]>>;

// Of one connection: RFC 9110 §7.6.1, with those of older RFCs.
const HOP_BY_HOP = [
  'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
];
// The message's frame, and what is meant for us alone.
const OURS = [
  'host', 'content-length', 'expect', 'cookie', 'proxy-authorization', 'proxy-authenticate',
];
const EVENT_ID_HEADER = 'x-hookshelf-event-id';
/** The id of a kept request: the same one each time it is sent on. */
export const REQUEST_HEADER = 'x-hookshelf-request';
// We say them ourselves: a caller could claim anything.
const OWN_HEADERS = [
  'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id', EVENT_ID_HEADER,
  REQUEST_HEADER, CHAIN_HEADER,
];
const SENDABLE_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function buildPassedHeaders(
  origin: RequestOrigin, eventId: string | null, isAuthorizationPassed: boolean,
): PassedHeaders {
  const headers = new Map<string, string | readonly string[]>();
  const droppedNames = new Set([
    ...HOP_BY_HOP, ...OURS, ...OWN_HEADERS, ...isAuthorizationPassed ? [] : ['authorization'],
    ...listConnectionOptions(origin.rawHeaders),
  ]);
  for (const [name, value] of toHeaderPairs(origin.rawHeaders)) {
    if (droppedNames.has(name)) continue;
    const previousValue = headers.get(name);
    headers.set(name, previousValue === undefined ? value : [previousValue, value].flat());
  }
  const { clientAddress, host, protocol, requestId } = origin;
  const added = {
    'x-forwarded-for': clientAddress, 'x-forwarded-host': host, 'x-forwarded-proto': protocol,
    'x-request-id': requestId, [EVENT_ID_HEADER]: eventId ?? '',
  };
  for (const [name, value] of Object.entries(added)) {
    if (SENDABLE_VALUE.test(value)) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/** `url` with the caller's raw query behind its own; without a fragment. */
export function appendQuery(url: string, search: string): string {
  const urlWithoutFragment = url.split('#', 1)[0] ?? url;
  if (search === '') return urlWithoutFragment;
  const hasQuery = urlWithoutFragment.includes('?');
  const separator = hasQuery && /[?&]$/.test(urlWithoutFragment) ? '' : '&';
  return `${urlWithoutFragment}${hasQuery ? separator : '?'}${search}`;
}

function listConnectionOptions(raw: readonly string[]): string[] {
  return toHeaderPairs(raw).filter(([name]) => name === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
}

/** Names in lower case. */
function toHeaderPairs(raw: readonly string[]): (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    pairs.push([(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']);
  }
  return pairs;
}
