/** Changes a record by a form of its model, guarded against changes that others make meanwhile. */
import { ApiError, call } from '../../base/api.ts';
import { fill } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/schema.ts';
import { showConflict } from './conflict.ts';
import { heading } from '../facts.ts';
import type { Asking } from './leaf.ts';
import { recordForm } from './form.ts';
import { tell } from '../notice.ts';
import { doOnce, workButton } from '../work-button.ts';

type Edit = Asking & {
  readonly title: string;
  readonly path: string;
  readonly schema: ModelSchema;
  readonly record: object;
  readonly etag: string;
  /** Members that are not asked for, and stay as they are. */
  readonly without?: readonly string[];
  readonly rare?: readonly string[];
  /** What is sent of what was typed; all that is not in it stays with PATCH. */
  readonly method?: 'PUT' | 'PATCH';
  readonly bodyOf?: (value: Record<string, unknown>) => Record<string, unknown>;
  /** What stands below the form; `read` gives its members as they are now. */
  readonly below?: (read: () => Record<string, unknown>) => Child;
  /** Shows the record again. */
  readonly done: () => Promise<void>;
};

export function editRecord(place: HTMLElement, edit: Edit): void {
  const { record, title, etag, below, done, without = [], bodyOf } = edit;
  const cancel = workButton('Cancel', done);
  const isPatch = edit.method === 'PATCH';
  const kept = Object.fromEntries(Object.entries(record).filter(([name]) =>
    !isPatch && without.includes(name)));
  const form = recordForm({
    ...edit, value: record, action: 'Save',
    save: (value) => doOnce([cancel], () =>
      replace(place, edit, etag, { ...kept, ...bodyOf?.(value) ?? value })),
  });
  fill(place, heading(title, cancel), form.element, below?.(form.read) ?? null);
  place.querySelector('h1')?.focus();
}

async function replace(
  place: HTMLElement, edit: Edit, etag: string, value: Record<string, unknown>,
): Promise<void> {
  try {
    await call(edit.method ?? 'PUT', edit.path, { body: value, headers: { 'If-Match': etag } });
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 412 || !place.isConnected) throw thrown;
    const { body, headers } = await call<Record<string, unknown>>('GET', edit.path);
    const isOurs = await showConflict(value, edit.method !== 'PATCH' ? body
      : Object.fromEntries(Object.keys(value).map((name) => [name, body[name]])));
    if (isOurs === null) return;
    if (isOurs) return replace(place, edit, headers.get('ETag') ?? '', value);
    return edit.done();
  }
  tell('Saved.');
  return edit.done();
}
