/** What the three completion scripts ask the command table for. */
import { COMMON_OPTIONS, operandOption } from '../../arguments/parse.ts';
import type { CommandSpec } from '../context.ts';
import { VALUE_KINDS } from '../../arguments/spec.ts';
import type { OptionSpec, ValueKind } from '../../arguments/spec.ts';

export type Commands = readonly CommandSpec[];
export type Option = readonly [name: string, option: OptionSpec];

/** Of one command, `id` beside `identifier`. */
export function optionsOf(spec: CommandSpec): Option[] {
  const own = Object.entries({ ...spec.options, ...COMMON_OPTIONS });
  return own.flatMap(([name, option]): Option[] =>
    name === 'identifier' ? [[name, option], ['id', option]] : [[name, option]]);
}

/** The words that may follow the name, for `help` and `completion`. */
export function operandsOf(spec: CommandSpec, commands: Commands): readonly string[] {
  if (spec.operand === undefined) return [];
  return spec.operand.values ?? commands.map(({ name }) => name);
}

/** What the program itself completes an option with. */
export function kindOf({ completes }: OptionSpec): ValueKind | undefined {
  return VALUE_KINDS.find((kind) => kind === completes);
}

/** What the word after a command's name may be, where only the program knows. */
export function operandKindOf(spec: CommandSpec): ValueKind | undefined {
  const option = spec.options[operandOption(spec) ?? ''];
  return option === undefined ? undefined : kindOf(option);
}

export function choicesOf({ values, suggests }: OptionSpec): readonly string[] | undefined {
  return values ?? suggests;
}

/** Shell words, one for each option with a value: the word after it is no command. */
export function valueOptionsOf(commands: Commands): string[] {
  const options = commands.flatMap(optionsOf).filter(([, { type }]) => type === 'string');
  return distinct(options.flatMap(([name, { short }]) =>
    [`--${name}`, ...short === undefined ? [] : [`-${short}`]]));
}

/** What may stand without a command. */
export function standardOptionsOf(commands: Commands): Option[] {
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
