/** The settings as a person may see them: each with its origin, secrets masked. */
import { maskSettingValue, type LoadedSettings } from './load-settings.ts';
import { SETTING_ROWS } from './setting-table.ts';

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

function readSetting(settings: object, name: string): unknown {
  let value: unknown = settings;
  for (const step of name.split('.')) value = Reflect.get(Object(value), step);
  return value;
}
