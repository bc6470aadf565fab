/**
 * Makes the configuration document of what is stored. It is the same for the same configuration:
 * records are sorted by name, and keys of free JSON too; members stand in the order of the model.
 * Members at their default are left out: an apply of the document then keeps a webhook switched off
 * (`keepEnabled`). What lists show as `***` is `{ "$env": "<NAME>" }`. Pure.
 */
import { encodeJson } from '../../base/json/encode.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import type { JsonObject } from '../../base/schema.ts';
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
  const exportLists = (nameVariable: NameVariable): JsonObject =>
    Object.fromEntries(RECORD_KINDS.map((kind) => {
      const list = (records.get(kind) ?? []).flatMap(({ name, set, members }) =>
        name === null || (isOnlyApplied && set === null) ? [] : [{ name, members }]);
      list.sort((left, right) => left.name < right.name ? -1 : 1);
      return [kind.member, list.map(({ members }) => exportRecord(kind, members, nameVariable))];
    }));
  const names = new Set<string>();
  const repeatedNames = new Set<string>();
  exportLists((place) => {
    const name = createVariableName(place);
    (names.has(name) ? repeatedNames : names).add(name);
    return name;
  });
  return `${encodeJson(exportLists((place) => {
    const name = createVariableName(place);
    return repeatedNames.has(name) ? `${name}_${digestPlace(place)}` : name;
  }), 2)}\n`;
}

function exportRecord(
  { member: kind, schema, naming }: RecordKind, record: JsonObject, nameVariable: NameVariable,
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
    ({ $env: nameVariable({ kind, record: String(name), steps }) });
  return { [naming]: name, ...replaceSecrets(schema, Object.fromEntries(rest), hide) };
}

/** A value that is not shown: `['headers', 'Authorization']` lead to it within its record. */
type HiddenPlace = {
  readonly kind: string; readonly record: string; readonly steps: readonly string[];
};

type NameVariable = (place: HiddenPlace) => string;

/**
 * Makes the name of an environment variable for what is not shown: `GH_SECRET` is the secret of the
 * webhook `gh`, and `GH__EU_SECRET` that of `gh.eu`.
 */
function createVariableName({ record, steps }: HiddenPlace): string {
  // Within a member its own name is left out: `options.password` is PASSWORD.
  const places = steps.length > 1 ? steps.slice(1) : steps;
  const words = [record.split('.').map(toWords).filter((part) => part !== '').join('__'),
    ...places.map(toWords)];
  return toSafeName(words.filter((part) => part !== '').join('_'));
}

/**
 * Distinguishes all places that would have one name, by what each is called: a number would move
 * the names, and with them secrets, where a record comes or goes.
 */
function digestPlace({ kind, record, steps }: HiddenPlace): string {
  return loadCrypto().createHash('sha256').update(encodeJson([kind, record, ...steps]))
    .digest('hex').slice(0, 6).toUpperCase();
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
