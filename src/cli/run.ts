/**
 * Runs a command line, and resolves with its exit code (report-error.ts). Of the commands, only the
 * one that runs is loaded.
 */
import { AppError } from '../base/errors.ts';
import {
  COMMON_OPTIONS, parseArguments, parseLine, suggestCommand,
} from './arguments/parse-arguments.ts';
import type { CommandLine } from './arguments/parse-arguments.ts';
import type { CommandContext, CommandRun, CommandSpec } from './commands/command-context.ts';
import { SERVE_COMMAND } from './commands/serve/serve-command-table.ts';
import { createCommandContext, loadApiClientAhead } from './create-command-context.ts';
import type { WrapApiClient } from './create-command-context.ts';
import { useCompileCache } from './process/compile-cache.ts';
import { reportError } from './report-error.ts';
import type { Io } from './terminal/process-io.ts';

/**
 * Runs the command that `argv` (without node and script) names; never throws. A test may wrap the
 * API client that the command opens.
 */
export async function run(
  argv: readonly string[], io: Io = processIo(),
  wrapApiClient: WrapApiClient = (apiClient) => apiClient,
): Promise<number> {
  try {
    return await dispatch(argv, io, wrapApiClient);
  } catch (thrown) {
    return reportError(thrown, argv.includes('--debug'), io);
  }
}

async function dispatch(
  argv: readonly string[], io: Io, wrapApiClient: WrapApiClient,
): Promise<number> {
  // The line is parsed by the options of `serve` alone first, and again with those of all commands
  // if it is not for `serve`: a server stays in memory, and so would the rows of the others.
  let commands: readonly CommandSpec[] = [SERVE_COMMAND];
  let line = withVersion(parseLine(argv, commands));
  if (!isLineFor(line, SERVE_COMMAND, { ...SERVE_COMMAND.options, ...COMMON_OPTIONS })) {
    useCompileCache();
    commands = (await import('./commands.ts')).COMMANDS;
    line = withVersion(parseLine(argv, commands));
  }
  const spec = findSpec(line, commands, SERVE_COMMAND);
  if (spec === undefined) {
    // In `hookshelf --prt 9000` the option is what is wrong: this throws an error that says so.
    if (line.beforeName !== null) {
      parseArguments(SERVE_COMMAND, { ...line, options: [line.beforeName] });
    }
    throw createUnknownCommandError(line.name ?? '', commands);
  }
  const args = parseArguments(spec, line);
  const command = args.has('help') ? null : await spec.load();
  const context = createCommandContext(spec, commands, args, io, wrapApiClient);
  try {
    const code = await execute(context, command, line.name === null);
    await context.output.finish();
    return code;
  } finally {
    await context.closeApiClient();
  }
}

/** Whether the line is for this command: it names it or none, and has only options of it. */
function isLineFor(
  { name, options }: CommandLine, spec: CommandSpec, knownOptions: object,
): boolean {
  if (name === null && options.some((option) => option.name === 'help')) return false;
  return (name ?? spec.name) === spec.name
    && options.every((option) => Object.hasOwn(knownOptions, option.name));
}

/** `command` is null where help on it is asked for. */
async function execute(
  context: CommandContext, command: CommandRun | null, isUnnamed: boolean,
): Promise<number> {
  const { spec, identity } = context;
  if (command !== null) {
    if (spec.isWithoutData !== true && identity.needsSwitch) {
      await loadApiClientAhead();
    }
    return await command(context) ?? 0;
  }
  const { printOverview, printCommand } = await import('./commands/help.ts');
  await (isUnnamed ? printOverview(context) : printCommand(context.output, spec));
  return 0;
}

function findSpec(
  line: CommandLine, commands: readonly CommandSpec[], standard: CommandSpec,
): CommandSpec | undefined {
  if (line.name === null) return standard;
  return commands.find(({ name }) => name === line.name);
}

/** `--version` without a command counts as the command `version`. */
function withVersion(line: CommandLine): CommandLine {
  const others = line.options.filter(({ name }) => name !== 'version');
  if (line.name !== null || others.length === line.options.length) return line;
  return { ...line, name: 'version', options: others };
}

function createUnknownCommandError(name: string, commands: readonly CommandSpec[]): AppError {
  const names = commands.map((command) => command.name);
  const group = names.filter((other) => other.startsWith(`${name}:`));
  if (group.length > 0) {
    return new AppError('usage', `${name} is a group; its commands are ${group.join(', ')}`);
  }
  // `npm start -p 9000` keeps -p for itself.
  if (/^\d+$/.test(name)) {
    return new AppError('usage', `unknown command "${name}"; for a port give --port ${name}, `
      + `with npm \`npm start -- --port ${name}\``);
  }
  return new AppError('usage', `unknown command "${name}"; ${suggestCommand(name, names)}`);
}

function processIo(): Io {
  const { stdout, stderr, env } = process;
  return {
    // A getter, as Node creates the stream at the first access, which few commands need.
    get stdin() { return process.stdin; },
    stdout, stderr, environment: env, now: Date.now,
  };
}
