/** The settings as a person may see them: each with where it came from, secrets hidden. */
import { shownValue, type LoadedSettings } from './load.ts';
import { SETTING_ROWS } from './table.ts';

export type ShownSetting = {
  readonly name: string; readonly value: unknown;
  /** `default`, `--port`, `HOOKSHELF_…` or the file's path. */
  readonly origin: string;
  readonly default: unknown; readonly unit: string;
  /** Of the environment. */
  readonly variable: string;
  readonly meaning: string;
};

export function shownSettings(
  { settings, origins }: Pick<LoadedSettings, 'settings' | 'origins'>,
): readonly ShownSetting[] {
  return SETTING_ROWS.map((row) => ({
    name: row.name, value: shownValue(row, valueAt(settings, row.name)),
    origin: origins.get(row.name) ?? 'default', default: row.default, unit: row.unit,
    variable: row.variable, meaning: row.meaning,
  }));
}

function valueAt(settings: object, name: string): unknown {
  let value: unknown = settings;
  for (const step of name.split('.')) value = Reflect.get(Object(value), step);
  return value;
}
