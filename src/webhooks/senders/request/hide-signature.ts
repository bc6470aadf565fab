/**
 * Hides the signature of a request, or the secret that it sends, from the log. A custom scheme may
 * have it under any name. Pure.
 */
import { isJsonObject } from '../../../base/fields.ts';
import { MASK } from '../../../base/log.ts';
import { hideQuerySecrets, hideQueryValues } from '../../members/url-credentials.ts';
import type { ValueSource } from '../scheme/scheme.ts';

/** `headers` has names in lower case. */
export function hideSignatureHeaders<Value>(
  headers: Readonly<Record<string, Value>>, sources: readonly ValueSource[],
): Readonly<Record<string, Value | string>> {
  const hiddenNames = listHeaderNames(sources);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) =>
    [name, hiddenNames.includes(name) ? MASK : value]));
}

/** Returns the names in lower case. */
export function listHeaderNames(sources: readonly ValueSource[]): readonly string[] {
  return sources.flatMap((source) => 'header' in source ? [source.header.toLowerCase()] : []);
}

export function listQueryParameters(sources: readonly ValueSource[]): readonly string[] {
  return sources.flatMap((source) => 'query' in source ? [source.query] : []);
}

/** A raw query without the signature, and without the values of secret-like parameters. */
export function hideSignatureParameters(query: string, sources: readonly ValueSource[]): string {
  const hiddenNames = listQueryParameters(sources);
  const shownQuery = hideQuerySecrets(query);
  return hiddenNames.length === 0 ? shownQuery
    : hideQueryValues(shownQuery, (name) => hiddenNames.includes(name));
}

export function hideSignatureMembers(payload: object, sources: readonly ValueSource[]): unknown {
  let redactedPayload: unknown = payload;
  for (const source of sources) {
    if ('json' in source) redactedPayload = hideAt(redactedPayload, source.json.split('.'));
    else if ('form' in source) redactedPayload = hideAt(redactedPayload, [source.form]);
    else continue;
    // A body that is read as text holds the secret somewhere within it.
    if (redactedPayload === payload && 'text' in payload) return { ...payload, text: MASK };
  }
  return redactedPayload;
}

/**
 * Gives the value itself if there is nothing at the path. The recursion is short: schemes have
 * short paths.
 */
function hideAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return MASK;
  if (step.endsWith('[]')) {
    return hideAt(value, [step.slice(0, -'[]'.length), EVERY_ELEMENT, ...rest]);
  }
  if (Array.isArray(value)) {
    return value.map((element: unknown, index) =>
      step === EVERY_ELEMENT || step === String(index) ? hideAt(element, rest) : element);
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: hideAt(value[step], rest) };
}

/** Stands for every element of an array. It is no member name: no step of a path is empty. */
const EVERY_ELEMENT = '';
