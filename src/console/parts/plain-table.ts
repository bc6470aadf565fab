/** A table without paging; its first column holds row headers. */
import { h } from '../base/dom.ts';
import type { Child } from '../base/dom.ts';

/** `stacked`: on narrow screens each cell stands on its own line, with its title. */
export function plainTable(
  titles: readonly string[], rows: readonly (readonly Child[])[], kind: 'stacked' | '' = '',
): HTMLElement {
  return h('table', { class: `plain ${kind}` },
    h('thead', {}, h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, ...rows.map(([name = null, ...cells]) => h('tr', {},
      h('th', { scope: 'row' }, name),
      ...cells.map((cell, index) => h('td', { 'data-title': titles[index + 1] }, cell))))));
}
