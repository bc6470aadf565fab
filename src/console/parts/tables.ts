/** Tables without paging, and lists of names and values. */
import { h, type Child } from '../base/dom.ts';

type Rows = readonly (readonly Child[])[];
type Fact = readonly [name: string, value: Child];

/** The first cell of each row is its head. */
export function plainTable(titles: readonly string[], rows: Rows): HTMLElement {
  return createTable('plain', titles, rows);
}

/** A table for narrow screens, too: there each cell stands on its own line, with its title. */
export function stackedTable(titles: readonly string[], rows: Rows): HTMLElement {
  return createTable('plain stacked', titles, rows);
}

/** A heading and a table, after a sentence about its rows; nothing where there are none. */
export function tableSection(
  heading: string, hint: string | null, titles: readonly string[], rows: Rows,
): HTMLElement[] {
  return rows.length === 0 ? []
    : [h('h2', heading), ...hint === null ? [] : [h('p.hint', hint)], stackedTable(titles, rows)];
}

function createTable(classNames: string, titles: readonly string[], rows: Rows): HTMLElement {
  return h('table', { class: classNames },
    h('thead', h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, ...rows.map(([name = null, ...cells]) => h('tr',
      h('th', { scope: 'row' }, name),
      ...cells.map((cell, index) => h('td', { 'data-title': titles[index + 1] }, cell))))));
}

export function headerTable(headers: readonly (readonly [string, string])[]): HTMLElement {
  return h('table.plain.headers', h('tbody', {}, ...headers.map(([name, value]) =>
    h('tr', h('th', { scope: 'row' }, name), h('td', h('code', value))))));
}

/** Rows with the value null or false are left out. */
export function factList(rows: readonly Fact[]): HTMLElement {
  const nonEmptyRows = rows.filter(([, value]) => value !== null && value !== false);
  return h('dl.facts', {}, ...nonEmptyRows.map(([name, value]) =>
    h('div', h('dt', name), h('dd', value))));
}
