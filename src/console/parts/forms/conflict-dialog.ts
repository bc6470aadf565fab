/** Shows two versions of a record side by side, when it has changed on the server meanwhile. */
import { h } from '../../base/dom.ts';
import { formatValue } from '../../base/format.ts';
import { isReadOnly } from '../../base/model-schema.ts';
import type { ModelSchema } from '../../base/model-schema.ts';
import { openDialog } from '../dialog.ts';
import { stackedTable } from '../plain-table.ts';
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
    .filter(([, member]) => !isReadOnly(member) && member.writeOnly !== true)
    .map(([name]) => name)
    .filter((name) => formatValue(ours[name]) !== formatValue(theirs[name]));
  return new Promise((resolve) => {
    const choose = (isOurs: boolean | null): void => {
      resolve(isOurs);
      dialog.close();
    };
    const rows = names.map((name) =>
      [formatLabel(name), formatValue(ours[name]), formatValue(theirs[name])]);
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
