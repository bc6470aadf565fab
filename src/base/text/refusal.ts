/** How a refusal shows what was given, and what would be taken instead. */
import { redactText } from '../log.ts';
import { nearest } from './nearest.ts';

const SHOWN_LENGTH_MAX = 80;
const LISTED_MAX = 20;
// No name of ours is longer; comparing a long one letter by letter would only cost time.
const HINTED_LENGTH_MAX = 128;

/** `value` as JSON, cut when it is long, credentials of URLs replaced. Not for secrets. */
export function quoted(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'an array' : 'an object';
  }
  if (typeof value !== 'string') return String(value);
  const text = withoutCredentials(redactText(value));
  const isLong = text.length > SHOWN_LENGTH_MAX;
  return JSON.stringify(isLong ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text);
}

/** What is no sound URL may hold credentials where none are looked for: all before its last @. */
function withoutCredentials(text: string): string {
  const start = text.indexOf('://');
  const end = text.lastIndexOf('@');
  return start === -1 || end < start ? text : `${text.slice(0, start)}://***${text.slice(end)}`;
}

/** The end of a refusal of a name: the one that was likely meant, else those that there are. */
export function hintFor(name: string, known: readonly string[]): string {
  const near = name.length > HINTED_LENGTH_MAX ? null : nearest(name, known);
  if (near !== null) return `: did you mean \`${near}\`?`;
  if (known.length === 0) return ': there is none';
  const more = known.length > LISTED_MAX ? ` and ${known.length - LISTED_MAX} more` : '';
  return `: known ${known.length === 1 ? 'is' : 'are'} ${known.slice(0, LISTED_MAX).join(', ')}`
    + more;
}
