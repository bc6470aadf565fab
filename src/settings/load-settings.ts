/**
 * Loads the settings from flags, environment and file, in this order of precedence, into one frozen
 * object, with the origin of every value. An unknown setting or a value of the wrong type is a
 * `usage` error that names the setting and where it came from, and never the value of a secret.
 */
import { resolve } from 'node:path';
import { AppError } from '../base/errors.ts';
import { MASK, redactText } from '../base/log.ts';
import { didYouMean, findNearest } from '../base/text/nearest.ts';
import { quotePath } from '../base/text/shell-quote.ts';
import { ROWS_BY_NAME, readEnvironment, readFile, readFlags } from './settings-sources.ts';
import type { SettingsFile, SettingsSources } from './settings-sources.ts';
import { SETTING_ROWS } from './setting-table.ts';
import type { SettingKind, SettingListKind, SettingRow, Settings } from './setting-table.ts';

export type { FlagValue, SettingsFile, SettingsSources } from './settings-sources.ts';
export type { Settings, SettingsInput } from './setting-table.ts';

export type LoadedSettings = {
  readonly settings: Settings;
  /** By name of the setting: `default`, `--port`, `HOOKSHELF_…` or the file's path. */
  readonly origins: ReadonlyMap<string, string>;
  readonly warnings: readonly SettingsWarning[];
};

/** A setting that is allowed but unwise, and what to do about it. */
type SettingsWarning = { readonly problem: string; readonly fix: string };

const PROBLEMS_LISTED_MAX = 5;

/** Throws `usage` with every problem found. */
export function loadSettings(sources: SettingsSources = {}): LoadedSettings {
  const problems: string[] = [];
  const values = new Map<string, unknown>(SETTING_ROWS.map((row) => [row.name, row.default]));
  const origins = new Map<string, string>(SETTING_ROWS.map((row) => [row.name, 'default']));
  // From weak to strong: each later source replaces earlier values.
  const layers = [
    readFile(sources.file ?? null, problems),
    readEnvironment(sources.environment ?? {}, problems),
    readFlags(sources.flags ?? []),
  ];
  for (const { name, value, origin, directory } of layers.flat()) {
    const row = ROWS_BY_NAME.get(name);
    if (row === undefined) {
      const hint = didYouMean(name, ROWS_BY_NAME.keys());
      problems.push(`unknown setting \`${name}\` in ${origin}${hint}`);
      continue;
    }
    const result = readValue(row.kind, value, directory);
    if ('expected' in result) {
      const actual = row.isSecret ? '' : `, not ${redactText(JSON.stringify(value))}`;
      problems.push(`setting \`${name}\` must be ${result.expected}${actual} (from ${origin})`);
      continue;
    }
    values.set(name, result.value);
    origins.set(name, origin);
  }
  if (problems.length === 0) checkAcrossSettings(values, origins, problems);
  if (problems.length > 0) throw usageError(problems);
  return { settings: groupValues(values), origins, warnings: findWarnings(sources.file ?? null) };
}

function findWarnings(file: SettingsFile | null): SettingsWarning[] {
  if (file?.isReadByAll !== true) return [];
  const secrets = readFile(file, []).flatMap(({ name, value }) => {
    const row = ROWS_BY_NAME.get(name);
    return row !== undefined && maskSettingValue(row, value) !== value ? [name] : [];
  });
  if (secrets.length === 0) return [];
  return [{
    problem: `${file.origin} holds ${secrets.join(' and ')}, and every user may read it`,
    fix: `chmod 600 ${quotePath(file.origin)}`,
  }];
}

/** A setting's value as a person may see it: `***` for a secret, URLs without credentials. */
export function maskSettingValue(row: SettingRow, value: unknown): unknown {
  if (!row.isSecret || typeof value !== 'string') return value;
  // The URL of a store may name several hosts, which URL.canParse refuses.
  return URL.canParse(value) || row.name === 'store.url' ? redactText(value) : MASK;
}

function usageError(problems: readonly string[]): AppError {
  const rest = problems.length - PROBLEMS_LISTED_MAX;
  const list = problems.slice(0, PROBLEMS_LISTED_MAX).join('; ');
  return new AppError('usage', rest > 0 ? `${list}; and ${rest} more` : list);
}

/** Checks the rules that concern several settings, and adds what is wrong to `problems`. */
function checkAcrossSettings(
  values: Map<string, unknown>, origins: Map<string, string>, problems: string[],
): void {
  const tlsNames = ['server.tlsCert', 'server.tlsKey'].filter((name) => values.get(name) !== null);
  const [tlsName = ''] = tlsNames;
  if (tlsNames.length === 1) {
    const missingName = tlsName === 'server.tlsKey' ? 'server.tlsCert' : 'server.tlsKey';
    problems.push(`setting \`${tlsName}\` (from ${origins.get(tlsName)}) needs `
      + `\`${missingName}\` as well`);
  }
  if (values.get('store.passwordFile') !== null && values.get('store.url') === null) {
    problems.push('setting `store.passwordFile` (from '
      + `${origins.get('store.passwordFile')}) needs \`store.url\` as well`);
  }
  if (values.get('server.paused') === true && values.get('store.url') !== null) {
    problems.push(`setting \`server.paused\` (from ${origins.get('server.paused')}) is for a `
      + 'server alone on its data, and not for one of several nodes (`store.url`)');
  }
  const headersS = Number(values.get('server.headersTimeout'));
  const requestS = Number(values.get('server.requestTimeout'));
  if (headersS <= requestS) return;
  // The head is a part of the request. Who shortens the request's limit need not set the head's.
  if (origins.get('server.headersTimeout') === 'default') {
    values.set('server.headersTimeout', requestS);
  } else {
    problems.push(`setting \`server.headersTimeout\` (${headersS}, from `
      + `${origins.get('server.headersTimeout')}) must not be more than `
      + `\`server.requestTimeout\` (${requestS})`);
  }
}

type ValueResult = { readonly value: unknown } | { readonly expected: string };

/** The value in its canonical form, or what it must be: "must be <expected>". */
function readValue(kind: SettingKind, value: unknown, directory: string): ValueResult {
  switch (kind.is) {
    case 'number': {
      const { minimum, maximum, isInteger } = kind;
      const isFit = typeof value === 'number' && value >= minimum && value <= maximum
        && (!isInteger || Number.isInteger(value));
      const noun = isInteger ? 'an integer' : 'a number';
      return isFit ? { value } : { expected: `${noun} from ${minimum} to ${maximum}` };
    }
    case 'boolean':
      return typeof value === 'boolean' ? { value } : { expected: 'true or false' };
    case 'choice': {
      if (typeof value === 'string' && kind.values.includes(value)) return { value };
      const near = typeof value === 'string' ? findNearest(value, kind.values) : null;
      const hint = near === null ? '' : ` (did you mean ${near}?)`;
      return { expected: `one of ${kind.values.join(', ')}${hint}` };
    }
    case 'list': return readList(kind, value, directory);
    case 'flagOrList': {
      if (typeof value === 'boolean') return { value };
      const result = readList(kind.list, value, directory);
      return 'expected' in result ? { expected: `true, false or ${result.expected}` } : result;
    }
    default: {
      if (value === null && kind.isNullable) return { value };
      if (typeof value !== 'string' || value === '') return { expected: 'a string, not empty' };
      if (kind.is === 'path') return { value: resolve(directory, value) };
      return kind.check?.(value) ?? { value };
    }
  }
}

function readList(kind: SettingListKind, value: unknown, directory: string): ValueResult {
  if (!Array.isArray(value)) return { expected: 'a list' };
  if (value.length > kind.itemsMax) return { expected: `a list of at most ${kind.itemsMax}` };
  const items: unknown[] = [];
  for (const item of value) {
    const result = readValue(kind.items, item, directory);
    if ('expected' in result) return { expected: `a list in which each is ${result.expected}` };
    items.push(result.value);
  }
  return { value: Object.freeze(items) };
}

function groupValues(values: ReadonlyMap<string, unknown>): Settings {
  const groups: Record<string, unknown> = {};
  for (const { name } of SETTING_ROWS) {
    const [group = '', member = ''] = name.split('.');
    groups[group] = { ...groups[group] as object, [member]: values.get(name) };
  }
  for (const group of Object.values(groups)) Object.freeze(group);
  // Every row of the table has just been set to a value that its kind allows.
  return Object.freeze(groups) as Settings;
}
