/**
 * Redacts the headers and the query of a request before they are stored. Credentials become `***`,
 * also within an address such as that of `Referer`. Signatures are stored, as the target of a
 * forward may verify them, but they are not shown. Pure.
 */
import { MASK, isSecretName, redactText } from '../../../base/log.ts';
import { mapQueryValues } from '../../members/url-credentials.ts';
import { toSourceList, type Scheme } from '../../senders/scheme/scheme.ts';

type StoredHead = {
  readonly headers: readonly (readonly [string, string])[];
  readonly query: string;
  /** Names, in lower case, of headers and parameters that hold a signature. */
  readonly signatures: readonly string[];
};

/** `scheme` is that of the webhook's `verification`; null: it has none. */
export function redactHead(
  rawHeaders: readonly string[], search: string, scheme: Scheme | null,
): StoredHead {
  const declaredKinds = listDeclaredKinds(scheme);
  const signatures = new Set<string>();
  const redactValue = (name: string, value: string): string => {
    const kind = declaredKinds.get(name) ?? findKind(name);
    if (kind === 'credential') return MASK;
    if (kind === 'signature') signatures.add(name);
    else if (!declaredKinds.has(name) && holdsAddress(name, value)) return redactText(value);
    return value;
  };
  const headers: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    headers.push([name, isCredential(value) ? MASK : redactValue(name.toLowerCase(), value)]);
  }
  const query = search === '' ? '' : mapQueryValues(search, (name, value) =>
    redactValue(name.toLowerCase(), value));
  return { headers, query, signatures: [...signatures] };
}

const ADDRESS_NAMES: ReadonlySet<string> = new Set(['referer', 'origin']);
const ADDRESS = /^\/|:\/\/|%3a%2f%2f/i;

/** Whether a value is or holds an address; any other `a=b` may be a signature. */
function holdsAddress(name: string, value: string): boolean {
  return ADDRESS_NAMES.has(name) || ADDRESS.test(value);
}

const CREDENTIALS = /^(bearer|basic) +([\w.~+/-]+=*)$/i;

/**
 * Whether a value is a credential as in Authorization, which proxies pass on under other names: a
 * bearer token (RFC 6750) or a user and a password (RFC 7617).
 */
function isCredential(value: string): boolean {
  const match = CREDENTIALS.exec(value);
  if (match === null) return false;
  const [, scheme = '', token = ''] = match;
  return scheme.toLowerCase() === 'bearer' || Buffer.from(token, 'base64').includes(':');
}

type NameKind = 'credential' | 'signature' | 'plain';

/**
 * The kinds of the names that the scheme reads. The algorithm `token` sends the shared secret
 * itself.
 */
function listDeclaredKinds(scheme: Scheme | null): ReadonlyMap<string, NameKind> {
  if (scheme === null) return NO_NAMES;
  const { algorithm, signature, timestamp } = scheme;
  const names = new Map<string, NameKind>();
  const add = (sources: Parameters<typeof toSourceList>[0], kind: NameKind): void => {
    for (const source of toSourceList(sources)) {
      if ('header' in source) names.set(source.header.toLowerCase(), kind);
      else if ('query' in source) names.set(source.query.toLowerCase(), kind);
    }
  };
  add(timestamp?.from, 'plain');
  add(signature.from, algorithm === 'token' ? 'credential' : 'signature');
  return names;
}

const NO_NAMES: ReadonlyMap<string, NameKind> = new Map();
const SIGNATURE_WORDS = /signature|hmac|\bsig\b/g;

function findKind(name: string): NameKind {
  if (!isSecretName(name)) return 'plain';
  return isSecretName(name.replaceAll(SIGNATURE_WORDS, '')) ? 'credential' : 'signature';
}

/** Whether the headers are stored as they came, without a masked credential. */
export function isHeadWhole({ headers }: Pick<StoredHead, 'headers'>): boolean {
  for (const [, value] of headers) if (value.includes(MASK)) return false;
  return true;
}
