/**
 * Makes the configuration document of what is stored. It is the same for the same configuration:
 * records are sorted by name, and keys of free JSON too; members stand in the order of the model.
 * Members at their default are left out: an apply of the document then keeps a webhook switched off
 * (`keepEnabled`). What lists show as `***` is `{ "$env": "<NAME>" }`. Pure.
 */
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { takeUniqueName } from '../../base/text/unique-name.ts';
import { replaceSecrets } from '../members/mask-secrets.ts';
import { sortFreeJson } from './configuration-plan.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';
import type { StoredConfiguration } from './stored-configuration.ts';

/**
 * The document as text, without outgoing webhooks that have no name. `isOnlyApplied` leaves out
 * records that were made by hand (`set` is null), too.
 */
export function exportConfiguration(
  { records }: StoredConfiguration, isOnlyApplied: boolean,
): string {
  const createName = createVariableNamer();
  const lists = RECORD_KINDS.map((kind) => {
    const list = (records.get(kind) ?? []).flatMap(({ name, set, members }) =>
      name === null || (isOnlyApplied && set === null) ? [] : [{ name, members }]);
    list.sort((left, right) => left.name < right.name ? -1 : 1);
    return [kind.member, list.map(({ members }) => exportRecord(kind, members, createName))];
  });
  return `${encodeJson(Object.fromEntries(lists), 2)}\n`;
}

function exportRecord(
  { schema, naming }: RecordKind, record: JsonObject, createName: NameVariable,
): JsonObject {
  const members = sortFreeJson(schema, record);
  const name = record[naming] ?? null;
  const rest = Object.entries(schema.members).flatMap(([member, { readOnly, ...described }]) => {
    const value = members[member];
    if (member === naming || readOnly !== undefined || value === undefined) return [];
    if (encodeJson(value) === encodeJson(described.default)) return [];
    return [[member, value] as const];
  });
  const hide = (_: string, steps: readonly string[]): JsonObject =>
    ({ $env: createName(String(name), steps) });
  return { [naming]: name, ...replaceSecrets(schema, Object.fromEntries(rest), hide) };
}

/** `steps` lead to the value within its record: `['headers', 'Authorization']`. */
type NameVariable = (record: string, steps: readonly string[]) => string;

/**
 * Makes names of environment variables for what is not shown: `GH_SECRET` is the secret of the
 * webhook `gh`. No two are the same: a number follows a name that an earlier record has taken.
 */
function createVariableNamer(): NameVariable {
  const names = new Set<string>();
  return (record, steps) => {
    // Within a member its own name is left out: `options.password` is PASSWORD.
    const places = steps.length > 1 ? steps.slice(1) : steps;
    const words = [record, ...places].map(toWords).filter((part) => part !== '');
    return takeUniqueName(toSafeName(words.join('_')), names, { separator: '_' });
  };
}

const SETTING_PREFIX = 'HOOKSHELF_';

// A digit cannot begin a variable. A single word may be PATH or HOME. HOOKSHELF_ begins settings.
function toSafeName(name: string): string {
  return /^[0-9]/.test(name) || !name.includes('_') || name.startsWith(SETTING_PREFIX)
    ? `HOOK_${name}` : name;
}

/** `targetUrl` and `target-url` are TARGET_URL. */
function toWords(text: string): string {
  return text.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
}
