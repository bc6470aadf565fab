/**
 * Edits a record by a form of its model, which has an address of its own. `If-Match` detects
 * changes by others meanwhile, which are merged; where both have changed the same, the user
 * chooses.
 */
import { callApi, hasStatus } from '../../base/api-calls.ts';
import { createSelect, fill, h, type Child } from '../../base/dom.ts';
import {
  joinMembers, separateMembers, type RecordMembers,
} from '../../base/dotted-members.ts';
import { joinLabels } from '../../base/field-problem.ts';
import { formatStars, formatValue } from '../../base/format.ts';
import { encodeJson, isContainer } from '../../base/json-text.ts';
import {
  findModelName, findType, hasField, resolveSchema, type ModelSchema,
} from '../../base/model-schema.ts';
import { href } from '../../base/screen-address.ts';
import { asyncButton, runExclusively } from '../buttons.ts';
import { askToConfirm, openDialog } from '../dialog.ts';
import { showNotice } from '../notice.ts';
import { heading, openView } from '../screen.ts';
import { stackedTable } from '../tables.ts';
import { InputError, findLabel, type FieldFactories } from './input-field.ts';
import { CONDITION } from './model-field.ts';
import { recordForm, submitButton } from './record-form.ts';
import { forgetForms } from './unsaved-forms.ts';

const HIDDEN = '***';
/** The server's notes about imports in `metadata`, which are of no use to people. */
export const FINGERPRINTS = 'x-hookshelf';

type EditOptions = {
  readonly title: string;
  readonly path: string;
  /** Of the record: where the form leads when it is saved or given up. */
  readonly address: readonly string[];
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
  /** Content beside the form, below it on a narrow page; `read` returns the current members. */
  readonly renderBeside?: (read: () => Record<string, unknown>, form: HTMLFormElement) => Child;
  /** Called when the record was saved. */
  readonly onSaved?: () => void;
  /** Saves what was typed as a new record, where somebody has deleted this one meanwhile. */
  readonly saveAnew?: (value: RecordMembers) => Promise<void>;
};

/** `load` reads the record, and what else the form needs. */
export function openEditor(
  container: HTMLElement, load: () => Promise<EditOptions>,
): () => void {
  return openView(container, async () => showForm(container, await load()));
}

function showForm(container: HTMLElement, options: EditOptions): void {
  const { title, address, renderBeside } = options;
  const cancel = asyncButton('Cancel', () => leaveForm(container, address));
  const form = recordForm({
    ...options, value: createFormRecord(options), action: 'Save',
    save: (value) => runExclusively([cancel], () => saveRecord(container, options, value)),
  });
  fill(container, heading(title, cancel), h('div.beside', form.element,
    renderBeside?.(form.read, form.element) ?? null));
}

/**
 * Goes to the record, unless the user has left the form, and resolves when the form is left. The
 * way back from there does not lead to the form again: a step back goes to the record that the user
 * came from, and any other takes the place of the form. Not every browser tells the step before.
 */
async function leaveForm(container: HTMLElement, address: readonly string[]): Promise<void> {
  if (!container.isConnected) return;
  forgetForms();
  const left = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
  const steps = 'navigation' in window ? navigation : null;
  const previous = steps?.entries()[(steps.currentEntry?.index ?? 0) - 1]?.url;
  if (previous === new URL(href(address), location.href).href) history.back();
  else location.replace(href(address));
  await left;
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
  const { path, address, schema, etag, isPartial = false } = options;
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
    if (mergedRecord === 'theirs') return leaveForm(container, address);
    if (mergedRecord !== null) return saveRecord(container, current, mergedRecord);
    throw new InputError('Not saved: somebody else has changed it meanwhile.');
  }
  options.onSaved?.();
  await leaveForm(container, address);
  showNotice('Saved.');
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
  schema: ModelSchema, { base, mine, theirs }: Versions,
): Promise<RecordMembers | 'theirs' | null> {
  const { properties = {} } = schema;
  const outerNames = Object.entries(properties).filter(([, member]) => isSeparable(member))
    .map(([name]) => name);
  const separate = (record: RecordMembers): RecordMembers => separateMembers(record, outerNames);
  const versions = { base: separate(base), mine: separate(mine), theirs: separate(theirs) };
  const members = listSeparateMembers(properties, outerNames)
    .map(([name, member]) => compareMember(name, member, versions));
  const choices = new Map(members.filter((member) => member.isChangedByMe && member.isChangedByThem)
    .map((member) => [member.name, createChoice(member)]));
  const merge = (): RecordMembers => joinMembers(members.map((member) =>
    [member.name, mergeMember(member, choices.get(member.name)?.value, versions)] as const));
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

/** The members with a field. Those of these objects stand for themselves: `reading.rating`. */
function listSeparateMembers(
  properties: Readonly<Record<string, ModelSchema>>, outerNames: readonly string[],
): readonly (readonly [name: string, schema: ModelSchema])[] {
  return Object.entries(properties).filter(([, schema]) => hasField(schema))
    .flatMap(([name, schema]) => {
      if (!outerNames.includes(name)) return [[name, schema] as const];
      return Object.entries(resolveSchema(schema).properties ?? {})
        .map(([innerName, inner]) => [`${name}.${innerName}`, {
          ...inner,
          title: joinLabels(findLabel({ name, schema }),
            findLabel({ name: innerName, schema: inner })),
        }] as const);
    });
}

/**
 * Whether two people may change different members of the object: not where it has required members,
 * secrets, or a field of its own for the whole object.
 */
function isSeparable(schema: ModelSchema): boolean {
  const { properties, required = [], 'x-form': form = {} } = resolveSchema(schema);
  return properties !== undefined && required.length === 0 && form.field === undefined
    && findModelName(schema) !== CONDITION
    && !Object.values(properties).some(({ writeOnly }) => writeOnly === true);
}

/** A select in which one of both has to be chosen; of lists of names both are at first. */
function createChoice({ name, schema }: MergedMember): HTMLSelectElement {
  const first = canCombine(schema) ? ['both', 'Both'] as const : ['', 'Choose…'] as const;
  return createSelect([first, ['mine', 'Yours'], ['theirs', 'Theirs']], first[0],
    { 'aria-label': `${findLabel({ name, schema })} to be saved`, required: true });
}

function canCombine(schema: ModelSchema): boolean {
  const { uniqueItems, items = {} } = resolveSchema(schema);
  return uniqueItems === true && findType(resolveSchema(items)) === 'string';
}

function mergeMember(
  { name, isChangedByMe }: MergedMember, choice: string | undefined,
  { base, mine, theirs }: Versions,
): unknown {
  if (!isChangedByMe || choice === 'theirs') return theirs[name];
  return choice === 'both' ? combineLists(base[name], mine[name], theirs[name]) : mine[name];
}

/** Their list, with what I have added to it and without what I have removed. */
function combineLists(base: unknown, mine: unknown, theirs: unknown): unknown {
  const before = listTexts(base);
  const own = listTexts(mine);
  const texts = new Set([
    ...listTexts(theirs).filter((text) => own.includes(text) || !before.includes(text)),
    ...own.filter((text) => !before.includes(text)),
  ]);
  return texts.size === 0 ? undefined : [...texts];
}

function listTexts(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
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
