/** Rules for the names of events that hookshelf alone emits. Pure. */
import { explainInvalidEventName, isEventName } from '../../base/event-name.ts';

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
