/**
 * Builds the headers that a transparent relay sends on: end-to-end headers, so that the target can
 * verify the signature by itself, and the origin of the request. Pure.
 */
import { CONNECTION_HEADERS } from '../../base/network/connection-headers.ts';
import { CHAIN_HEADER } from '../../base/webhook-chain.ts';

/** The parts of a request that its action gets beside the context. */
export type RequestOrigin = {
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** `''` for a unix socket. */
  readonly clientAddress: string;
  readonly host: string;
  readonly protocol: string;
  readonly requestId: string;
};

export type PassedHeaders = Readonly<Record<string, string | readonly string[]>>;

// Headers that are meant for us alone.
const PRIVATE_HEADERS = ['cookie', 'proxy-authenticate'];
const EVENT_ID_HEADER = 'x-hookshelf-event-id';
/** The id of a stored request. It is the same each time that the request is sent on. */
export const REQUEST_ID_HEADER = 'x-hookshelf-request';
// Headers that we set ourselves, as a caller could claim anything.
const OWN_HEADERS = [
  'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id', EVENT_ID_HEADER,
  REQUEST_ID_HEADER, CHAIN_HEADER, 'traceparent', 'tracestate',
];
const SENDABLE_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function buildPassedHeaders(
  origin: RequestOrigin, eventId: string | null, isAuthorizationPassed: boolean,
): PassedHeaders {
  const headers = new Map<string, string | readonly string[]>();
  const droppedNames = new Set([
    ...CONNECTION_HEADERS, ...PRIVATE_HEADERS, ...OWN_HEADERS,
    ...isAuthorizationPassed ? [] : ['authorization'],
    ...listConnectionOptions(origin.rawHeaders),
  ]);
  for (const [name, value] of toHeaderPairs(origin.rawHeaders)) {
    if (droppedNames.has(name)) continue;
    const previousValue = headers.get(name);
    headers.set(name, previousValue === undefined ? value : [previousValue, value].flat());
  }
  const { clientAddress, host, protocol, requestId } = origin;
  const originHeaders = {
    'x-forwarded-for': clientAddress, 'x-forwarded-host': host, 'x-forwarded-proto': protocol,
    'x-request-id': requestId, [EVENT_ID_HEADER]: eventId ?? '',
  };
  for (const [name, value] of Object.entries(originHeaders)) {
    if (SENDABLE_VALUE.test(value)) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/** `url` with the caller's raw query after its own, and without its fragment. */
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
