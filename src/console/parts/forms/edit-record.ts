/** Edits a record by a form of its model; `If-Match` detects changes by others meanwhile. */
import { ApiError, callApi } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import { formatValue } from '../../base/format.ts';
import { isReadOnly, type ModelSchema } from '../../base/model-schema.ts';
import { openDialog } from '../dialog.ts';
import { heading } from '../facts.ts';
import { stackedTable } from '../plain-table.ts';
import { formatLabel, type FieldCustomization } from './input-field.ts';
import { recordForm, type FieldSelection } from './record-form.ts';
import { showNotice } from '../notice.ts';
import { runExclusively, asyncButton } from '../async-button.ts';

/** Members with the names in `omitted` have no field and keep their values. */
type EditOptions = FieldCustomization & FieldSelection & {
  readonly title: string;
  readonly path: string;
  readonly schema: ModelSchema;
  readonly record: object;
  readonly etag: string;
  /** PUT by default; with PATCH, members that are not sent keep their values. */
  readonly method?: 'PUT' | 'PATCH';
  readonly toBody?: (value: Record<string, unknown>) => Record<string, unknown>;
  /** Content below the form; `read` returns the current members. */
  readonly renderBelow?: (read: () => Record<string, unknown>) => Child;
  /** Shows the record again. */
  readonly onDone: () => Promise<void>;
};

export function editRecord(container: HTMLElement, options: EditOptions): void {
  const { record, title, etag, renderBelow, onDone, omitted = [], toBody } = options;
  const cancel = asyncButton('Cancel', onDone);
  const isPatch = options.method === 'PATCH';
  // A PUT replaces the record, so it must send these as well.
  const omittedMembers = Object.fromEntries(Object.entries(record).filter(([name]) =>
    !isPatch && omitted.includes(name)));
  const form = recordForm({
    ...options, value: record, action: 'Save',
    save: (value) => runExclusively([cancel], () =>
      saveRecord(container, options, etag, { ...omittedMembers, ...toBody?.(value) ?? value })),
  });
  fill(container, heading(title, cancel), form.element, renderBelow?.(form.read) ?? null);
  container.querySelector('h1')?.focus();
}

/** Does nothing more once the user has left the screen, or goes on editing. Throws ApiError. */
async function saveRecord(
  container: HTMLElement, options: EditOptions, etag: string, value: Record<string, unknown>,
): Promise<void> {
  try {
    await callApi(options.method ?? 'PUT', options.path, {
      body: value, headers: { 'If-Match': etag },
    });
  } catch (thrown) {
    const isConflict = thrown instanceof ApiError && thrown.status === 412;
    if (!isConflict || !container.isConnected) throw thrown;
    const { body, headers } = await callApi<Record<string, unknown>>('GET', options.path);
    const isOurs = await askWhichVersion(options.schema, value, body);
    if (isOurs === null) return;
    if (isOurs) return saveRecord(container, options, headers.get('ETag') ?? '', value);
    return options.onDone();
  }
  showNotice('Saved.');
  return options.onDone();
}

type RecordMembers = Readonly<Record<string, unknown>>;

/**
 * Shows two versions of a record side by side, when it has changed on the server meanwhile.
 * Resolves with true to save ours, false to take the server's version, null to go on editing. Of
 * the model's members those are compared that users can both write and read.
 */
function askWhichVersion(
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
      h('p', 'Somebody else has saved another version. They differ in:'),
      stackedTable(['Member', 'Yours', 'Stored'], rows),
      h('div.actions',
        h('button', { onclick: () => choose(null) }, 'Go on editing'),
        h('button', { onclick: () => choose(false) }, 'Take the stored one'),
        h('button.danger', { onclick: () => choose(true) },
          'Put mine in its place')),
    ]);
    dialog.addEventListener('close', () => resolve(null));
  });
}
