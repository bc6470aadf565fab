/** The settings as a person may see them: each with its origin, secrets masked. */
import { MASK } from '../base/log.ts';
import { joinFirst } from '../base/text/error-message.ts';
import { loadSettings, maskSettingValue } from './load-settings.ts';
import type { LoadedSettings } from './load-settings.ts';
import { SETTING_ROWS } from './setting-table.ts';
import type { Settings } from './setting-table.ts';

export type PublicSetting = {
  readonly name: string; readonly value: unknown;
  /** `default`, `--port`, `HOOKSHELF_…` or the file's path. */
  readonly origin: string;
  readonly default: unknown; readonly unit: string;
  /** The environment variable that sets it. */
  readonly variable: string;
  readonly meaning: string;
};

export function listPublicSettings(
  { settings, origins }: Pick<LoadedSettings, 'settings' | 'origins'>,
): readonly PublicSetting[] {
  return SETTING_ROWS.map((row) => ({
    name: row.name, value: maskSettingValue(row, readSetting(settings, row.name)),
    origin: origins.get(row.name) ?? 'default', default: row.default, unit: row.unit,
    variable: row.variable, meaning: row.description,
  }));
}

/** The names of the settings whose values differ. */
export function listChangedSettings(before: Settings, after: Settings): readonly string[] {
  return SETTING_ROWS.map(({ name }) => name).filter((name) =>
    JSON.stringify(readSetting(before, name)) !== JSON.stringify(readSetting(after, name)));
}

/**
 * The settings that rows of another process tell, whose secrets are masked or null here. `name` is
 * that of the process. Throws `usage` for a value that no setting can have.
 */
export function parsePublicSettings(
  rows: readonly { readonly name?: unknown; readonly value?: unknown }[], name: string,
): Settings {
  const values = new Map(rows.map((row) => [row.name, row.value]));
  const entries = SETTING_ROWS.map((row) => [row.name, values.get(row.name)] as const);
  const value = Object.fromEntries(entries.filter(([, text]) => text !== MASK));
  return loadSettings({ file: { origin: name, value } }).settings;
}

/** Lists the origins of settings, each with its number of settings if it has several. */
export function describeOrigins(rows: readonly { readonly origin?: unknown }[]): string {
  const counts = new Map<string, number>();
  for (const origin of rows.map((row) => String(row.origin))) {
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  const hasDefaults = counts.delete('default');
  const labels = [...counts].map(([origin, count]) =>
    count === 1 ? origin : `${origin} (${count})`);
  if (labels.length === 0) return 'all by default';
  return `from ${joinFirst(labels)}${hasDefaults ? '; the others by default' : ''}`;
}

function readSetting(settings: object, name: string): unknown {
  let value: unknown = settings;
  for (const step of name.split('.')) value = Reflect.get(Object(value), step);
  return value;
}
