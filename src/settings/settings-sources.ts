/**
 * Finds settings in flags, HOOKSHELF_ variables and the settings file. Each source becomes a flat
 * list of names and values that are not checked yet.
 */
import { isIPv6 } from 'node:net';
import { isJsonObject } from '../base/fields.ts';
import { HOOK_VARIABLES } from '../base/hook-variables.ts';
import { findNearest } from '../base/text/nearest.ts';
import { SETTING_ROWS } from './setting-table.ts';
import type { SettingKind } from './setting-table.ts';

export type FlagValue = {
  /** The setting's name. */
  readonly name: string; readonly value: string;
  /** For example `--port`. */
  readonly flag: string;
};

export type SettingsSources = {
  readonly flags?: readonly FlagValue[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Nested settings, parsed from a file or given by a program. */
  readonly file?: SettingsFile | null;
};

export type SettingsFile = {
  readonly origin: string;
  readonly value: unknown;
  /** The folder from which relative paths in it start; the current one when absent. */
  readonly directory?: string;
  /** Whether its mode lets every user of the machine read it. */
  readonly isReadByAll?: boolean;
};

/** A value as its source has it; a relative path in it starts from `directory`. */
type SourceValue = {
  readonly name: string; readonly value: unknown; readonly origin: string;
  readonly directory: string;
};

export const ROWS_BY_NAME = new Map(SETTING_ROWS.map((row) => [row.name, row]));
const ROWS_BY_VARIABLE = new Map(SETTING_ROWS.map((row) => [row.variable, row]));
const PREFIX = 'HOOKSHELF_';
/** Names the data directory. */
export const DATA_VARIABLE = 'HOOKSHELF_DATA';
/** Name the server that commands work on, and the file of its token. */
export const SERVER_VARIABLE = 'HOOKSHELF_SERVER';
export const TOKEN_FILE_VARIABLE = 'HOOKSHELF_TOKEN_FILE';
// These variables say where a command works, and are no settings.
const LOCATION_VARIABLES: readonly string[] = [DATA_VARIABLE, SERVER_VARIABLE, TOKEN_FILE_VARIABLE];
const TOKEN_NAME = 'server.apiToken';
const TOKEN_ALIAS = 'HOOKSHELF_API_TOKEN';
// The group began as a setting of its own: a list there, and the variable, are still its modules.
const MODULES_GROUP = 'actions';
const MODULES_NAME = 'actions.modules';
const ALIASES: ReadonlyMap<string, string> =
  new Map([[TOKEN_ALIAS, TOKEN_NAME], ['HOOKSHELF_ACTIONS', MODULES_NAME]]);
// In the settings files of the program that they come from, two groups stand below this path.
const VENDOR_PATH = 'Vendor.Webhook.';
const VARIABLES_WITHOUT_SETTING: ReadonlySet<string> =
  new Set([...LOCATION_VARIABLES, ...Object.values(HOOK_VARIABLES)]);
const FLAGS: ReadonlyMap<string, boolean> =
  new Map([['true', true], ['1', true], ['false', false], ['0', false]]);
// Other forms of a number, such as 1e3 or +8000, are more likely a mistake.
const DECIMAL = /^-?(\d{1,20}(\.\d{1,20})?|\.\d{1,20})$/;
const VENDOR_GROUPS = /^(http|incoming)\./;

export function readFlags(flags: readonly FlagValue[]): SourceValue[] {
  return flags.map(({ name, value, flag }) => {
    const row = ROWS_BY_NAME.get(name);
    const json = row === undefined ? value : parseText(row.kind, value);
    return { name, value: json, origin: flag, directory: '.' };
  });
}

export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>, problems: string[],
): SourceValue[] {
  const values: SourceValue[] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (text === undefined || !variable.startsWith(PREFIX)) continue;
    if (VARIABLES_WITHOUT_SETTING.has(variable)) continue;
    const alias = ALIASES.get(variable);
    const row = alias === undefined ? ROWS_BY_VARIABLE.get(variable) : ROWS_BY_NAME.get(alias);
    if (row === undefined) {
      if (isServiceLink(variable, text)) continue;
      problems.push(`unknown environment variable ${variable}${formatVariableHint(variable)}`);
      continue;
    }
    const whole = alias === undefined ? undefined : environment[row.variable];
    if (whole !== undefined && whole !== text) {
      problems.push(`${row.variable} and ${variable} differ; set one of them`);
      continue;
    }
    values.push({
      name: row.name, value: parseText(row.kind, text, row.name !== TOKEN_NAME), origin: variable,
      directory: '.',
    });
  }
  return values;
}

// A Kubernetes service named `hookshelf` puts such variables in every container beside it.
function isServiceLink(variable: string, text: string): boolean {
  return /^HOOKSHELF_SERVICE_(HOST|PORT)/.test(variable)
    || /^HOOKSHELF_PORT_\d+_(TCP|UDP|SCTP)/.test(variable)
    || (variable === 'HOOKSHELF_PORT' && /^(tcp|udp|sctp):\/\//.test(text));
}

export function readFile(file: SettingsFile | null, problems: string[]): SourceValue[] {
  if (file === null) return [];
  if (!isJsonObject(file.value)) {
    problems.push(`${file.origin} must hold a JSON object of settings`);
    return [];
  }
  const values = new Map<string, SourceValue>();
  const visit = (value: unknown, path: string): void => {
    if (value === undefined) return;
    const name = nameSetting(path, value);
    if (isJsonObject(value) && !ROWS_BY_NAME.has(name)) {
      const members = Object.entries(value);
      if (members.length > 0 || isGroup(name)) {
        for (const [member, next] of members) visit(next, `${path}.${member}`);
        return;
      }
    }
    if (values.has(name)) problems.push(`setting \`${name}\` stands twice in ${file.origin}`);
    values.set(name, {
      name, value, origin: file.origin, directory: file.directory ?? '.',
    });
  };
  for (const [name, value] of Object.entries(file.value)) visit(value, name);
  return [...values.values()];
}

function nameSetting(path: string, value: unknown): string {
  if (path === MODULES_GROUP && !isJsonObject(value)) return MODULES_NAME;
  const inner = path.startsWith(VENDOR_PATH) ? path.slice(VENDOR_PATH.length) : path;
  return VENDOR_GROUPS.test(inner) ? inner : path;
}

function isGroup(path: string): boolean {
  return path === 'Vendor' || path === 'Vendor.Webhook'
    || SETTING_ROWS.some((row) => row.name.startsWith(`${path.replace(VENDOR_PATH, '')}.`));
}

/** The JSON value that the text of a variable or flag stands for; the text itself for no value. */
function parseText(kind: SettingKind, text: string, canUnset = true): unknown {
  const word = text.trim();
  switch (kind.is) {
    case 'number':
      return DECIMAL.test(word) ? Number(word) : text;
    case 'boolean': return FLAGS.get(word) ?? text;
    case 'flagOrList': return FLAGS.get(word) ?? parseText(kind.list, text);
    case 'choice': return word;
    case 'list': {
      // A list of addresses may begin with one in brackets, which is no JSON.
      if (word.startsWith('[') && !isIPv6(word.slice(1, word.indexOf(']')))) {
        return parseJsonOr(word, text);
      }
      const items = word === '' ? [] : word.split(',');
      return items.map((item) => parseText(kind.items, item.trim()));
    }
    default:
      // Empty text unsets the file's value; an empty token is more likely a dangerous mistake.
      return text === '' && kind.isNullable && canUnset ? null : text;
  }
}

function parseJsonOr(text: string, otherwise: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

// With the common prefix every name would look similar.
function formatVariableHint(variable: string): string {
  const bare = [...ROWS_BY_VARIABLE.keys(), ...ALIASES.keys(), ...LOCATION_VARIABLES]
    .map((name) => name.slice(PREFIX.length));
  const near = findNearest(variable.slice(PREFIX.length), bare);
  return near === null ? '' : `: did you mean ${PREFIX}${near}?`;
}
