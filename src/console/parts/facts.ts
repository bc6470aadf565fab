/** A list of names and values, and the head of a screen. */
import { href, type Query } from '../base/screen-address.ts';
import { h, type Child } from '../base/dom.ts';

type Fact = readonly [name: string, value: Child];

/** Rows with the value null or false are left out. */
export function factList(rows: readonly Fact[]): HTMLElement {
  const nonEmptyRows = rows.filter(([, value]) => value !== null && value !== false);
  return h('dl.facts', {}, ...nonEmptyRows.map(([name, value]) =>
    h('div', h('dt', name), h('dd', value))));
}

/** The title of a screen and its buttons. */
export function heading(title: string, ...actions: readonly Child[]): HTMLElement {
  return h('div.heading', h('h1', { tabindex: -1 }, title),
    h('div.actions', {}, ...actions));
}

/** The link from a record back to its list, which is a screen or a path of one. */
export function backLink(
  list: string | readonly string[], title: string, query: Query = {},
): HTMLElement {
  return h('p.back', h('a', { href: href([list].flat(), query) }, `← ${title}`));
}
