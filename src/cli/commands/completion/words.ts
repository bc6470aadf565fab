/** What the three completion scripts take from the command table. */
import { commonOptionsFor, operandOption } from '../../arguments/parse.ts';
import type { CommandSpec } from '../context.ts';
import { VALUE_KINDS } from '../../arguments/spec.ts';
import type { OptionSpec, ValueKind } from '../../arguments/spec.ts';

/** Options that say where a command works: the values that are offered come from there. */
export const PLACE_OPTIONS = ['--data', '--server', '--token-file'] as const;

export type Commands = readonly CommandSpec[];
export type Option = readonly [name: string, option: OptionSpec];

/** The options of one command; `id` stands beside `identifier`. */
export function optionsOf(spec: CommandSpec): Option[] {
  const own = Object.entries({ ...spec.options, ...commonOptionsFor(spec) });
  return own.flatMap(([name, option]): Option[] =>
    name === 'identifier' ? [[name, option], ['id', option]] : [[name, option]]);
}

/** The words that may follow the name, for `help`, `manual` and `completion`. */
export function operandsOf(spec: CommandSpec, commands: Commands): readonly string[] {
  if (spec.operand === undefined) return [];
  return choicesOf(spec.operand) ?? commands.map(({ name }) => name);
}

/** The kind of values that the program itself lists for an option. */
export function kindOf({ completes }: OptionSpec): ValueKind | undefined {
  return VALUE_KINDS.find((kind) => kind === completes);
}

/** The same for the word after a command's name. */
export function operandKindOf(spec: CommandSpec): ValueKind | undefined {
  const option = spec.options[operandOption(spec) ?? ''];
  return option === undefined ? undefined : kindOf(option);
}

export function choicesOf(
  { values, suggests }: Pick<OptionSpec, 'values' | 'suggests'>,
): readonly string[] | undefined {
  return values ?? suggests;
}

/** Shell words of all options that take a value: the word after one is no command. */
export function valueOptionsOf(commands: Commands): string[] {
  const options = commands.flatMap(optionsOf).filter(([, { type }]) => type === 'string');
  return distinct(options.flatMap(([name, { short }]) =>
    [`--${name}`, ...short === undefined ? [] : [`-${short}`]]));
}

/** The options that may stand without a command. */
export function optionsWithoutCommand(commands: Commands): Option[] {
  const standard = commands.find(({ name }) => name === 'serve');
  const own = standard === undefined ? [] : optionsOf(standard);
  return [...own, ['version', { type: 'boolean', meaning: 'print the version' }]];
}

export function wordsOf(options: readonly Option[]): string[] {
  return options.map(([name]) => `--${name}`);
}

export function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines)];
}
