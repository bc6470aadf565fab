/** `settings:show`: every setting, its value and where it came from. Secrets stay hidden. */
import { SETTING_ROWS } from '../../../settings/table.ts';
import { shownValue } from '../../../settings/load.ts';
import type { CommandContext } from '../context.ts';

type Shown = {
  readonly name: string; readonly value: unknown; readonly origin: string;
  readonly default: unknown; readonly unit: string; readonly variable: string;
  readonly meaning: string;
};

export async function showSettings({ loadSettings, output }: CommandContext): Promise<number> {
  const { settings, origins } = loadSettings();
  const rows = SETTING_ROWS.map((row): Shown => ({
    name: row.name, value: shownValue(row, valueAt(settings, row.name)),
    origin: origins.get(row.name) ?? 'default', default: row.default, unit: row.unit,
    variable: row.variable, meaning: row.meaning,
  }));
  await output.list(rows, [
    { title: 'SETTING', value: ({ name }) => name, isWhole: true },
    { title: 'VALUE', value: ({ value }) => textOf(value) },
    { title: 'UNIT', value: ({ unit }) => unit },
    { title: 'FROM', value: ({ origin }) => origin },
  ], '');
  return 0;
}

function valueAt(settings: object, name: string): unknown {
  let value: unknown = settings;
  for (const step of name.split('.')) value = Reflect.get(Object(value), step);
  return value;
}

function textOf(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
