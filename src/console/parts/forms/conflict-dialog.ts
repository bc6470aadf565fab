/** Shows two versions of a record side by side, when it has changed on the server meanwhile. */
import { h } from '../../base/dom.ts';
import { openDialog } from '../dialog.ts';
import { stackedTable } from '../plain-table.ts';
import type { ModelSchema } from '../../base/model-schema.ts';
import { formatLabel } from './input-field.ts';

type RecordMembers = Readonly<Record<string, unknown>>;

/**
 * Resolves with true to save ours, false to take the server's version, null to go on editing. Of
 * the model's members those are compared that users can both write and read.
 */
export function askWhichVersion(
  { properties = {} }: ModelSchema, ours: RecordMembers, theirs: RecordMembers,
): Promise<boolean | null> {
  const names = Object.entries(properties)
    .filter(([, { readOnly, writeOnly }]) => readOnly !== true && writeOnly !== true)
    .map(([name]) => name)
    .filter((name) => formatMember(ours[name]) !== formatMember(theirs[name]));
  return new Promise((resolve) => {
    const choose = (isOurs: boolean | null): void => {
      resolve(isOurs);
      dialog.close();
    };
    const rows = names.map((name) =>
      [formatLabel(name), formatMember(ours[name]), formatMember(theirs[name])]);
    const dialog = openDialog('It was changed meanwhile', [
      h('p', {}, 'Somebody else has saved another version. They differ in:'),
      stackedTable(['Member', 'Yours', 'Stored'], rows),
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
