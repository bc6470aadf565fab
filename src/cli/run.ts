/**
 * argv -> a command -> exit code: 0 done, 1 the operation failed, 2 the command line or the
 * settings are wrong. Loads what all commands have in common, and of the commands only its own.
 */
import { AppError } from '../base/errors.ts';
import { findNearest } from '../base/text/nearest.ts';
import { COMMON_OPTIONS, parseLine, readArguments } from './arguments/parse.ts';
import type { ParsedLine } from './arguments/parse.ts';
import type { CommandContext, CommandRun, CommandSpec } from './commands/context.ts';
import { SERVE } from './commands/serve/table.ts';
import { createContext, loadSessionAhead } from './create-context.ts';
import type { WrapSession } from './create-context.ts';
import { useCompileCache } from './process/compile-cache.ts';
import { report } from './report.ts';
import type { Io } from './terminal/io.ts';

/**
 * Runs the command that `argv` (without node and script) names; never throws. A test may wrap the
 * session that the command opens.
 */
export async function run(
  argv: readonly string[], io: Io = processIo(), wrapSession: WrapSession = (session) => session,
): Promise<number> {
  try {
    return await dispatch(argv, io, wrapSession);
  } catch (thrown) {
    return report(thrown, argv.includes('--debug'), io);
  }
}

async function dispatch(
  argv: readonly string[], io: Io, wrapSession: WrapSession,
): Promise<number> {
  const parse = (rows: readonly CommandSpec[]): ParsedLine =>
    withVersion(parseLine(argv, Object.assign({}, ...rows.map(({ options }) => options),
      COMMON_OPTIONS, { version: { type: 'boolean', short: 'V' } })));
  // A server stays in memory, and so would the rows of all the other commands.
  let commands: readonly CommandSpec[] = [SERVE];
  let line = parse(commands);
  if (!isOf(line, SERVE, { ...SERVE.options, ...COMMON_OPTIONS })) {
    useCompileCache();
    commands = (await import('./commands.ts')).COMMANDS;
    line = parse(commands);
  }
  const spec = specOf(line, commands, SERVE);
  if (spec === undefined) {
    // In `hookshelf --prt 9000` the option is what is wrong: this throws an error that says so.
    if (line.beforeName !== null) {
      readArguments(SERVE, { ...line, given: [line.beforeName] });
    }
    throw unknownCommand(line.name ?? '', commands);
  }
  const given = readArguments(spec, line);
  const command = given.has('help') ? null : await spec.load();
  const context = createContext(spec, commands, given, io, wrapSession);
  try {
    const code = await execute(context, command, line.name === null);
    await context.output.finish();
    return code;
  } finally {
    await context.closeSession();
  }
}

/** Whether the line names the command, or none, and nothing that the command does not know. */
function isOf({ name, given }: ParsedLine, spec: CommandSpec, options: object): boolean {
  if (name === null && given.some((one) => one.name === 'help')) return false;
  return (name ?? spec.name) === spec.name
    && given.every((one) => Object.hasOwn(options, one.name));
}

/** `command` is null for help on it. */
async function execute(
  context: CommandContext, command: CommandRun | null, isUnnamed: boolean,
): Promise<number> {
  const { spec, identity } = context;
  if (command !== null) {
    if (spec.isWithoutData !== true && identity.needsSwitch) {
      await loadSessionAhead();
    }
    return command(context);
  }
  const { printOverview, printCommand } = await import('./commands/help.ts');
  return isUnnamed ? printOverview(context) : printCommand(context.output, spec);
}

function specOf(
  line: ParsedLine, commands: readonly CommandSpec[], standard: CommandSpec,
): CommandSpec | undefined {
  if (line.name === null) return standard;
  return commands.find(({ name }) => name === line.name);
}

/** `--version` without a command counts as the command `version`. */
function withVersion(line: ParsedLine): ParsedLine {
  const given = line.given.filter(({ name }) => name !== 'version');
  if (line.name !== null || given.length === line.given.length) return line;
  return { ...line, name: 'version', given };
}

function unknownCommand(name: string, commands: readonly CommandSpec[]): AppError {
  const names = commands.map((command) => command.name);
  const group = names.filter((other) => other.startsWith(`${name}:`));
  if (group.length > 0) {
    return new AppError('usage', `${name} is a group; its commands are ${group.join(', ')}`);
  }
  const near = findNearest(name, names);
  const hint = near === null ? 'see hookshelf help' : `did you mean ${near}?`;
  return new AppError('usage', `unknown command "${name}"; ${hint}`);
}

function processIo(): Io {
  const { stdout, stderr, env } = process;
  return {
    // Node makes the stream when it is asked for, which few commands do.
    get stdin() { return process.stdin; },
    stdout, stderr, environment: env, now: Date.now,
  };
}
