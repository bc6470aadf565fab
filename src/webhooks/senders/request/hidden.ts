/**
 * What a sender's request is signed with, or the secret that it sends, hidden in what the log is to
 * have of it: a scheme of one's own may have it under any name. Pure.
 */
import { MASK, hideQueryValues } from '../../http/url-credentials.ts';
import type { ValueSource } from '../scheme/scheme.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Names of headers are in lower case. */
export function hideHeaders(headers: Headers, places: readonly ValueSource[]): Headers {
  const hidden = new Set(places.flatMap((place) =>
    'header' in place ? [place.header.toLowerCase()] : []));
  return Object.fromEntries(Object.entries(headers).map(([name, value]) =>
    [name, hidden.has(name) ? MASK : value]));
}

/** Names of the query parameters among them. */
export function parametersIn(places: readonly ValueSource[]): readonly string[] {
  return places.flatMap((place) => 'query' in place ? [place.query] : []);
}

export function hideQuery(query: string, places: readonly ValueSource[]): string {
  const hidden = parametersIn(places);
  return hidden.length === 0 ? query : hideQueryValues(query, (name) => hidden.includes(name));
}

export function hideMembers(payload: object, places: readonly ValueSource[]): unknown {
  let shown: unknown = payload;
  for (const place of places) {
    if ('json' in place) shown = hideAt(shown, place.json.split('.'));
    else if ('form' in place) shown = hideAt(shown, [place.form]);
    else continue;
    // A body that is read as text has it somewhere in there.
    if (shown === payload && 'text' in payload) return { ...payload, text: MASK };
  }
  return shown;
}

/** The value itself when nothing stands there. A path of a scheme has few steps. */
function hideAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return MASK;
  if (step.endsWith('[]')) return hideAt(value, [step.slice(0, -'[]'.length), EVERY, ...rest]);
  if (Array.isArray(value)) {
    return value.map((element: unknown, index) =>
      step === EVERY || step === String(index) ? hideAt(element, rest) : element);
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]: [string, unknown]) =>
    [name, name === step ? hideAt(member, rest) : member]));
}

/** No step of a path is empty. */
const EVERY = '';
