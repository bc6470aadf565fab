/** Edits a record by a form of its model; `If-Match` detects changes by others meanwhile. */
import { ApiError, callApi } from '../../base/api-calls.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { formatValue } from '../../base/format.ts';
import { hasField, type ModelSchema } from '../../base/model-schema.ts';
import { ask } from '../dialog.ts';
import { heading } from '../facts.ts';
import { stackedTable } from '../plain-table.ts';
import { findLabel, type FieldFactories } from './input-field.ts';
import { recordForm } from './record-form.ts';
import { showNotice } from '../notice.ts';
import { runExclusively, asyncButton } from '../async-button.ts';

type EditOptions = {
  readonly title: string;
  readonly path: string;
  /** Members of the record that it has no field for keep their values. */
  readonly schema: ModelSchema;
  readonly factories?: FieldFactories;
  readonly record: object;
  readonly etag: string;
  /** Content below the form; `read` returns the current members. */
  readonly renderBelow?: (read: () => Record<string, unknown>) => Child;
  /** Shows the record again. */
  readonly onDone: () => Promise<void>;
};

export function editRecord(container: HTMLElement, options: EditOptions): void {
  const { record, title, renderBelow, onDone } = options;
  const cancel = asyncButton('Cancel', onDone);
  const form = recordForm({
    ...options, value: record, action: 'Save',
    save: (value) => runExclusively([cancel], () => saveRecord(container, options, value)),
  });
  fill(container, heading(title, cancel), form.element, renderBelow?.(form.read) ?? null);
  container.querySelector('h1')?.focus();
}

/** Does nothing more once the user has left the screen, or goes on editing. Throws ApiError. */
async function saveRecord(
  container: HTMLElement, options: EditOptions, value: Record<string, unknown>,
): Promise<void> {
  const { path, schema, record, etag, onDone } = options;
  const { properties = {} } = schema;
  const kept = Object.entries(record).filter(([name]) => {
    const { [name]: member } = properties;
    return member === undefined || !hasField(member);
  });
  try {
    await callApi('PUT', path, {
      body: { ...Object.fromEntries(kept), ...value }, headers: { 'If-Match': etag },
    });
  } catch (thrown) {
    const isConflict = thrown instanceof ApiError && thrown.status === 412;
    if (!isConflict || !container.isConnected) throw thrown;
    const { body, headers } = await callApi<Record<string, unknown>>('GET', path);
    const isOurs = await askWhichVersion(schema, value, body);
    if (isOurs === null) return;
    const current = { ...options, record: body, etag: headers.get('ETag') ?? '' };
    return isOurs ? saveRecord(container, current, value) : onDone();
  }
  showNotice('Saved.');
  return onDone();
}

type RecordMembers = Readonly<Record<string, unknown>>;

/**
 * Shows two versions of a record side by side, when it has changed on the server meanwhile.
 * Resolves with true to save ours, false to take the server's version, null to go on editing. Of
 * the model's members those are compared that have a field, and that users can read.
 */
function askWhichVersion(
  { properties = {} }: ModelSchema, ours: RecordMembers, theirs: RecordMembers,
): Promise<boolean | null> {
  const members = Object.entries(properties)
    .filter(([, member]) => hasField(member) && member.writeOnly !== true)
    .filter(([name]) => formatValue(ours[name]) !== formatValue(theirs[name]));
  const rows = members.map(([name, schema]) =>
    [findLabel({ name, schema }), formatValue(ours[name]), formatValue(theirs[name])]);
  return ask<boolean | null>('It was changed meanwhile', [
    h('p', 'Somebody else has saved another version. They differ in:'),
    stackedTable(['Member', 'Yours', 'Stored'], rows),
  ], [
    [null, 'Go on editing'], [false, 'Take the stored one'],
    [true, 'Put mine in its place', 'danger'],
  ]);
}
