/**
 * `completion:words`: what may stand at the end of a line. The scripts of the shells pass the words
 * up to the cursor, and offer what begins as the last of them does.
 */
import { systemClock } from '../../../base/clock.ts';
import { VALUE_KINDS } from '../../arguments/option-spec.ts';
import type { OptionSpec, OptionSpecs } from '../../arguments/option-spec.ts';
import {
  Arguments, COMMON_OPTIONS, VERSION_OPTION, findOperandOption, mergeOptions, parseLine,
  selectCommonOptions,
} from '../../arguments/parse-arguments.ts';
import type { CommandLine } from '../../arguments/parse-arguments.ts';
import { exitNow } from '../../process/exit-code.ts';
import type { CommandContext, CommandSpec } from '../command-context.ts';
import { listValues } from './list-values.ts';

/** Somebody waits at a prompt: a server that hangs, or a store of millions, is not waited for. */
const COMPLETION_MS_MAX = 3000;

/** Options that say where a command works. */
const LOCATION_OPTIONS: readonly string[] = ['data', 'server', 'token-file'];

type CompletionWord = { readonly word: string; readonly meaning: string };

type Completion = {
  /** Files and folders are found by the shell, values of a kind where the command works. */
  readonly completes?: OptionSpec['completes'];
  /** Stands before each value: `--option=`, or nothing. */
  readonly head: string;
  /** The words of the command table; they stand in where no values are found. */
  readonly words: readonly CompletionWord[];
};

/** Prints the words also where the values cannot be found, and throws then. */
export async function printWords(context: CommandContext): Promise<void> {
  const timer = systemClock.startTimer(COMPLETION_MS_MAX, exitNow);
  const { args: { operands }, commands, output } = context;
  const line = parseLine(operands.slice(0, -1), commands);
  const offer = findOffer(line, operands, commands);
  const { completes, head } = offer;
  let words = offer.words;
  try {
    const values = await findValues(context, line, offer);
    if (values.length > 0) words = values.map((value) => ({ word: head + value, meaning: '' }));
  } finally {
    timer.cancel();
    if (output.isJson) await output.json({ completes, words });
    else if (completes === 'file' || completes === 'folder') await output.line(completes);
    else await output.write(words.map(({ word, meaning }) => `${word}\t${meaning}\n`).join(''));
  }
}

/** Lists the values of a kind where the command of the line would look for them. */
async function findValues(
  { commands, createContextOf, io }: CommandContext, line: CommandLine, { completes }: Completion,
): Promise<readonly string[]> {
  const kind = VALUE_KINDS.find((name) => name === completes);
  const spec = commands.find(({ name }) => name === line.name);
  if (kind === undefined || spec === undefined) return [];
  const location = line.options.flatMap(({ name, value }) =>
    value === undefined || !LOCATION_OPTIONS.includes(name) ? []
      // A shell expands the home directory when it runs the line, and has not yet.
      : [[name, [value.replace(/^~(?=\/|$)/, io.environment['HOME'] ?? '~')]] as const]);
  const context = createContextOf(spec, new Arguments(new Map(location)));
  try {
    return await listValues(context, kind);
  } finally {
    await context.closeApiClient();
  }
}

/** Finds what may be the last of `words`; `line` are those before it. */
function findOffer(
  line: CommandLine, words: readonly string[], commands: readonly CommandSpec[],
): Completion {
  const spec = commands.find(({ name }) => name === (line.name ?? 'serve'));
  if (spec === undefined) return { head: '', words: [] };
  const current = words.at(-1) ?? '';
  const head = /^--[^=]+=/.exec(current)?.[0] ?? '';
  const option = findOption(head === '' ? words.at(-2) : head.slice(0, -1), line.name === null
    // Before the command stand options of any.
    ? mergeOptions(commands.map(({ options }) => options)) : spec.options);
  if (option?.type === 'string') return offerValues(option, commands, head);
  const options = listOptions(line, spec);
  if (current.startsWith('-')) return { head: '', words: options };
  if (line.name === null) return offerValues({ completes: 'command' }, commands);
  const operand = spec.options[findOperandOption(spec) ?? ''] ?? spec.operand;
  const mayFollow = line.operands.length === 0 || operand?.isRepeatable === true;
  const offer = offerValues(mayFollow ? operand ?? {} : {}, commands);
  return offer.words.length === 0 ? { ...offer, words: options } : offer;
}

function offerValues(
  { completes, values, suggests = [] }: Pick<OptionSpec, 'completes' | 'values' | 'suggests'>,
  commands: readonly CommandSpec[], head = '',
): Completion {
  const words = completes === 'command'
    ? commands.map(({ name, summary }) => ({ word: name, meaning: summary }))
    : (values ?? suggests).map((value) => ({ word: head + value, meaning: '' }));
  return { completes, head, words };
}

/** Finds the option that is written as `word`. */
function findOption(word: string | undefined, options: OptionSpecs): OptionSpec | undefined {
  return Object.entries({ ...options, ...COMMON_OPTIONS }).find(([name, option]) =>
    listWords(name, option).some((item) => item.word === word))?.[1];
}

/** Lists the options that the line may still take. */
function listOptions(
  { name: command, operands, options }: CommandLine, spec: CommandSpec,
): readonly CompletionWord[] {
  const namesOnLine = options.map(({ name }) => name);
  if (operands.length > 0) namesOnLine.push(findOperandOption(spec) ?? '');
  return Object.entries({
    ...spec.options, ...selectCommonOptions(spec),
    ...command === null ? { version: VERSION_OPTION } : {},
  })
    .filter(([name, { isRepeatable }]) => isRepeatable === true || !namesOnLine.includes(name))
    .flatMap(([name, option]) => listWords(name, option));
}

/** The ways to write an option. */
function listWords(name: string, { short, meaning }: OptionSpec): readonly CompletionWord[] {
  const names = name === 'identifier' ? ['--identifier', '--id'] : [`--${name}`];
  if (short !== undefined) names.push(`-${short}`);
  return names.map((word) => ({ word, meaning }));
}
