/** Merges what two people have changed of one record, and lets the user choose where both did. */
import { h, createSelect, type Child } from '../../base/dom.ts';
import { formatValue } from '../../base/format.ts';
import { encodeJson } from '../../base/json-text.ts';
import { hasField, resolveSchema, type ModelSchema } from '../../base/model-schema.ts';
import { submitButton } from '../buttons.ts';
import { openDialog } from '../dialog.ts';
import { stackedTable } from '../tables.ts';
import { findLabel } from './input-field.ts';

const HIDDEN = '***';

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
export async function mergeVersions(
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
  const stored = encodeJson(theirs[name]);
  const before = encodeJson(base[name]);
  const own = encodeJson(mine[name]);
  const isSecretTyped = encodeJson(hideSecrets(schema, mine[name])) !== own;
  return {
    name, schema, isChangedByMe: own !== before && own !== stored,
    isChangedByThem: stored !== before || isSecretTyped,
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

/** `Status read, Rating 3.75`: an object by the labels of its members. */
function formatMember(schema: ModelSchema, value: unknown): string {
  const { properties } = resolveSchema(schema);
  if (properties === undefined || typeof value !== 'object' || value === null) {
    return formatValue(value);
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
