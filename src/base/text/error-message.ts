/** Parts of error messages: the value that was refused, and the names that would be accepted. */
import { isJsonNumber } from '../exact-number.ts';
import { redactText } from '../log.ts';
import { didYouMean } from './nearest.ts';

const QUOTED_LENGTH_MAX = 80;
const LISTED_NAMES_MAX = 20;
const JOINED_MAX = 5;

/** `value` as JSON, cut when it is long, credentials of URLs replaced. Not for secrets. */
export function quote(value: unknown): string {
  if (isJsonNumber(value)) return String(value);
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'an array' : 'an object';
  }
  if (typeof value !== 'string') return String(value);
  const text = maskCredentials(redactText(value));
  const isLong = text.length > QUOTED_LENGTH_MAX;
  return JSON.stringify(isLong ? `${text.slice(0, QUOTED_LENGTH_MAX)}…` : text);
}

/** An invalid URL may hold credentials anywhere before its last @: all of that is masked. */
function maskCredentials(text: string): string {
  const start = text.indexOf('://');
  const end = text.lastIndexOf('@');
  return start === -1 || end < start ? text : `${text.slice(0, start)}://***${text.slice(end)}`;
}

/** The end of a message about an unknown name: the name likely meant, else the known names. */
export function suggestName(name: string, knownNames: readonly string[]): string {
  const near = didYouMean(name, knownNames);
  if (near !== '') return near;
  if (knownNames.length === 0) return ': none is known';
  const verb = knownNames.length === 1 ? 'is' : 'are';
  return `: known ${verb} ${joinFirst(knownNames, { countMax: LISTED_NAMES_MAX })}`;
}

const KNOWN_NAMES = /: known (?:is|are) .*$/s;

/** The messages, each list of known names in the first of those that end with it. */
export function listNamesOnce(messages: readonly string[]): readonly string[] {
  const listedNames = new Set<string>();
  return messages.map((message) => {
    const [names] = KNOWN_NAMES.exec(message) ?? [];
    if (names === undefined) return message;
    if (listedNames.has(names)) return message.slice(0, -names.length);
    listedNames.add(names);
    return message;
  });
}

/** Joins the first labels, by default five, and says how many more there are. */
export function joinFirst(
  labels: readonly string[], { countMax = JOINED_MAX, separator = ', ' } = {},
): string {
  const more = labels.length > countMax ? ` and ${labels.length - countMax} more` : '';
  return `${labels.slice(0, countMax).join(separator)}${more}`;
}
