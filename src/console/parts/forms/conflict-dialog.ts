/** Shows two versions of a record side by side, when it has changed on the server meanwhile. */
import { h } from '../../base/dom.ts';
import { openDialog } from '../dialog.ts';
import { plainTable } from '../plain-table.ts';
import { formatLabel } from './input-field.ts';

const READ_ONLY = [
  'id', 'identifier', 'createdAt', 'updatedAt', 'secret', 'hasSecret', 'previousSecret',
  'disabledReason', 'disabledAt', 'health',
];

/** Resolves with true to save ours, false to take the stored version, null to go on editing. */
export function askWhichVersion(
  ours: Readonly<Record<string, unknown>>, stored: Readonly<Record<string, unknown>>,
): Promise<boolean | null> {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(stored)])].filter((name) =>
    !READ_ONLY.includes(name)
    && formatMember(ours[name]) !== formatMember(stored[name]));
  return new Promise((resolve) => {
    const choose = (isOurs: boolean | null): void => {
      resolve(isOurs);
      dialog.close();
    };
    const rows = names.map((name) =>
      [formatLabel(name), formatMember(ours[name]), formatMember(stored[name])]);
    const dialog = openDialog('It was changed meanwhile', [
      h('p', {}, 'Somebody else has saved another version. They differ in:'),
      plainTable(['Member', 'Yours', 'Stored'], rows, 'stacked'),
      h('div', { class: 'actions' },
        h('button', { type: 'button', onclick: () => choose(null) }, 'Go on editing'),
        h('button', { type: 'button', onclick: () => choose(false) }, 'Take the stored one'),
        h('button', { type: 'button', class: 'danger', onclick: () => choose(true) },
          'Put mine in its place')),
    ]);
    dialog.addEventListener('close', () => resolve(null));
  });
}

function formatMember(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
