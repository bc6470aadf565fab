/**
 * argv -> a command -> exit code: 0 done, 1 the operation failed, 2 the command line or the
 * settings are wrong. Loads next to nothing until it knows which command it is.
 */
import type { CommandContext, CommandSpec } from './commands/context.ts';
import type { WrapSession } from './create-context.ts';
import type { Io } from './terminal/io.ts';
import type { ParsedLine } from './arguments/parse.ts';
import { lazy } from './process/lazy.ts';

const loadReport = lazy(() => import('./report.ts'));
const VERSION_WORDS = ['--version', '-V', 'version'];

/**
 * Runs the command that `argv` (without node and script) names; never throws. A test may wrap the
 * session that the command opens.
 */
export async function run(
  argv: readonly string[], io: Io = processIo(), wrapSession: WrapSession = (session) => session,
): Promise<number> {
  if (argv.length === 1 && VERSION_WORDS.includes(argv[0] ?? '')) return printVersion(io);
  try {
    return await dispatch(argv, io, wrapSession);
  } catch (thrown) {
    const { report } = await loadReport();
    return report(thrown, argv.includes('--debug'), io);
  }
}

/** Loads nothing that only other commands need: scripts ask for the version first. */
async function printVersion(io: Io): Promise<number> {
  const { VERSION } = await import('../base/version.ts');
  io.stdout.write(`${VERSION}\n`);
  return 0;
}

async function dispatch(
  argv: readonly string[], io: Io, wrapSession: WrapSession,
): Promise<number> {
  const [{ SERVE }, { COMMON_OPTIONS, parseLine, readArguments }] =
    await Promise.all([import('./commands/serve/table.ts'), import('./arguments/parse.ts')]);
  // A server stays, and the rows of all the other commands would with it.
  const isServer = [SERVE.name, undefined].includes(argv[0]);
  const commands = isServer ? [SERVE] : (await import('./commands.ts')).COMMANDS;
  const options = Object.assign({}, ...commands.map((command) => command.options), COMMON_OPTIONS,
    { version: { type: 'boolean', short: 'V' } });
  const line = withVersion(parseLine(argv, options));
  const spec = specOf(line, commands, SERVE);
  if (spec === undefined) {
    // In `hookshelf --prt 9000` the option is what is wrong: this throws an error that says so.
    if (line.beforeName !== null) {
      readArguments(SERVE, { ...line, given: [line.beforeName] });
    }
    throw await unknownCommand(line.name ?? '', commands);
  }
  const given = readArguments(spec, line);
  const loadContext = () => import('./create-context.ts');
  const { createContext } = await (isServer ? loadForServer(loadContext) : loadContext());
  const context = createContext(spec, commands, given, io, wrapSession);
  try {
    const code = await execute(context, line.name === null);
    await context.output.finish();
    return code;
  } finally {
    await context.closeSession();
  }
}

async function loadForServer<Module>(load: () => Promise<Module>): Promise<Module> {
  const { loadQuietly } = await import('./process/load-quietly.ts');
  return loadQuietly(load);
}

async function execute(context: CommandContext, isUnnamed: boolean): Promise<number> {
  const { spec, given, identity } = context;
  if (!given.has('help')) {
    const command = await spec.load();
    if (spec.isWithoutData !== true && identity.needsSwitch) {
      const { loadSessionAhead } = await import('./create-context.ts');
      await Promise.all([loadSessionAhead(), loadReport()]);
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

async function unknownCommand(name: string, commands: readonly CommandSpec[]): Promise<Error> {
  const [{ AppError }, { nearest }] =
    await Promise.all([import('../base/errors.ts'), import('../base/text/nearest.ts')]);
  const names = commands.map((command) => command.name);
  const group = names.filter((other) => other.startsWith(`${name}:`));
  if (group.length > 0) {
    return new AppError('usage', `${name} is a group; its commands are ${group.join(', ')}`);
  }
  const near = nearest(name, names);
  const hint = near === null ? 'see hookshelf help' : `did you mean ${near}?`;
  return new AppError('usage', `unknown command "${name}"; ${hint}`);
}

function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, environment: env, now: Date.now };
}
