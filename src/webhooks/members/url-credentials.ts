/**
 * Hides and restores credentials in a URL: user and password, and the values of secret-like
 * parameters. No other byte of the URL changes. Pure.
 */
import { MASK, decodePercent, findSecretParameters, type TextParameter } from '../../base/log.ts';

const SCHEME = /^\s*[a-z][a-z0-9+.-]*:\/\//i;
const CREDENTIALS = /^(\s*[a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const VALUE_END = /[&#]/g;

export function isUrl(text: string): boolean {
  return SCHEME.test(text);
}

/** The scheme, host and port of a URL; the whole text if it is no valid URL. */
export function formatOrigin(url: string): string {
  if (!URL.canParse(url)) return hideUrlSecrets(url);
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/**
 * `text` with `***` for its credentials if it is a URL, else unchanged. The parameters named in
 * `others` are hidden as well.
 */
export function hideUrlSecrets(text: string, others: readonly string[] = []): string {
  if (!SCHEME.test(text)) return text;
  const maskedUrl = mapParameters(text, listSecretParameters(text), hideParameter)
    .replace(CREDENTIALS, `$1${MASK}@`);
  const queryStart = maskedUrl.indexOf('?') + 1;
  if (others.length === 0 || queryStart === 0) return maskedUrl;
  return maskedUrl.slice(0, queryStart)
    + hideQueryValues(maskedUrl.slice(queryStart), (name) => others.includes(name));
}

/** A raw query without `?`, with `***` for the values of secret-like parameters. */
export function hideQuerySecrets(query: string): string {
  return mapParameters(query, listSecretParameters(query, 0), hideParameter);
}

/** A raw query with `***` for the values of the parameters whose names `isHidden` accepts. */
export function hideQueryValues(query: string, isHidden: (name: string) => boolean): string {
  return mapQueryValues(query, (name, value) => isHidden(name) ? MASK : value);
}

/** A raw query with each raw value replaced by `map`, which gets names percent-decoded. */
export function mapQueryValues(
  query: string, map: (name: string, value: string) => string,
): string {
  return query.split('&').map((parameter) => {
    const end = parameter.indexOf('=');
    if (end === -1) return parameter;
    const name = parameter.slice(0, end);
    return `${name}=${map(decodePercent(name), parameter.slice(end + 1))}`;
  }).join('&');
}

/**
 * `text` with each masked credential replaced by that of `stored`; null: `stored` lacks one of
 * them.
 */
export function restoreUrlSecrets(text: string, stored: string): string | null {
  if (!SCHEME.test(text)) return text;
  // A name may stand several times: the nth `***` keeps the nth stored value of that name.
  const storedValues = new Map<string, string[]>();
  for (const { name, start, end } of listSecretParameters(stored)) {
    const values = storedValues.get(name) ?? [];
    values.push(stored.slice(start, end));
    storedValues.set(name, values);
  }
  let isWhole = true;
  const keep = (value: string, storedValue: string | undefined): string => {
    isWhole &&= storedValue !== undefined;
    return storedValue ?? value;
  };
  const url = mapParameters(text, listSecretParameters(text), (value, name) => {
    const storedValue = storedValues.get(name)?.shift();
    return isMask(value) ? keep(value, storedValue) : value;
  }).replace(CREDENTIALS, (whole, scheme: string, userInfo: string) => {
    // `***:***` means the same as `***`.
    const isMasked = userInfo === MASK || userInfo === `${MASK}:${MASK}`;
    return isMasked ? `${scheme}${keep(userInfo, CREDENTIALS.exec(stored)?.[2])}@` : whole;
  });
  return isWhole ? url : null;
}

// Some programs percent-encode the asterisk.
function isMask(value: string): boolean {
  return value.replaceAll(/%2a/gi, '*') === MASK;
}

function listSecretParameters(url: string, from = url.search(/[?#]/)): readonly TextParameter[] {
  return from === -1 ? [] : findSecretParameters(url, VALUE_END, from);
}

function mapParameters(
  url: string, parameters: readonly TextParameter[], map: (value: string, name: string) => string,
): string {
  let result = '';
  let copiedEnd = 0;
  for (const { name, start, end } of parameters) {
    result += url.slice(copiedEnd, start) + map(url.slice(start, end), name);
    copiedEnd = end;
  }
  return result + url.slice(copiedEnd);
}

function hideParameter(value: string): string {
  return value === '' ? value : MASK;
}
