/**
 * Credentials in a URL: user and password, and the values of secret-like parameters. Hidden and put
 * back in place, so that no other byte of the URL changes. Pure.
 */
import { decodePercent, findSecretParameters } from '../../base/log.ts';
import type { TextParameter } from '../../base/log.ts';

export const MASK = '***';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const VALUE_END = /[&#]/g;

/** Whether a text reads as an absolute URL. */
export function isUrl(text: string): boolean {
  return SCHEME.test(text);
}

/** Scheme, host and port of a URL; all of it where it cannot be read. */
export function formatOrigin(url: string): string {
  if (!URL.canParse(url)) return hideUrlSecrets(url);
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/**
 * `text` with its credentials shown as `***` when it is a URL, else as it is. The parameters named
 * in `others` are hidden, too.
 */
export function hideUrlSecrets(text: string, others: readonly string[] = []): string {
  if (!SCHEME.test(text)) return text;
  const hidden = hideParameters(text, listSecretParameters(text))
    .replace(CREDENTIALS, `$1${MASK}@`);
  const start = hidden.indexOf('?') + 1;
  if (others.length === 0 || start === 0) return hidden;
  return hidden.slice(0, start)
    + hideQueryValues(hidden.slice(start), (name) => others.includes(name));
}

/** A raw query, without its `?`, with the values of secret-like parameters shown as `***`. */
export function hideQuerySecrets(query: string): string {
  return hideParameters(query, findSecretParameters(query, VALUE_END, 0));
}

/** A raw query with the values of those parameters shown as `***` whose names `isHidden` takes. */
export function hideQueryValues(query: string, isHidden: (name: string) => boolean): string {
  return mapQueryValues(query, (name, value) => isHidden(name) ? MASK : value);
}

/** A raw query with what `map` makes of each raw value; names are given percent-decoded. */
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
 * `text` with what `stored` holds for each `***` where credentials stand; null when it holds
 * nothing for one of them.
 */
export function restoreUrlSecrets(text: string, stored: string): string | null {
  if (!SCHEME.test(text)) return text;
  const replacements: Replacement[] = [];
  const storedParameters = listSecretParameters(stored);
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
  const replaced = replaceValues(text, replacements);
  // Whoever writes user and password apart means the same.
  if (userInfo !== MASK && userInfo !== `${MASK}:${MASK}`) return replaced;
  if (storedUserInfo === undefined) return null;
  return replaced.replace(CREDENTIALS, (_, scheme: string) => `${scheme}${storedUserInfo}@`);
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

// Some programs escape the asterisk.
function isMask(value: string): boolean {
  return value.replaceAll(/%2a/gi, '*') === MASK;
}

function replaceValues(text: string, replacements: readonly Replacement[]): string {
  let replaced = '';
  let at = 0;
  for (const { start, end, value } of replacements) {
    replaced += text.slice(at, start) + value;
    at = end;
  }
  return replaced + text.slice(at);
}
