/** The grammar of events' names, and of patterns of them. Pure. */
import { quote } from './text/error-message.ts';

export const EVENT_NAME_RULE = 'an event name: 1 to 200 printable characters without "," and "*", '
  + 'and no space at its ends';

export const EVENT_NAME_LENGTH_MAX = 200;
/**
 * A webhook that listens for this name gets every event but system events; no event has the name.
 */
export const EVERY_EVENT = '*';

// Free-form, without invisible characters, the comma between names, and the asterisk.
const EVENT_NAME_PATTERN = /^[^,*\p{C}\p{Zl}\p{Zp}]+$/u;

/** Whether a value is a valid name of an event. Programs and custom actions pass any value. */
export function isEventName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= EVENT_NAME_LENGTH_MAX * 2
    && [...name].length <= EVENT_NAME_LENGTH_MAX
    && EVENT_NAME_PATTERN.test(name) && name.trim() === name;
}

const PREFIX_END = '.*';

/**
 * Creates the test for a pattern of names: a name, the beginning of names before a dot such as
 * `book.*`, or `*` for all. null: it is none of these.
 */
export function createNameTest(pattern: string): ((name: string) => boolean) | null {
  if (pattern === EVERY_EVENT) return () => true;
  // The dot belongs to the beginning.
  const beginning = pattern.endsWith(PREFIX_END) ? pattern.slice(0, -1) : null;
  if (beginning !== null && isEventName(beginning)) return (name) => name.startsWith(beginning);
  return isEventName(pattern) ? (name) => name === pattern : null;
}

/** Lists all patterns that match a name, or all names of another pattern, which is among them. */
export function listPatternsOf(name: string): readonly string[] {
  const patterns = [EVERY_EVENT];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    patterns.push(name.slice(0, dot + 1) + EVERY_EVENT);
  }
  return patterns;
}

export const NAME_PATTERN_RULE = 'the name of an event such as book.created, the beginning of '
  + 'names before a dot such as book.*, or * for every name';

/** Explains why a name is invalid; `manyHint` says what to do for several names. */
export function explainInvalidEventName(
  name: unknown, { manyHint } = { manyHint: 'emit one event for each name' },
): string {
  if (name === undefined) return `is required, ${EVENT_NAME_RULE}`;
  const isMany = typeof name === 'string' && name.includes(',');
  const hint = isMany ? `; a comma would stand between names: ${manyHint}` : '';
  return `must be ${EVENT_NAME_RULE}, not ${quote(name)}${hint}`;
}
