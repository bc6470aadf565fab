/** Names of events: what may be emitted, and what a webhook may listen for. Pure. */
import { quoted } from '../../base/text/refusal.ts';

export const EVENT_NAME_RULE = 'an event name: 1 to 200 printable characters without "," and "*", '
  + 'and no space at its ends';

export const EVENT_NAME_LENGTH_MAX = 200;
/** A webhook that listens for it hears every event but our own; no event has this name. */
export const EVERY_EVENT = '*';
/** The events that hookshelf tells of itself. Nobody else can emit one of these names. */
export const SYSTEM_EVENTS = [
  'delivery.failed', 'webhook.disabled', 'request.failed', 'store.unwritable', 'store.recovered',
] as const;
export type SystemEventName = (typeof SYSTEM_EVENTS)[number];

const SYSTEM_EVENT_NAMES: ReadonlySet<unknown> = new Set(SYSTEM_EVENTS);
// Free-form, but for what nobody sees, and for what stands between names and for many of them.
const EVENT_NAME_PATTERN = /^[^,*\p{C}\p{Zl}\p{Zp}]+$/u;

export function isSystemEventName(name: unknown): name is SystemEventName {
  return SYSTEM_EVENT_NAMES.has(name);
}

/**
 * What is wrong with a name that somebody but hookshelf wants to emit, to be said after what it is
 * the name of; null for a good one.
 */
export function findEmitProblem(name: unknown): string | null {
  if (!isEventName(name)) return explainInvalidEventName(name);
  return isSystemEventName(name)
    ? `must not be ${name}, which hookshelf alone emits, about itself: choose another name` : null;
}

/** Whether an event can have that name. Programs and custom actions hand in what they like. */
export function isEventName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= EVENT_NAME_LENGTH_MAX * 2
    && [...name].length <= EVENT_NAME_LENGTH_MAX
    && EVENT_NAME_PATTERN.test(name) && name.trim() === name;
}

/** What a refusal of an event name says; `manyHint` is what to do for several of them. */
export function explainInvalidEventName(
  name: unknown, manyHint = 'emit one event for each name',
): string {
  if (name === undefined) return `is required, ${EVENT_NAME_RULE}`;
  const isMany = typeof name === 'string' && name.includes(',');
  const hint = isMany ? `; a comma would stand between names: ${manyHint}` : '';
  return `must be ${EVENT_NAME_RULE}, not ${quoted(name)}${hint}`;
}
