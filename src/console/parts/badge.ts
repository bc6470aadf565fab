/** A state as a word in a colour, the same everywhere; the word alone is enough. */
import { h } from '../base/dom.ts';

const TONES: Readonly<Record<string, string>> = {
  done: 'good', delivered: 'good', accepted: 'good', ok: 'good', ready: 'good', enabled: 'good',
  healthy: 'good', live: 'good',
  running: 'waiting', pending: 'waiting', hint: 'waiting', warning: 'waiting', slow: 'waiting',
  differs: 'waiting', 'switched off': 'waiting',
  failed: 'bad', failing: 'bad', rejecting: 'bad', rejected: 'bad', error: 'bad', expired: 'bad',
  revoked: 'bad', silent: 'bad', 'off by a failure': 'bad',
};

export function badge(status: string): HTMLElement {
  return h('span', { class: `badge ${TONES[status] ?? 'plain'}` }, status);
}
