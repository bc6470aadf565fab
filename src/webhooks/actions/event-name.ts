/** Names of events: what may be emitted, and what a webhook may listen for. Pure. */
import { quoted } from '../../base/text/refusal.ts';

export const EVENT_NAME_RULE = 'an event name: 1 to 200 printable characters without "," and "*", '
  + 'and no space at its ends';

export const EVENT_NAME_LENGTH_MAX = 200;
/** What a webhook listens for that hears every event; no event has this name. */
export const EVERY_EVENT = '*';
// Free-form, but for what nobody sees, and for what stands between names and for many of them.
const EVENT_NAME_PATTERN = /^[^,*\p{C}\p{Zl}\p{Zp}]+$/u;

/** Whether `name` can be emitted. Programs and custom actions hand in what they like. */
export function isEventName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= EVENT_NAME_LENGTH_MAX * 2
    && [...name].length <= EVENT_NAME_LENGTH_MAX
    && EVENT_NAME_PATTERN.test(name) && name.trim() === name;
}

/** What a refusal of an event name says; `manyHint` is what to do for several of them. */
export function refuseEventName(name: unknown, manyHint = 'emit one event for each name'): string {
  if (name === undefined) return `is required, ${EVENT_NAME_RULE}`;
  const isMany = typeof name === 'string' && name.includes(',');
  const hint = isMany ? `; a comma would stand between names: ${manyHint}` : '';
  return `must be ${EVENT_NAME_RULE}, not ${quoted(name)}${hint}`;
}
