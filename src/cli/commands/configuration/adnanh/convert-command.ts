/**
 * `config:convert --from adnanh`: prints the configuration document for a hooks file, and on
 * standard error what has no counterpart and what people have to provide.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { AppError } from '../../../../base/errors.ts';
import { listObjects } from '../../../../base/fields.ts';
import {
  CONFIGURATION_BYTES_MAX, DOCUMENT_BYTES_MAX, readBounded,
} from '../../../../base/files/bounded-read.ts';
import { escapeControls } from '../../../../base/text/printable.ts';
import { shellQuote } from '../../../../base/text/shell-quote.ts';
import { EXIT_PENDING } from '../../../process/exit-code.ts';
import type { JsonObject } from '../../../../base/schema.ts';
import type { CommandContext } from '../../command-context.ts';
import { readStandardInput } from '../../option-input.ts';
import { STANDARD_INPUT, nameFile, readDocumentFile } from '../configuration-file.ts';
import { convertHooks, type Conversion } from './convert-hooks.ts';
import {
  FILE_ADDRESS, describeSecret, listSettings, writeEnvironmentFile,
} from './hook-environment.ts';
import { at } from './hook-report.ts';
import { parseHooksFile } from './hooks-file.ts';

/** Exit code 3 when anything has no counterpart. */
export async function convertConfiguration(context: CommandContext): Promise<number> {
  const { args, io: { environment, stderr }, output } = context;
  const conversion = await readHooks(context);
  const filePath = args.find('environment-file');
  if (filePath !== undefined) await writeEnvironmentFile(filePath, conversion, environment);
  const { PATH: searchPath = '' } = environment;
  // A variable that is set may have the right value.
  const variables = conversion.variables.filter(({ name }) => (environment[name] ?? '') === '');
  await output.json(conversion.document);
  for (const line of [
    ...formatGaps(conversion), ...formatFiles(conversion, searchPath),
    ...filePath === undefined ? formatOutdated(conversion, environment)
      : formatMissing(variables, filePath),
  ]) output.note(line);
  if (filePath === undefined && variables.some(({ value }) => value !== null)) {
    output.note('secrets of the file are not shown: --environment-file <file> writes them, and the '
      + 'settings, into a file');
  }
  output.note('what the file needs, to paste into a shell:');
  for (const line of [
    ...filePath === undefined ? formatVariables(variables, conversion)
      : [`set -a; . ${shellQuote(resolve(filePath))}; set +a`],
    'mkdir -m 700 -p "$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"',
    ...formatCommands(conversion.commands, searchPath),
    ...formatCalls(conversion, filePath !== undefined),
  ]) stderr.write(`${escapeControls(line)}\n`);
  return conversion.gaps.length === 0 ? 0 : EXIT_PENDING;
}

/** The hooks of all files as those of one, but for their places. */
async function readHooks({ args: { operands }, io }: CommandContext): Promise<Conversion> {
  const hooks: JsonObject[] = [];
  const pointers: string[] = [];
  for (const path of operands) {
    const bytes = path === STANDARD_INPUT ? await readStandardInput(io, DOCUMENT_BYTES_MAX)
      : readDocumentFile(path, false);
    const place = operands.length === 1 ? '' : basename(path);
    try {
      for (const [index, hook] of parseHooksFile(bytes).entries()) {
        hooks.push(hook);
        pointers.push(at(place, index));
      }
    } catch (thrown) {
      throw thrown instanceof AppError ? nameFile(thrown, path) : thrown;
    }
  }
  return convertHooks(hooks, io.environment, pointers);
}

function formatGaps({ gaps }: Conversion): readonly string[] {
  return gaps.map(({ hook, pointer, reason, remedy, isDisabling }) =>
    `${hook === '' ? 'a hook' : hook}: ${pointer}: ${reason}: ${remedy}`
      + (isDisabling ? ' (disabled)' : ''));
}

/** Tells which variables still have another secret than the hooks file: apply would take it. */
function formatOutdated(
  { variables }: Conversion, environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return variables.flatMap(({ name, hook, pointer, value }) =>
    value === null || ['', value].includes(environment[name] ?? '') ? []
      : [`${name} is set, and differs from the file: ${pointer} of ${hook}: unless it is the newer `
        + `secret, set it anew, or unset ${name} and convert again`]);
}

/** Work that a script of a shell leaves in the background. */
const BACKGROUND = /^[^#\n]*[^#&|<>\\\n]&(?=[\s)]|$)/m;

/** Tells which commands and folders are missing here, and what else of commands is a problem. */
function formatFiles(
  { commands, workingDirectories }: Conversion, searchPath: string,
): readonly string[] {
  const paths = [...commands.values()].flatMap(({ path, script }) => script === null ? [path] : []);
  return [
    ...paths.flatMap((path) => findCommandProblem(path, searchPath) ?? []),
    ...workingDirectories.filter((folder) => !existsSync(folder)).map((folder) =>
      `${folder} is not here, and nothing is applied until the folder is there`),
  ];
}

function findCommandProblem(path: string, searchPath: string): string | null {
  const program = findProgram(path, searchPath);
  if (program === null) {
    return path.includes('/') ? `${path} is not here: its hook fails until it is`
      : `${path} is not in PATH: its hook fails until ${join(OWN_PROGRAMS, path)} is there`;
  }
  if (!isExecutable(program)) {
    return `${path} is not executable, and nothing is applied until: `
      + `chmod u+x ${shellQuote(program)}`;
  }
  return BACKGROUND.test(readScript(program))
    ? `${path} may leave work in the background ("&"), which ends with the script here: manual `
      + 'from-adnanh, "Background"' : null;
}

/** Looks at the mode, as the service may be another user, for whom access(2) does not ask. */
function isExecutable(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined || (stats.mode & 0o111) !== 0;
}

/** Empty for what is no script, or cannot be read. */
function readScript(path: string): string {
  try {
    const { bytes } = readBounded(path, { bytesMax: CONFIGURATION_BYTES_MAX, isRegular: true });
    return bytes.toString('latin1', 0, 2) === '#!' ? bytes.toString('latin1') : '';
  } catch {
    return '';
  }
}

function formatMissing(
  variables: Conversion['variables'], filePath: string,
): readonly string[] {
  return variables.filter(({ value }) => value === null).map(({ name }) =>
    `${name} has no value in ${filePath}, and nothing is applied until you write it there`);
}

/** Sets each variable, to nothing where its value is not shown: apply refuses that. */
function formatVariables(
  variables: Conversion['variables'], conversion: Conversion,
): readonly string[] {
  return [
    ...variables.map((variable) => `export ${variable.name}='' # ${describeSecret(variable)}`),
    'export HOOKSHELF_ACTIONS_COMMAND_DIRECTORY="$PWD/commands"',
    ...listSettings(conversion).map(([name, value]) =>
      `export ${name}=${typeof value === 'number' ? value : shellQuote(value)}`),
  ];
}

/** A line for each command, which puts it into the folder. */
function formatCommands(commands: Conversion['commands'], searchPath: string): string[] {
  return [...commands].flatMap(([name, { path, script }]) => {
    // No hook may run an interpreter.
    if (script !== null) return [formatScript(name, script)];
    const file = formatFile(name);
    // A link of an earlier conversion is made anew. A file is not overwritten, and the shell says
    // so: it may be one that people wrote.
    return [`[ -L ${file} ] && rm ${file}; ln -s ${formatProgram(path, searchPath)} ${file}`];
  });
}

function formatFile(name: string): string {
  return `"$HOOKSHELF_ACTIONS_COMMAND_DIRECTORY"/${shellQuote(name)}`;
}

function formatScript(name: string, script: readonly string[]): string {
  const file = formatFile(name);
  const write = `printf '%s\\n' ${script.map(shellQuote).join(' ')} > ${file} && chmod 755 ${file}`;
  return `[ -e ${file} ] || (set -C; ${write})`;
}

/** The folder in which people install programs of their own, which PATH mostly has. */
const OWN_PROGRAMS = '/usr/local/bin';

/** The program as a word of a shell: where it is to be, if it is not here. */
function formatProgram(path: string, searchPath: string): string {
  if (isAbsolute(path)) return shellQuote(path);
  if (path.includes('/')) return `"$PWD"/${shellQuote(path)}`;
  return shellQuote(findProgram(path, searchPath) ?? join(OWN_PROGRAMS, path));
}

/** The path of a program; a name alone is one of PATH. null: it is not here. */
function findProgram(path: string, searchPath: string): string | null {
  const files = path.includes('/') ? [path]
    : searchPath.split(':').filter(isAbsolute).map((folder) => join(folder, path));
  return files.find((file) => existsSync(file)) ?? null;
}

/**
 * A line to try each webhook that is enabled, after those that keep its old address: remarks to
 * the shell, as it runs the command.
 */
function formatCalls(
  { document: { incomingWebhooks } }: Conversion, hasFile: boolean,
): string[] {
  const calls = listObjects(incomingWebhooks).filter(({ enabled }) => enabled !== false)
    .map(({ pathSegment, secret }) => secret === undefined
      ? "# curl -H 'Content-Type: application/json' -d '{}' "
        + (hasFile ? FILE_ADDRESS : 'http://127.0.0.1:8000/webhook/in/') + String(pathSegment)
      // It is signed as the sender signs.
      : `# hookshelf incomingwebhook:test ${String(pathSegment)} --payload '{}'`);
  return calls.length === 0 ? []
    : ['', ...hasFile ? [] : SENDERS, '# once it is applied, to run a hook:', ...calls];
}

/** The port and the prefix that adnanh/webhook has without `-port` and `-urlprefix`. */
const SENDERS = [
  '# where senders call :9000/hooks/<id>, as they did:',
  '# export HOOKSHELF_SERVER_PORT=9000 HOOKSHELF_SERVER_WEBHOOK_PATH=/hooks',
];
