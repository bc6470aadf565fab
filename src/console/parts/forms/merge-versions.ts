/** Merges what two people have changed of one record, and lets the user choose where both did. */
import { h, type Child } from '../../base/dom.ts';
import { formatValue } from '../../base/format.ts';
import { encodeJson } from '../../base/json-text.ts';
import { hasField, type ModelSchema } from '../../base/model-schema.ts';
import { ask } from '../dialog.ts';
import { stackedTable } from '../plain-table.ts';
import { findLabel } from './input-field.ts';

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
  const answer = await ask<'theirs' | 'merged' | null>('It was changed meanwhile', [
    h('p', 'Somebody else has saved another version. ', choices.size === 0
      ? 'Nothing of it collides with yours.' : 'Choose where you both have changed the same.'),
    stackedTable(['Member', 'Before', 'Theirs', 'Yours', 'To be saved'], rows),
  ], [
    [null, 'Go on editing'], ['theirs', 'Take the stored one'],
    ['merged', 'Save them together', 'primary'],
  ]);
  return answer === 'merged' ? merge() : answer;
}

/** A change that both have made is theirs alone: it is stored already. */
function compareMember(
  name: string, schema: ModelSchema, { base, mine, theirs }: Versions,
): MergedMember {
  const stored = encodeJson(theirs[name]);
  const before = encodeJson(base[name]);
  const own = encodeJson(mine[name]);
  return {
    name, schema, isChangedByMe: own !== before && own !== stored,
    isChangedByThem: stored !== before,
  };
}

function createChoice(label: string): HTMLSelectElement {
  return h('select', { 'aria-label': `${label} to be saved` },
    h('option', { value: 'mine' }, 'Yours'), h('option', { value: 'theirs' }, 'Theirs'));
}

/** A secret is never read, so that it cannot be shown. */
function renderMember(
  { name, schema, isChangedByMe }: MergedMember, { base, theirs, mine }: Versions,
  choice: HTMLSelectElement | undefined,
): Child[] {
  const values = [base, theirs, mine].map((version) =>
    schema.writeOnly === true ? '***' : formatValue(version[name]));
  return [findLabel({ name, schema }), ...values,
    choice ?? (isChangedByMe ? 'Yours' : 'Theirs')];
}
