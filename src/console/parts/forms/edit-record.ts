/**
 * Edits a record by a form of its model. `If-Match` detects changes by others meanwhile, which are
 * merged; where both have changed the same, the user chooses.
 */
import { callApi, hasStatus } from '../../base/api-calls.ts';
import { createSelect, fill, h, type Child } from '../../base/dom.ts';
import { formatStars, formatValue } from '../../base/format.ts';
import { encodeJson, isContainer } from '../../base/json-text.ts';
import { hasField, resolveSchema, type ModelSchema } from '../../base/model-schema.ts';
import { asyncButton, runExclusively } from '../buttons.ts';
import { askToConfirm, openDialog } from '../dialog.ts';
import { showNotice } from '../notice.ts';
import { heading } from '../screen.ts';
import { stackedTable } from '../tables.ts';
import { InputError, findLabel, type FieldFactories } from './input-field.ts';
import { recordForm, submitButton } from './record-form.ts';

const HIDDEN = '***';
/** The server's notes about imports in `metadata`, which are of no use to people. */
export const FINGERPRINTS = 'x-hookshelf';

type EditOptions = {
  readonly title: string;
  readonly path: string;
  /** Members of the record that it has no field for keep their values. */
  readonly schema: ModelSchema;
  /** The user may change the members of `schema` alone. */
  readonly isPartial?: boolean;
  readonly factories?: FieldFactories;
  /** The record as it is stored. */
  readonly record: RecordMembers;
  /** Makes what the form edits of a stored record, where other members say the same. */
  readonly toFormRecord?: (record: RecordMembers) => RecordMembers;
  readonly etag: string;
  /** Content below the form; `read` returns the current members. */
  readonly renderBelow?: (read: () => Record<string, unknown>) => Child;
  /** Shows the record again. */
  readonly onDone: () => Promise<void>;
  /** Called when the record was saved, before it is shown. */
  readonly onSaved?: () => void;
  /** Saves what was typed as a new record, where somebody has deleted this one meanwhile. */
  readonly saveAnew?: (value: RecordMembers) => Promise<void>;
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
    if (hasStatus(thrown, 404) && container.isConnected && options.saveAnew !== undefined) {
      const isWanted = await askToConfirm({
        title: 'It was deleted meanwhile', action: 'Save it as a new one',
        text: 'Somebody else has deleted it. What you have typed can be saved again.',
      });
      if (isWanted) return options.saveAnew(value);
    }
    if (!hasStatus(thrown, 412) || !container.isConnected) throw thrown;
    const { body, etag: newerEtag } = await callApi<RecordMembers>('GET', path);
    const current = { ...options, record: body, etag: newerEtag };
    const mergedRecord = await mergeVersions(schema,
      { base: record, mine: value, theirs: createFormRecord(current) });
    if (mergedRecord === 'theirs') return onDone();
    if (mergedRecord !== null) return saveRecord(container, current, mergedRecord);
    throw new InputError('Not saved: somebody else has changed it meanwhile.');
  }
  options.onSaved?.();
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

export type RecordMembers = Readonly<Record<string, unknown>>;
type Versions = {
  /** The record as it was when both began. */
  readonly base: RecordMembers;
  readonly mine: RecordMembers;
  readonly theirs: RecordMembers;
};
type MergedMember = {
  readonly name: string; readonly schema: ModelSchema;
  readonly isChangedByMe: boolean; readonly isChangedByThem: boolean;
};

/**
 * Resolves with the members to save; `theirs` to leave the record as it is stored; null to go on
 * editing. Does not ask when they have changed no member that has a field.
 */
async function mergeVersions(
  { properties = {} }: ModelSchema, versions: Versions,
): Promise<RecordMembers | 'theirs' | null> {
  const members = Object.entries(properties).filter(([, schema]) => hasField(schema))
    .map(([name, schema]) => compareMember(name, schema, versions));
  const choices = new Map(members.filter((member) => member.isChangedByMe && member.isChangedByThem)
    .map(({ name, schema }) => [name, createChoice(findLabel({ name, schema }))]));
  const merge = (): RecordMembers => Object.fromEntries(members.map(({ name, isChangedByMe }) => {
    const isMine = isChangedByMe && choices.get(name)?.value !== 'theirs';
    return [name, (isMine ? versions.mine : versions.theirs)[name]] as const;
  }).filter(([, value]) => value !== undefined));
  if (!members.some(({ isChangedByThem }) => isChangedByThem)) return merge();
  const rows = members.filter((member) => member.isChangedByMe || member.isChangedByThem)
    .map((member) => renderMember(member, versions, choices.get(member.name)));
  return new Promise((resolve) => {
    const finish = (answer: RecordMembers | 'theirs' | null): void => {
      resolve(answer);
      dialog.close();
    };
    const save = (event: Event): void => {
      event.preventDefault();
      finish(merge());
    };
    const dialog = openDialog('It was changed meanwhile', [h('form', { onsubmit: save },
      h('p', 'Somebody else has saved another version. ', choices.size === 0
        ? 'Nothing of it collides with yours.' : 'Choose where you both have changed the same.'),
      stackedTable(['Member', 'Before', 'Theirs', 'Yours', 'To be saved'], rows),
      h('div.actions',
        h('button', { onclick: () => finish(null) }, 'Go on editing'),
        h('button', { onclick: () => finish('theirs') }, 'Take the stored one'),
        submitButton('Save them together')))], { asks: true });
    dialog.addEventListener('close', () => resolve(null));
  });
}

/**
 * A change that both have made is theirs alone: it is stored already. Where I have typed a secret,
 * they may have changed it as well, which nobody can read.
 */
function compareMember(
  name: string, schema: ModelSchema, { base, mine, theirs }: Versions,
): MergedMember {
  const storedText = encodeJson(theirs[name]);
  const before = encodeJson(base[name]);
  const own = encodeJson(mine[name]);
  const isSecretTyped = encodeJson(hideSecrets(schema, mine[name])) !== own;
  return {
    name, schema, isChangedByMe: own !== before && own !== storedText,
    isChangedByThem: storedText !== before || isSecretTyped,
  };
}

/** A select in which one of both has to be chosen. */
function createChoice(label: string): HTMLSelectElement {
  return createSelect([['', 'Choose…'], ['mine', 'Yours'], ['theirs', 'Theirs']], '',
    { 'aria-label': `${label} to be saved`, required: true });
}

function renderMember(
  { name, schema, isChangedByMe }: MergedMember, { base, theirs, mine }: Versions,
  choice: HTMLSelectElement | undefined,
): Child[] {
  const isSecret = schema.writeOnly === true;
  const values = isSecret ? ['cannot be read', 'cannot be read', HIDDEN]
    : [base, theirs, mine].map((version) =>
      formatMember(schema, hideSecrets(schema, version[name])));
  return [findLabel({ name, schema }), ...values,
    choice ?? (isChangedByMe ? 'Yours' : 'Theirs')];
}

/** `Status Read, Rating ★★★¾`: in the words of the form, an object by the labels of its members. */
function formatMember(schema: ModelSchema, value: unknown): string {
  const { properties, items = {}, 'x-form': form = {} } = resolveSchema(schema);
  const { choices = [], field } = form;
  const [, choiceLabel] = choices.find(([choice]) => choice === value) ?? [];
  if (choiceLabel !== undefined) return choiceLabel;
  if (field === 'stars' && typeof value === 'number') return formatStars(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((item) => formatMember(items, item)).join('; ') || '–';
  if (!isContainer(value)) return formatValue(value);
  if (properties === undefined) {
    return Object.entries(value).filter(([name]) => name !== FINGERPRINTS)
      .map(([name, member]) => `${name}: ${formatValue(member)}`).join(', ') || '–';
  }
  return Object.entries(value).map(([name, member]) => {
    const { [name]: memberSchema = {} } = properties;
    return `${findLabel({ name, schema: memberSchema })} ${formatMember(memberSchema, member)}`;
  }).join(', ');
}

/** The value with `***` in place of each secret in it. */
function hideSecrets(schema: ModelSchema, value: unknown): unknown {
  const { writeOnly, properties } = resolveSchema(schema);
  if (value === undefined || value === null) return value;
  if (writeOnly === true) return HIDDEN;
  if (properties === undefined || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) =>
    [name, hideSecrets(properties[name] ?? {}, member)]));
}
