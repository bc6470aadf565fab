/** Edits a record by a form of its model; `If-Match` detects changes by others meanwhile. */
import { callApi, hasStatus } from '../../base/api-calls.ts';
import { fill, type Child } from '../../base/dom.ts';
import { hasField, type ModelSchema } from '../../base/model-schema.ts';
import { heading } from '../screen.ts';
import { InputError, type FieldFactories } from './input-field.ts';
import { mergeVersions, type RecordMembers } from './merge-versions.ts';
import { recordForm } from './record-form.ts';
import { showNotice } from '../notice.ts';
import { runExclusively, asyncButton } from '../buttons.ts';

type EditOptions = {
  readonly title: string;
  readonly path: string;
  /** Members of the record that it has no field for keep their values. */
  readonly schema: ModelSchema;
  /** The user may change the members of `schema` alone. */
  readonly isPartial?: boolean;
  readonly factories?: FieldFactories;
  /** As it is stored. */
  readonly record: RecordMembers;
  /** Makes what the form edits of a stored record, where other members say the same. */
  readonly toFormRecord?: (record: RecordMembers) => RecordMembers;
  readonly etag: string;
  /** Content below the form; `read` returns the current members. */
  readonly renderBelow?: (read: () => Record<string, unknown>) => Child;
  /** Shows the record again. */
  readonly onDone: () => Promise<void>;
};

export function editRecord(container: HTMLElement, options: EditOptions): void {
  const { title, renderBelow } = options;
  // The user stands where the form ended, and the record has something else there.
  const onDone = async (): Promise<void> => {
    await options.onDone();
    if (container.isConnected) scrollTo(0, 0);
  };
  const cancel = asyncButton('Cancel', onDone);
  const form = recordForm({
    ...options, value: createFormRecord(options), action: 'Save',
    save: (value) => runExclusively([cancel], () =>
      saveRecord(container, { ...options, onDone }, value)),
  });
  fill(container, heading(title, cancel), form.element, renderBelow?.(form.read) ?? null);
  container.querySelector('h1')?.focus();
}

function createFormRecord({ record, toFormRecord }: EditOptions): RecordMembers {
  return toFormRecord?.(record) ?? record;
}

/**
 * Asks nothing once the user has left the screen. Throws ApiError, and InputError when the user
 * goes on editing.
 */
async function saveRecord(
  container: HTMLElement, options: EditOptions, value: RecordMembers,
): Promise<void> {
  const { path, schema, etag, onDone, isPartial = false } = options;
  const record = createFormRecord(options);
  try {
    await callApi(isPartial ? 'PATCH' : 'PUT', path, {
      body: isPartial ? createPatch(schema, value) : { ...listKept(schema, record), ...value },
      headers: { 'If-Match': etag },
    });
  } catch (thrown) {
    if (!hasStatus(thrown, 412) || !container.isConnected) throw thrown;
    const { body, etag: newerEtag } = await callApi<RecordMembers>('GET', path);
    const current = { ...options, record: body, etag: newerEtag };
    const merged = await mergeVersions(schema,
      { base: record, mine: value, theirs: createFormRecord(current) });
    if (merged === 'theirs') return onDone();
    if (merged !== null) return saveRecord(container, current, merged);
    throw new InputError('Not saved: somebody else has changed it meanwhile.');
  }
  showNotice('Saved.');
  return onDone();
}

/** The members of the record that the form has no field for. */
function listKept({ properties = {} }: ModelSchema, record: RecordMembers): RecordMembers {
  return Object.fromEntries(Object.entries(record).filter(([name]) => {
    const { [name]: member } = properties;
    return member === undefined || !hasField(member);
  }));
}

/** A merge patch: what was emptied is null there (RFC 7396). */
function createPatch({ properties = {} }: ModelSchema, value: RecordMembers): RecordMembers {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, value[name] ?? null]));
}
