/** The names of events that hookshelf emits by itself, and rules for them. Pure. */
import { explainInvalidEventName, isEventName } from '../../base/event-name.ts';
import { editDistance } from '../../base/text/edit-distance.ts';
import { didYouMean } from '../../base/text/nearest.ts';

/** The catalog emits these; anyone else may, too. */
export const CATALOG_EVENTS = ['book.created', 'book.updated', 'book.deleted'] as const;

/** hookshelf emits these about itself, and nobody else can. */
export const SYSTEM_EVENTS = [
  'delivery.failed', 'webhook.disabled', 'request.failed', 'store.unwritable', 'store.recovered',
  'store.backup_failed',
] as const;
export type SystemEventName = (typeof SYSTEM_EVENTS)[number];

export const SYSTEM_EVENT_HEADER = 'x-hookshelf-event';

const SYSTEM_EVENT_NAMES: ReadonlySet<unknown> = new Set(SYSTEM_EVENTS);

export function isSystemEventName(name: unknown): name is SystemEventName {
  return SYSTEM_EVENT_NAMES.has(name);
}

/** A clause that says why only hookshelf may emit an event of this name; null: anyone may. */
export function findEmitProblem(name: unknown): string | null {
  if (!isEventName(name)) return explainInvalidEventName(name);
  return isSystemEventName(name)
    ? `must not be ${name}, which hookshelf alone emits, about itself: choose another name` : null;
}

const OWN_EVENTS: readonly string[] = [...CATALOG_EVENTS, ...SYSTEM_EVENTS];
const OWN_GROUPS = [...new Set(OWN_EVENTS.map(getGroup))];
const OWN_PATTERNS = [...OWN_EVENTS, ...OWN_GROUPS.map((group) => `${group}.*`)];
/** With two slips `foo.created` would be taken for a name of ours. */
const SLIPS_MAX = 1;

/**
 * Says of a trigger that is no name of ours, but begins as ours do or is nearly one, that hookshelf
 * emits no such event; null: it is one, or is plainly of somebody else.
 */
export function describeForeignName(trigger: string): string | null {
  if (OWN_PATTERNS.includes(trigger)) return null;
  const name = trigger.toLowerCase();
  const group = getGroup(name);
  const candidates = OWN_GROUPS.includes(group)
    ? OWN_PATTERNS.filter((pattern) => getGroup(pattern) === group)
    : OWN_PATTERNS.filter((pattern) => editDistance(name, pattern, SLIPS_MAX) <= SLIPS_MAX);
  if (candidates.length === 0) return null;
  const near = didYouMean(trigger, candidates);
  return `nothing emits ${trigger} by itself${near === '' ? ': you have to emit it' : near}`;
}

/** All before the first dot: `book` is the group of `book.created`. */
function getGroup(name: string): string {
  return name.split('.', 1)[0] ?? '';
}
