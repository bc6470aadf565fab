/** Names and values of one thing. */
import { href } from '../base/screen-address.ts';
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';

type Fact = readonly [name: string, value: Child];

export function factList(rows: readonly Fact[]): HTMLElement {
  const present = rows.filter(([, value]) => value !== null && value !== false);
  return h('dl', { class: 'facts' }, ...present.map(([name, value]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

/** The head of a screen: its title, and what can be done there. */
export function heading(title: string, ...actions: readonly Child[]): HTMLElement {
  return h('div', { class: 'heading' }, h('h1', { tabindex: -1 }, title),
    h('div', { class: 'actions' }, ...actions));
}

/** The way back to the list that a record is of. */
export function backLink(screen: string, title: string): HTMLElement {
  return h('p', { class: 'back' }, h('a', { href: href([screen]) }, `← ${title}`));
}
