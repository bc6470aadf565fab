/**
 * The built-in action `run-command`: a request runs a program of the command directory. What the
 * request says reaches the program as arguments, variables, files and standard input, each whole,
 * and never through a shell.
 */
import { AppError, messageOf, systemCodeOf } from '../../../base/errors.ts';
import { HOOK_VARIABLES } from '../../../base/hook-variables.ts';
import { MASK, isSecretName, redactText } from '../../../base/log.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { Facts } from '../../members/filters/facts.ts';
import {
  hideSignatureHeaders, hideSignatureMembers, hideSignatureParameters,
} from '../../senders/request/hide-signature.ts';
import { ActionResult } from '../action.ts';
import type { ActionCall, RegisteredAction } from '../action-registry.ts';
import { CoalescedResult, DetailedRunResult } from '../run-action.ts';
import {
  listCommands, resolveCommand, resolveWorkingDirectory, type CommandDirectory,
} from './command-directory.ts';
import {
  decodeBase64, commandOptions, findCommandOptionProblems, findForbiddenVariables,
  formatOptionError, parseHookCommand, type HookCommand,
} from './command-options.ts';
import {
  NOT_STARTED, type HookCommandRun, type CommandRunner, type HookCommandEnd,
} from './command-runner.ts';
import { COALESCED, type CommandSlots } from './command-slots.ts';
import { fillTextTemplate, readsSecret, type TextTemplate } from './text-template.ts';
import { parseJson } from '../../../base/json/parse.ts';
import { escapeControls } from '../../../base/text/printable.ts';

type CommandResources = {
  readonly directory: CommandDirectory;
  readonly slots: Pick<CommandSlots, 'take'>;
  readonly runner: Pick<CommandRunner, 'run'>;
  /** The setting `actions.environment`: the names for `environment` and `files`. */
  readonly allowedVariables: readonly string[];
  readonly timeoutMs: number;
  readonly baseEnvironment: Readonly<Record<string, string>>;
};

const OUTPUT_BYTES_MAX = 64 * 1024;
/** The limit of filled templates, which may repeat a payload. */
const FILLED_LENGTH_MAX = 8 * 1024 * 1024;
/** Files may be filled with so many bodies: JSON as text may take more than the body. */
const FILLED_BODIES_MAX = 2;
/** The body without a payload, as for custom actions. */
const EMPTY_PAYLOAD = Buffer.from('[]');
/** For a file that was there a moment ago. */
const NO_INTERPRETER = 'the program that the first line names after #! is not there; where it is, '
  + 'that line may end in CR LF: save the file with LF alone';

export function createRunCommandAction(resources: CommandResources): RegisteredAction {
  const { directory, allowedVariables } = resources;
  // All runs of a configuration get the same frozen options.
  const commands = new WeakMap<object, HookCommand>();
  const getCommand = (options: JsonObject): HookCommand => {
    const command = commands.get(options) ?? parseHookCommand(options);
    commands.set(options, command);
    return command;
  };
  return {
    identifier: 'run-command',
    label: 'Run a command',
    isBuiltIn: true,
    module: null,
    limitsItsTime: true,
    get options() {
      return commandOptions(listCommandNames(directory));
    },
    validateOptions: (options) => findCommandOptionProblems(options, directory, allowedVariables),
    run: (call) => call.webhookId === null
      ? ActionResult.fail('run-command is not for an outgoing webhook')
      : runInSlot(call, getCommand(call.options), resources),
  };
}

/** Empty for a folder that is unreadable or must not be trusted: `doctor` says why. */
function listCommandNames(directory: CommandDirectory): readonly string[] {
  try {
    return listCommands(directory).filter(({ problem }) => problem === null)
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

async function runInSlot(
  call: ActionCall, command: HookCommand, resources: CommandResources,
): Promise<ActionResult> {
  const { configurationId, wait, context } = call;
  const release = await resources.slots.take({
    configuration: configurationId, max: command.maxCommands,
    order: command.coalesces && wait !== null ? wait.place : null,
    isRetry: context.attempt > 1,
    signal: wait?.cutOff ?? null,
    onWaiting: (isWaiting) => wait?.onWaiting(isWaiting),
  });
  if (release === COALESCED) return new CoalescedResult();
  try {
    return await runCommand(call, command, resources);
  } finally {
    release();
  }
}

/** Rejects only with temporary errors of ours, which say nothing about the command. */
async function runCommand(
  call: ActionCall, command: HookCommand, resources: CommandResources,
): Promise<ActionResult> {
  const timeoutMs = command.timeoutMs ?? call.timeoutMs ?? resources.timeoutMs;
  let run: HookCommandRun;
  try {
    run = createRun(call, command, resources, timeoutMs);
  } catch (thrown) {
    return toStartFailure(thrown, call, command);
  }
  logStart(call, run, command.arguments);
  const end = await resources.runner.run(run).catch((thrown: unknown) =>
    toStartFailure(thrown, call, command));
  if (end instanceof ActionResult) return end;
  const result = toCommandResult(end, command, timeoutMs);
  if (!result.success) {
    call.log.warning('a command failed', {
      command: command.command, exitCode: end.exitCode, signal: end.signal,
      standardError: end.errorTail.toString('utf8'),
    });
  }
  return result;
}

function logStart({ log }: ActionCall, run: HookCommandRun, templates: readonly TextTemplate[]):
void {
  if (log.isWritten?.('debug') === false) return;
  const { file, workingDirectory, environment, files } = run;
  log.debug('a command starts', {
    command: file, workingDirectory,
    arguments: run.arguments.map((text, index) => namesSecret(templates, index) ? MASK : text),
    // Their values may be secrets, as may those of arguments behind `--token`.
    variables: [...Object.keys(environment), ...files.map(({ variable }) => variable)],
  });
}

/** Whether an argument, by its placeholders or by the option before it, may be a secret. */
function namesSecret(templates: readonly TextTemplate[], index: number): boolean {
  const { [index]: template = [], [index - 1]: [option] = [] } = templates;
  return readsSecret(template)
    || typeof option === 'string' && option.startsWith('-') && isSecretName(option);
}

/** Throws `usage` for a command that must not run, `invalid` for one that cannot. */
function createRun(
  call: ActionCall, command: HookCommand, resources: CommandResources, timeoutMs: number,
): HookCommandRun {
  const { directory, allowedVariables, baseEnvironment } = resources;
  const [forbidden] = findForbiddenVariables(command, allowedVariables);
  if (forbidden !== undefined) throw new AppError('usage', formatOptionError(forbidden));
  const facts = createCommandFacts(call);
  const { workingDirectory } = command;
  return {
    file: resolveCommand(directory, command.command),
    ...fillTemplates(command, facts, call, baseEnvironment),
    stdin: chooseStdin(call, command.stdin),
    workingDirectory: workingDirectory === null
      ? null : resolveWorkingDirectory(directory, workingDirectory),
    timeoutMs,
    outputBytesMax: command.showsOutput ? OUTPUT_BYTES_MAX : 0,
    mergesErrors: command.mergesErrors,
    log: call.log,
  };
}

/** Throws `invalid` for a text that is too long or not base64. */
function fillTemplates(
  command: HookCommand, facts: Facts, call: ActionCall,
  baseEnvironment: CommandResources['baseEnvironment'],
): Pick<HookCommandRun, 'arguments' | 'environment' | 'files'> {
  const fill = createFiller(facts, FILLED_LENGTH_MAX);
  const ownVariables = command.environment.map(({ name, template }) =>
    [name, fill(template, `the variable ${name}`)] as const);
  const { length } = call.plainBody();
  const fillFile = createFiller(facts, Math.max(FILLED_LENGTH_MAX, FILLED_BODIES_MAX * length));
  return {
    arguments: command.arguments.map((template, index) => fill(template, `arguments ${index}`)),
    environment: {
      ...baseEnvironment, ...Object.fromEntries(ownVariables), ...createHookVariables(call),
    },
    files: command.files.map(({ name, template, isBase64 }) => {
      const text = fillFile(template, `the file ${name}`);
      const bytes = isBase64 ? decodeBase64(text) : Buffer.from(text);
      if (bytes === null) throw createStartError(`the file ${name} is not base64`);
      return { variable: name, bytes };
    }),
  };
}

/** Fills templates up to a limit of all texts together; `place` names the template in errors. */
function createFiller(facts: Facts, lengthMax: number) {
  let lengthLeft = lengthMax;
  return (template: TextTemplate, place: string): string => {
    try {
      const text = fillTextTemplate(template, facts, lengthLeft);
      lengthLeft -= text.length;
      return text;
    } catch (cause) {
      throw createStartError(`${place} is too long`, cause);
    }
  };
}

function createHookVariables(call: ActionCall): Readonly<Record<string, string>> {
  const { event, eventId, attempt, request, contentType } = call.context;
  return {
    [HOOK_VARIABLES.hook]: call.webhookId ?? '',
    [HOOK_VARIABLES.request]: request ?? '',
    [HOOK_VARIABLES.event]: event ?? '',
    [HOOK_VARIABLES.eventId]: eventId ?? '',
    [HOOK_VARIABLES.attempt]: String(attempt),
    [HOOK_VARIABLES.contentType]: contentType ?? '',
  };
}

/**
 * The facts for templates. Every user of the machine may see the arguments of a process, so these
 * hold no credential: neither our secret, where the sender sends it, nor headers that the inbox
 * would not store. The first run and its retries get the same facts.
 */
function createCommandFacts(call: ActionCall): Facts {
  const { context: { headers, query, event, method }, secretSources } = call;
  const visibleHeaders = Object.entries(hideSignatureHeaders(headers, secretSources))
    .filter(([name, value]) => value !== MASK && !isSecretName(name));
  return new Facts({
    payload: () => hideSignatureMembers(call.payload(), secretSources),
    event: () => event,
    headers: Object.fromEntries(visibleHeaders),
    query: hideSignatureParameters(query, secretSources),
    method,
  });
}

function chooseStdin(call: ActionCall, stdin: HookCommand['stdin']): Buffer | null {
  switch (stdin) {
    case 'body': return call.plainBody();
    case 'payload': return call.payloadJson() ?? EMPTY_PAYLOAD;
    case 'none': return null;
  }
}

function createStartError(reason: string, cause?: unknown): AppError {
  return new AppError('invalid', `${NOT_STARTED}: ${reason}`, {}, cause);
}

/**
 * The result of a command that could not be started. The caller learns what is wrong with its own
 * request; paths and their owners are for record and log. Throws a temporary error, and a bug.
 */
function toStartFailure(thrown: unknown, call: ActionCall, { command }: HookCommand): ActionResult {
  if (!(thrown instanceof AppError) || !['invalid', 'usage'].includes(thrown.code)) throw thrown;
  call.log.warning('a command could not be started', { command, error: thrown });
  if (thrown.code === 'usage') {
    return new DetailedRunResult(false, NOT_STARTED, {}, {
      recordMessage: `${NOT_STARTED}: ${messageOf(thrown)}`,
    });
  }
  const code = systemCodeOf(thrown.cause);
  if (code === 'ENOENT') {
    return new DetailedRunResult(false, thrown.message, {}, {
      recordMessage: `${thrown.message}: ${NO_INTERPRETER}`,
    });
  }
  return ActionResult.fail(code === 'E2BIG'
    ? `${NOT_STARTED}: an argument or variable, or all of them, are longer than the system allows`
    : thrown.message);
}

const ERROR_LINE_LENGTH_MAX = 200;

/**
 * The caller may be anybody: it learns the exit code alone, unless the configuration shows the
 * output. The ends of both outputs are always on record, 4 KiB of each at most; the log has that of
 * standard error as well. `timeoutMs` is the limit of the run. Throws `unavailable` where a
 * stopping server ended the command: that says nothing about it.
 */
function toCommandResult(
  end: HookCommandEnd, command: HookCommand, timeoutMs: number,
): ActionResult {
  if (end.isStopped) {
    throw new AppError('unavailable', 'The command was ended, as the service is stopping');
  }
  const { exitCode, signal, durationMs, isTruncated } = end;
  const head = { exitCode, signal, durationMs: Math.round(durationMs) };
  const isSuccess = !end.isTimedOut && exitCode !== null && command.successCodes.includes(exitCode);
  const message = isSuccess ? null : `The command failed (${describeEnd(end, timeoutMs)})`;
  const errorLine = isSuccess ? '' : findLastLine(end.errorTail);
  const recordData = { ...head, ...formatTails(end, command) };
  if (!command.showsOutput) {
    return new DetailedRunResult(isSuccess, message, head, {
      recordMessage: errorLine === '' ? null : `${message}: ${errorLine}`, recordData,
    });
  }
  const text = end.output.toString('utf8');
  const data = {
    ...head, output: command.parsesOutput && !isTruncated ? parseOutput(text) : text,
    ...isTruncated ? { truncated: true } : {},
  };
  const shownMessage = errorLine === '' ? message : `${message}: ${errorLine}`;
  return new DetailedRunResult(isSuccess, shownMessage, data, { recordData });
}

/** The ends of the outputs without secrets, those that are not empty. */
function formatTails(
  { outputTail, errorTail }: HookCommandEnd, { mergesErrors }: HookCommand,
): { readonly output?: string; readonly standardError?: string } {
  const output = redactText(outputTail.toString('utf8'));
  const standardError = mergesErrors ? '' : redactText(errorTail.toString('utf8'));
  return {
    ...output === '' ? {} : { output },
    ...standardError === '' ? {} : { standardError },
  };
}

function describeEnd({ exitCode, signal, isTimedOut }: HookCommandEnd, timeoutMs: number): string {
  if (isTimedOut) return `not done within ${timeoutMs / 1000} s`;
  return exitCode === null ? `signal ${signal ?? 'unknown'}` : `exit ${exitCode}`;
}

/** The last line that is not empty, fit for a terminal; '' without one. */
function findLastLine(errorTail: Buffer): string {
  const lines = errorTail.toString('utf8').split(/[\r\n]+/).map((line) => line.trim());
  const line = escapeControls(redactText(lines.findLast((each) => each !== '') ?? ''));
  if (line.length <= ERROR_LINE_LENGTH_MAX) return line;
  return `${line.slice(0, ERROR_LINE_LENGTH_MAX - 1).toWellFormed()}…`;
}

function parseOutput(text: string): JsonValue {
  try {
    return parseJson(Buffer.from(text)) as JsonValue;
  } catch {
    return text;
  }
}
