/** `settings:show`: every setting, its value and where it came from. Secrets stay hidden. */
import { listPublicSettings } from '../../../settings/public-settings.ts';
import type { CommandContext } from '../command-context.ts';
import { formatValue } from '../resource-commands.ts';
import { describeSource, findRunningServer } from './running-server.ts';

/**
 * Shows the settings of the server that runs, else those that this command has. With `--config` on
 * this machine it shows the latter, as somebody looks at a file before a start.
 */
export async function showSettings(context: CommandContext): Promise<void> {
  const { args, output, serverUrl } = context;
  const isOfFile = serverUrl === null && args.has('config');
  const server = isOfFile ? null : await findRunningServer(context);
  const rows: readonly Readonly<Record<string, unknown>>[] =
    server?.settings ?? listPublicSettings(context.loadSettings());
  const source = isOfFile ? 'this command, with --config' : describeSource(server, context);
  output.note(`these are the settings of ${source}`);
  await output.list(rows, [
    { title: 'SETTING', value: ({ name }) => formatValue(name), fit: 'whole' },
    { title: 'VALUE', value: ({ value }) => formatSetting(value) },
    { title: 'UNIT', value: ({ unit }) => formatValue(unit) },
    { title: 'FROM', value: ({ origin }) => formatValue(origin) },
  ], '');
}

function formatSetting(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
