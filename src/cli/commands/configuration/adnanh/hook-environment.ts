/**
 * The environment of a server that runs converted hooks: the variables that the document names, and
 * settings. A line of its file is `NAME="value"`, with a backslash before each `"`, `\`, `$` and
 * backtick of the value, `NAME=42` for a number, or a remark that begins with `#`. A shell and
 * systemd (systemd.exec(5), EnvironmentFile=) read the same values from it.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import { ALLOWED_VARIABLES_DEFAULT } from '../../../../base/hook-variables.ts';
import { escapeControls } from '../../../../base/text/printable.ts';
import { shellQuote } from '../../../../base/text/shell-quote.ts';
import { OutputFile } from '../../../terminal/output-file.ts';
import type { Conversion } from './convert-hooks.ts';
import type { HookSecret } from './hook-report.ts';

type SettingValue = readonly [name: string, value: string | number];

/**
 * adnanh/webhook starts all commands at once. With this many no hook waits for another, and the
 * machine stays usable.
 */
const COMMANDS_MAX = 32;
/** adnanh/webhook has no limit for a body. GitHub sends no larger body than this. */
const BODY_BYTES_MAX = 25 * 1024 * 1024;

/** The settings with which commands run as in adnanh/webhook, without the folder of commands. */
export function listSettings(
  { forbiddenVariables, commands, workingDirectories }: Conversion,
): readonly SettingValue[] {
  const settings: SettingValue[] = [];
  if (commands.size > 0) {
    settings.push(['HOOKSHELF_ACTIONS_MAX_COMMANDS', COMMANDS_MAX],
      ['HOOKSHELF_SERVER_MAX_BODY_BYTES', BODY_BYTES_MAX]);
  }
  if (forbiddenVariables.length > 0) {
    settings.push(['HOOKSHELF_ACTIONS_ENVIRONMENT',
      [...ALLOWED_VARIABLES_DEFAULT, ...forbiddenVariables].join(',')]);
  }
  if (workingDirectories.length > 0) {
    settings.push(['HOOKSHELF_ACTIONS_WORKING_DIRECTORIES', workingDirectories.join(',')]);
  }
  return settings;
}

/** The address of the hooks of a server with the file. */
export const FILE_ADDRESS = 'http://127.0.0.1:9000/hooks/';

/** Settings with which senders need no new address: the defaults of adnanh/webhook. */
const ADDRESS_LINES = [
  '# Where senders call their hooks. Write what -port and -urlprefix said there, if they did:',
  'HOOKSHELF_SERVER_PORT=9000',
  'HOOKSHELF_SERVER_WEBHOOK_PATH="/hooks"',
  '# For senders that come from other machines, and through no proxy here. It takes a token of the',
  '# API, HOOKSHELF_API_TOKEN="...", of 16 characters or more:',
  '# HOOKSHELF_SERVER_HOST="0.0.0.0"',
  '# In place of -verbose:',
  '# HOOKSHELF_LOG_LEVEL="debug"',
];

/**
 * Writes the file, for its owner alone. A variable without a value in the hooks file has the one
 * of `environment`, else none. Throws `conflict` where the file is there and is not empty.
 */
export async function writeEnvironmentFile(
  path: string, conversion: Conversion, environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (existsSync(path) && statSync(path).size > 0) {
    throw new AppError('conflict', `${path} exists, and may hold what you have added: name another `
      + 'file, or move this one away');
  }
  const settings: readonly SettingValue[] = [
    ['HOOKSHELF_ACTIONS_COMMAND_DIRECTORY', join(dirname(resolve(path)), 'commands')],
    ...listSettings(conversion),
  ];
  const lines = [
    '# By hookshelf config:convert. It holds secrets: let nobody else read it.',
    ...conversion.variables.flatMap((variable) => {
      const { name, value } = variable;
      return [`# ${describeSecret(variable)}`,
        `${name}=${quoteValue(value ?? environment[name] ?? '')}`];
    }),
    ...settings.map(([name, value]) => `${name}=${quoteValue(value)}`),
    ...ADDRESS_LINES,
  ];
  const file = new OutputFile(path);
  try {
    await file.open();
    await file.write(lines.map((line) => `${line}\n`).join(''));
    await file.commit();
  } catch (thrown) {
    await file.discard();
    throw thrown;
  }
}

/** Says where the hooks file has the secret, for a remark. */
export function describeSecret({ hook, pointer }: HookSecret): string {
  // In zsh, where a person types, `#` begins no comment.
  return escapeControls(`what stands at ${shellQuote(`${pointer} of ${hook}`)}`);
}

function quoteValue(value: string | number): string {
  return typeof value === 'number' ? String(value) : `"${value.replace(/["\\$`]/g, '\\$&')}"`;
}
