/** Help, made from the command table. */
import { AppError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { COMMON_OPTIONS } from './arguments.ts';
import type { CommandContext, CommandSpec } from './command.ts';
import type { OptionSpec, OptionSpecs } from './spec.ts';
import type { Output } from './output.ts';

/** `help [command]`; a group's name (`book`) lists its commands. */
export async function help(context: CommandContext): Promise<number> {
  const { given, output, commands } = context;
  const name = given.operand;
  if (name === undefined) return printOverview(context);
  const spec = commands.find((command) => command.name === name);
  if (spec !== undefined) return printCommand(output, spec);
  const group = commands.filter((command) => command.name.startsWith(`${name}:`));
  if (group.length > 0) return printGroup(output, group);
  const names = commands.map((command) => command.name);
  const near = nearest(name, names);
  const hint = near === null ? 'see hookshelf help' : `did you mean ${near}?`;
  throw new AppError('usage', `there is no command "${name}"; ${hint}`);
}

export async function printOverview({ output, commands }: CommandContext): Promise<number> {
  if (output.isJson) return printGroup(output, commands);
  await output.write([
    'hookshelf: a book catalog and a webhook relay in one small program.',
    '',
    'Usage: hookshelf [command] [options]',
    '',
    ...summaries(commands),
    '',
    'Every command:',
    ...optionLines(COMMON_OPTIONS),
    '',
    'hookshelf help <command> shows its options and examples.',
    '',
  ].join('\n'));
  return 0;
}

export async function printCommand(output: Output, spec: CommandSpec): Promise<number> {
  if (output.isJson) {
    await output.json(dataOf(spec));
    return 0;
  }
  const { operand } = spec;
  const values = operand?.values?.join('|') ?? `<${operand?.name}>`;
  const shown = operand?.isRequired === true ? ` ${values}` : ` [${values}]`;
  const options = Object.keys(spec.options).length > 0
    ? ['', 'Options:', ...optionLines(spec.options)] : [];
  await output.write([
    `${spec.summary}.`,
    ...spec.details === undefined ? [] : ['', ...spec.details],
    '',
    `Usage: hookshelf ${spec.name}${operand === undefined ? '' : shown}${usageOf(spec.options)}`,
    ...options,
    '',
    'Every command:',
    ...optionLines(COMMON_OPTIONS),
    '',
    'Examples:',
    ...spec.examples.map((example) => `  ${example}`),
    '',
  ].join('\n'));
  return 0;
}

async function printGroup(output: Output, commands: readonly CommandSpec[]): Promise<number> {
  if (output.isJson) await output.json(commands.map(dataOf));
  else await output.write(`${summaries(commands).join('\n')}\n`);
  return 0;
}

function dataOf({ name, summary, details, operand, options, examples }: CommandSpec): object {
  return { name, summary, details, operand, options, examples };
}

function summaries(commands: readonly CommandSpec[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
}

function usageOf(options: OptionSpecs): string {
  const required = Object.entries(options).filter(([, option]) => option.isRequired === true);
  const words = required.map(([name, { isOperand, placeholder = '<value>' }]) =>
    isOperand === true ? ` ${placeholder}` : ` --${name} ${placeholder}`);
  return words.join('') + (required.length < Object.keys(options).length ? ' [options]' : '');
}

function optionLines(options: OptionSpecs): string[] {
  const rows = Object.entries(options).map(([name, option]) =>
    [headOf(name, option), option.meaning] as const);
  const width = Math.max(...rows.map(([head]) => head.length));
  return rows.map(([head, meaning]) => `  ${head.padEnd(width)}  ${meaning}`);
}

function headOf(name: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const names = name === 'identifier' ? '--id, --identifier' : `${short}--${name}`;
  return option.placeholder === undefined ? names : `${names} ${option.placeholder}`;
}
