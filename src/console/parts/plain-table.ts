/** Tables without paging; the first column holds row headers. */
import { h, type Child } from '../base/dom.ts';

type Rows = readonly (readonly Child[])[];

export function plainTable(titles: readonly string[], rows: Rows): HTMLElement {
  return createTable('plain', titles, rows);
}

/** A table for narrow screens, too: there each cell stands on its own line, with its title. */
export function stackedTable(titles: readonly string[], rows: Rows): HTMLElement {
  return createTable('plain stacked', titles, rows);
}

function createTable(classNames: string, titles: readonly string[], rows: Rows): HTMLElement {
  return h('table', { class: classNames },
    h('thead', h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, ...rows.map(([name = null, ...cells]) => h('tr',
      h('th', { scope: 'row' }, name),
      ...cells.map((cell, index) => h('td', { 'data-title': titles[index + 1] }, cell))))));
}

/** A table of header names and values, as they were sent. */
export function headerTable(headers: readonly (readonly [string, string])[]): HTMLElement {
  return h('table.plain.headers', h('tbody', {}, ...headers.map(([name, value]) =>
    h('tr', h('th', { scope: 'row' }, name), h('td', h('code', value))))));
}
