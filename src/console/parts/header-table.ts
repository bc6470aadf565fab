/** A table of header names and values, as they were sent. */
import { h } from '../base/dom.ts';

export function headerTable(headers: readonly (readonly [string, string])[]): HTMLElement {
  return h('table', { class: 'plain headers' }, h('tbody', {}, ...headers.map(([name, value]) =>
    h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, h('code', {}, value))))));
}
