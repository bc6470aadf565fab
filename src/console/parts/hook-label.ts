/** What a webhook is called, and where it is below or beside that. */
import { h } from '../base/dom.ts';
import { findHookLabel } from '../base/hooks.ts';
import type { HookLabel } from '../base/hooks.ts';

export function hookLabel({ title, place }: HookLabel): HTMLElement {
  if (title === place) return h('span', { title }, title);
  return h('span', { title: `${title}, ${place}` }, title, ' ',
    h('span', { class: 'place' }, place));
}

export function hookLabelOf(identifier: string | null): HTMLElement {
  return hookLabel(findHookLabel(identifier));
}
