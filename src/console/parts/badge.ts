/** A state as a word in a colour, the same everywhere; the word alone is enough. */
import { h } from '../base/dom.ts';
import { formatTimestamp, timeElement } from '../base/format.ts';
import type { ActionDescription } from '../../app/api-types.ts';

const TONES: Readonly<Record<string, string>> = {
  done: 'good', delivered: 'good', accepted: 'good', ok: 'good', ready: 'good', enabled: 'good',
  healthy: 'good', live: 'good',
  running: 'waiting', pending: 'waiting', hint: 'waiting', warning: 'waiting', slow: 'waiting',
  differs: 'waiting', 'switched off': 'waiting', 'last try failed': 'waiting',
  failed: 'bad', failing: 'bad', rejecting: 'bad', rejected: 'bad', error: 'bad', expired: 'bad',
  missing: 'bad', revoked: 'bad', silent: 'bad', 'off by a failure': 'bad',
};

export function badge(status: string): HTMLElement {
  return h('span', { class: `badge ${TONES[status] ?? 'plain'}` }, status);
}

/** The state of all in a sentence; an alarm where it is not `ready`. */
export function statusCard(state: string, text: string): HTMLElement {
  return h('p', { class: state === 'ready' ? 'card' : 'card alarm', role: 'status' },
    badge(state), ` ${text}`);
}

/**
 * The state of an action that is switched off, as its module has ended its worker again and again;
 * null: the action runs.
 */
export function actionState(action: ActionDescription | undefined): HTMLElement | null {
  const until = action?.switchedOffUntil ?? null;
  if (until === null || Date.parse(until) <= Date.now()) return null;
  return h('span', { title: formatTimestamp(until) }, badge('switched off'), ' ',
    h('span.place', 'runs again ', timeElement(until)));
}

/**
 * Says that the action of a configuration is not there, and what to do: its module was removed, or
 * no folder is named of the programs that `run-command` runs.
 */
export function missingAction(type: string): HTMLElement {
  return h('span', badge('missing'), ' ', h('span.place', type === 'run-command'
    ? 'name the folder of its programs in the setting actions.commandDirectory, and start again'
    : 'put its module back, or delete what runs it'));
}
