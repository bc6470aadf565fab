/**
 * The keyboard: `/` searches, `g` and a letter changes the screen, `u` undoes, `?` shows the keys.
 */
import { goToScreen } from './base/screen-address.ts';
import { h } from './base/dom.ts';
import { openDialog } from './parts/dialog.ts';
import { undoLast } from './parts/notice.ts';
import type { Screen } from './parts/screen.ts';

const SEQUENCE_MS = 1500;

export function listenToKeys(screens: () => readonly Screen[]): void {
  let prefixAtMs = -Infinity;
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (event.key === '/') {
      const search = document.querySelector('main input[type="search"]');
      if (!(search instanceof HTMLElement)) return;
      event.preventDefault();
      search.focus();
    } else if (event.key === '?') {
      openKeysDialog(screens());
    } else if (event.key === 'g') {
      prefixAtMs = event.timeStamp;
    } else if (event.timeStamp - prefixAtMs < SEQUENCE_MS) {
      prefixAtMs = -Infinity;
      const screen = screens().find(({ key }) => key === event.key);
      if (screen !== undefined) goToScreen([screen.name]);
    } else if (event.key === 'u') {
      undoLast();
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}

export function openKeysDialog(screens: readonly Screen[]): void {
  const rows = [['/', 'search'], ['?', 'these keys'], ['Esc', 'close'], ['Enter', 'send a form'],
    ['u', 'undo a deletion'],
    ...screens.map(({ key, title }) => [`g ${key}`, title])];
  const dialog = openDialog('Keys', [
    h('dl.keys', {}, ...rows.map(([keys = '', meaning = '']) =>
      h('div', h('dt',
        ...keys.split(' ').flatMap((key) => [' ', h('kbd', key)])), h('dd', meaning)))),
    h('div.actions',
      h('button', { onclick: () => dialog.close() }, 'Close')),
  ]);
}
