/** Reads the words and kinds of values for the three completion scripts from the command table. */
import { selectCommonOptions, findOperandOption } from '../../arguments/parse-arguments.ts';
import type { CommandSpec } from '../command-context.ts';
import { VALUE_KINDS } from '../../arguments/option-spec.ts';
import type { OptionSpec, ValueKind } from '../../arguments/option-spec.ts';

/** Options that say where a command works; `completion:values` is called with them. */
export const LOCATION_OPTIONS = ['--data', '--server', '--token-file'] as const;

export type Commands = readonly CommandSpec[];
export type NamedOption = readonly [name: string, option: OptionSpec];

/** The options of one command; `id` stands beside `identifier`. */
export function listOptions(spec: CommandSpec): NamedOption[] {
  const own = Object.entries({ ...spec.options, ...selectCommonOptions(spec) });
  return own.flatMap(([name, option]): NamedOption[] =>
    name === 'identifier' ? [[name, option], ['id', option]] : [[name, option]]);
}

/** The words that may follow the name, for `help`, `manual` and `completion`. */
export function listOperands(spec: CommandSpec, commands: Commands): readonly string[] {
  if (spec.operand === undefined) return [];
  return findChoices(spec.operand) ?? commands.map(({ name }) => name);
}

/** The kind of values that the program itself lists for an option. */
export function findValueKind({ completes }: OptionSpec): ValueKind | undefined {
  return VALUE_KINDS.find((kind) => kind === completes);
}

/** The kind of values that the program lists for the word after the command's name. */
export function findOperandKind(spec: CommandSpec): ValueKind | undefined {
  const option = spec.options[findOperandOption(spec) ?? ''];
  return option === undefined ? undefined : findValueKind(option);
}

export function findChoices(
  { values, suggests }: Pick<OptionSpec, 'values' | 'suggests'>,
): readonly string[] | undefined {
  return values ?? suggests;
}

/** All options that take a value, as shell words: the word after one is no command. */
export function listValueOptions(commands: Commands): string[] {
  const options = commands.flatMap(listOptions).filter(([, { type }]) => type === 'string');
  return distinct(options.flatMap(([name, { short }]) =>
    [`--${name}`, ...short === undefined ? [] : [`-${short}`]]));
}

/** The options that may stand without a command. */
export function listOptionsWithoutCommand(commands: Commands): NamedOption[] {
  const standard = commands.find(({ name }) => name === 'serve');
  const own = standard === undefined ? [] : listOptions(standard);
  return [...own, ['version', { type: 'boolean', meaning: 'print the version' }]];
}

export function toWords(options: readonly NamedOption[]): string[] {
  return options.map(([name]) => `--${name}`);
}

export function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines)];
}
