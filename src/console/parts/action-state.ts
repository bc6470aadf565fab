/** Tells of an action that is switched off, as its module has ended its worker again and again. */
import { h } from '../base/dom.ts';
import { formatTimestamp, timeElement } from '../base/format.ts';
import { badge } from './badge.ts';
import type { ActionDescription } from '../../app/api-types.ts';

/** null: the action runs. */
export function actionState(action: ActionDescription | undefined): HTMLElement | null {
  const until = action?.switchedOffUntil ?? null;
  if (until === null || Date.parse(until) <= Date.now()) return null;
  return h('span', { title: formatTimestamp(until) }, badge('switched off'), ' ',
    h('span.place', 'runs again ', timeElement(until)));
}
