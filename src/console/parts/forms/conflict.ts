/** Two versions of one record beside each other, when somebody else has changed it meanwhile. */
import { h } from '../../base/dom.ts';
import { openDialog } from '../dialog.ts';
import { table } from '../table.ts';
import { labelOf } from './leaf.ts';

const SHOWN_ONLY = [
  'id', 'identifier', 'createdAt', 'updatedAt', 'secret', 'hasSecret', 'previousSecret',
  'disabledReason', 'disabledAt', 'health',
];

/** True: the own version is to be kept; false: the stored one; null: neither, keep editing. */
export function showConflict(
  ours: Readonly<Record<string, unknown>>, stored: Readonly<Record<string, unknown>>,
): Promise<boolean | null> {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(stored)])].filter((name) =>
    !SHOWN_ONLY.includes(name)
    && textOf(ours[name]) !== textOf(stored[name]));
  return new Promise((resolve) => {
    const choose = (isOurs: boolean | null): void => {
      resolve(isOurs);
      dialog.close();
    };
    const rows = names.map((name) => [labelOf(name), textOf(ours[name]), textOf(stored[name])]);
    const dialog = openDialog('It was changed meanwhile', [
      h('p', {}, 'Somebody else has saved another version. They differ in:'),
      table(['Member', 'Yours', 'Stored'], rows, 'stacked'),
      h('div', { class: 'actions' },
        h('button', { type: 'button', onclick: () => choose(null) }, 'Go on editing'),
        h('button', { type: 'button', onclick: () => choose(false) }, 'Take the stored one'),
        h('button', { type: 'button', class: 'danger', onclick: () => choose(true) },
          'Put mine in its place')),
    ]);
    dialog.addEventListener('close', () => resolve(null));
  });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
