/** Changes a record by a form of its model, guarded against changes that others make meanwhile. */
import { ApiError, call } from '../../base/api.ts';
import { fill, h } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/schema.ts';
import { showConflict } from './conflict.ts';
import { heading } from '../facts.ts';
import { recordForm } from './form.ts';
import { tell } from '../notice.ts';

type Edit = {
  readonly title: string;
  readonly path: string;
  readonly schema: ModelSchema;
  readonly record: object;
  readonly etag: string;
  /** Members that are not asked for. */
  readonly without?: readonly string[];
  /** Shows the record again. */
  readonly done: () => void;
};

export function editRecord(place: HTMLElement, edit: Edit): void {
  const form = recordForm({
    schema: edit.schema, value: edit.record, action: 'Save', without: edit.without ?? [],
    save: (value) => replace(edit, edit.etag, value),
  });
  fill(place, heading(edit.title, h('button', { type: 'button', onclick: edit.done }, 'Cancel')),
    form.element);
}

async function replace(
  edit: Edit, etag: string, value: Record<string, unknown>,
): Promise<void> {
  try {
    await call('PUT', edit.path, { body: value, headers: { 'If-Match': etag } });
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 412) throw thrown;
    const { body, headers } = await call<Record<string, unknown>>('GET', edit.path);
    const isOurs = await showConflict(value, body);
    if (isOurs === null) return;
    if (isOurs) return replace(edit, headers.get('ETag') ?? '', value);
    return edit.done();
  }
  tell('Saved.');
  edit.done();
}
