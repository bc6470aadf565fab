/** `settings:show`: every setting, its value and where it came from. Secrets stay hidden. */
import { listPublicSettings } from '../../../settings/public-settings.ts';
import type { CommandContext } from '../command-context.ts';

export async function showSettings({ loadSettings, output }: CommandContext): Promise<number> {
  const rows = listPublicSettings(loadSettings());
  await output.list(rows, [
    { title: 'SETTING', value: ({ name }) => name, fit: 'whole' },
    { title: 'VALUE', value: ({ value }) => formatSetting(value) },
    { title: 'UNIT', value: ({ unit }) => unit },
    { title: 'FROM', value: ({ origin }) => origin },
  ], '');
  return 0;
}

function formatSetting(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
