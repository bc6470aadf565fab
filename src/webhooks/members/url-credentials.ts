/**
 * Hides and restores credentials in a URL: user and password, and the values of secret-like
 * parameters. No other byte of the URL changes. Pure.
 */
import { MASK, decodePercent, findSecretParameters } from '../../base/log.ts';
import type { TextParameter } from '../../base/log.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const VALUE_END = /[&#]/g;

/** Whether a text reads as an absolute URL. */
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
  const maskedUrl = hideParameters(text, listSecretParameters(text))
    .replace(CREDENTIALS, `$1${MASK}@`);
  const queryStart = maskedUrl.indexOf('?') + 1;
  if (others.length === 0 || queryStart === 0) return maskedUrl;
  return maskedUrl.slice(0, queryStart)
    + hideQueryValues(maskedUrl.slice(queryStart), (name) => others.includes(name));
}

/** A raw query without `?`, with `***` for the values of secret-like parameters. */
export function hideQuerySecrets(query: string): string {
  return hideParameters(query, findSecretParameters(query, VALUE_END, 0));
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
  const replacements: Replacement[] = [];
  const storedParameters = listSecretParameters(stored);
  // A name may stand several times: the nth `***` keeps the nth stored value of that name.
  const counts = new Map<string, number>();
  for (const parameter of listSecretParameters(text)) {
    const { name, start, end } = parameter;
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    if (!isMask(text.slice(start, end))) continue;
    const storedParameter = storedParameters.filter((candidate) => candidate.name === name)[nth];
    if (storedParameter === undefined) return null;
    const value = stored.slice(storedParameter.start, storedParameter.end);
    replacements.push({ ...parameter, value });
  }
  const storedUserInfo = CREDENTIALS.exec(stored)?.[2];
  const userInfo = CREDENTIALS.exec(text)?.[2];
  const url = replaceValues(text, replacements);
  // `***:***` means the same as `***`.
  if (userInfo !== MASK && userInfo !== `${MASK}:${MASK}`) return url;
  if (storedUserInfo === undefined) return null;
  return url.replace(CREDENTIALS, (_, scheme: string) => `${scheme}${storedUserInfo}@`);
}

type Replacement = TextParameter & { readonly value: string };

function listSecretParameters(url: string): readonly TextParameter[] {
  const start = url.search(/[?#]/);
  return start === -1 ? [] : findSecretParameters(url, VALUE_END, start);
}

function hideParameters(text: string, parameters: readonly TextParameter[]): string {
  const nonEmptyParameters = parameters.filter(({ start, end }) => end > start);
  const replacements = nonEmptyParameters.map((parameter) => ({ ...parameter, value: MASK }));
  return replaceValues(text, replacements);
}

// Some programs percent-encode the asterisk.
function isMask(value: string): boolean {
  return value.replaceAll(/%2a/gi, '*') === MASK;
}

function replaceValues(text: string, replacements: readonly Replacement[]): string {
  let result = '';
  let copiedEnd = 0;
  for (const { start, end, value } of replacements) {
    result += text.slice(copiedEnd, start) + value;
    copiedEnd = end;
  }
  return result + text.slice(copiedEnd);
}
