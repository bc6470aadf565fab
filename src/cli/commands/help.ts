/** Help, made from the command table. */
import { AppError } from '../../base/errors.ts';
import { nearest } from '../../base/text/nearest.ts';
import { COMMON_OPTIONS, commonOptionsFor } from '../arguments/parse.ts';
import type { CommandContext, CommandSpec } from './context.ts';
import type { OptionSpec, OptionSpecs } from '../arguments/spec.ts';
import type { Output } from '../terminal/output.ts';
import { padToWidth, widthOf, wrapToWidth } from '../terminal/width.ts';

// A text that would have less room beside its head goes below it.
const TEXT_WIDTH_MIN = 24;
const TEXT_INDENT = 6;

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
  const { columns } = output;
  await output.write([
    ...wrapped('hookshelf: a book catalog and a webhook relay in one small program.', columns),
    '',
    title(output, 'Usage:', ' hookshelf [command] [options]'),
    '',
    ...summaries(commands, columns),
    '',
    title(output, 'Every command:'),
    ...optionLines(COMMON_OPTIONS, columns),
    '',
    ...wrapped('hookshelf help <command> shows its options and examples; hookshelf manual tells '
      + 'all the rest.', columns),
    '',
  ].join('\n'));
  return 0;
}

export async function printCommand(output: Output, spec: CommandSpec): Promise<number> {
  if (output.isJson) {
    await output.json(dataOf(spec));
    return 0;
  }
  const { columns } = output;
  const options = Object.keys(spec.options).length > 0
    ? ['', title(output, 'Options:'), ...optionLines(spec.options, columns)] : [];
  await output.write([
    ...wrapped(`${spec.summary}.`, columns),
    ...spec.details === undefined ? [] : ['', ...paragraphs(spec.details, columns)],
    '',
    title(output, 'Usage:', ` hookshelf ${spec.name}${operandText(spec)}${usageOf(spec)}`),
    ...options,
    '',
    title(output, 'Every command:'),
    ...optionLines(commonOptionsFor(spec), columns),
    '',
    title(output, 'Examples:'),
    // Never wrapped, so that they can be copied.
    ...spec.examples.map((example) => `  ${example}`),
    '',
  ].join('\n'));
  return 0;
}

async function printGroup(output: Output, commands: readonly CommandSpec[]): Promise<number> {
  if (output.isJson) await output.json(commands.map(dataOf));
  else await output.write(`${summaries(commands, output.columns).join('\n')}\n`);
  return 0;
}

function title({ paint, columns }: Output, word: string, rest = ''): string {
  const [first = '', ...more] = wrapped(`${word}${rest}`, columns, TEXT_INDENT);
  return [paint(word, 'strong') + first.slice(word.length), ...more].join('\n');
}

function dataOf({ name, summary, details, operand, options, examples }: CommandSpec): object {
  return { name, summary, details, operand, options, examples };
}

function summaries(commands: readonly CommandSpec[], columns: number | null): string[] {
  return inTwo(commands.map(({ name, summary }) => [name, summary]), columns);
}

/** Rows of a head and a text in two columns that fit the terminal. */
function inTwo(
  rows: readonly (readonly [head: string, text: string])[], columns: number | null,
): string[] {
  const width = Math.max(...rows.map(([head]) => widthOf(head)));
  const whole = rows.map(([head, text]) => `  ${padToWidth(head, width)}  ${text}`);
  if (columns === null || whole.every((line) => widthOf(line) <= columns)) return whole;
  const isBeside = columns - width - 4 >= TEXT_WIDTH_MIN;
  const indent = ' '.repeat(isBeside ? width + 4 : TEXT_INDENT);
  return rows.flatMap(([head, text]) => {
    const lines = wrapToWidth(text, Math.max(1, columns - indent.length))
      .map((line) => indent + line);
    if (!isBeside) return [`  ${head}`, ...lines];
    return [`  ${padToWidth(head, width)}${lines[0]?.slice(width + 2)}`, ...lines.slice(1)];
  });
}

function wrapped(text: string, columns: number | null, indent = 0): string[] {
  if (columns === null || widthOf(text) <= columns) return [text];
  const [first = '', ...more] = wrapToWidth(text, Math.max(1, columns - indent));
  return [first, ...more.map((line) => ' '.repeat(indent) + line)];
}

/** Lines as they are where they fit; else lines without an indent are joined and wrapped. */
function paragraphs(lines: readonly string[], columns: number | null): string[] {
  if (columns === null || lines.every((line) => widthOf(line) <= columns)) return [...lines];
  const parts: string[] = [];
  for (const line of lines) {
    const before = parts.at(-1);
    const flows = before !== undefined && !line.startsWith(' ') && !before.startsWith(' ');
    if (flows) parts[parts.length - 1] = `${before} ${line}`;
    else parts.push(line);
  }
  return parts.flatMap((part) => wrapped(part, columns));
}

function operandText({ operand }: CommandSpec): string {
  if (operand === undefined) return '';
  const values = operand.values?.join('|') ?? `<${operand.name}>`;
  return operand.isRequired ? ` ${values}` : ` [${values}]`;
}

function usageOf({ options, oneOf = [] }: CommandSpec): string {
  const names = Object.keys(options);
  const required = names.filter((name) => options[name]?.isRequired === true);
  const words = required.map((name) => ` ${wordOf(name, options[name])}`);
  for (const choice of oneOf) {
    words.push(` (${choice.map((name) => wordOf(name, options[name])).join(' | ')})`);
  }
  const told = new Set([...required, ...oneOf.flat()]);
  const operand = names.find((name) => options[name]?.isOperand === true && !told.has(name));
  if (operand !== undefined) words.push(` [${wordOf(operand, options[operand])}]`);
  return words.join('') + (told.size < names.length ? ' [options]' : '');
}

function wordOf(name: string, option: OptionSpec | undefined): string {
  const { isOperand = false, placeholder } = option ?? {};
  if (isOperand) return placeholder ?? '<value>';
  return placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
}

function optionLines(options: OptionSpecs, columns: number | null): string[] {
  return inTwo(Object.entries(options).map(([name, option]) =>
    [headOf(name, option), option.meaning]), columns);
}

function headOf(name: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const names = name === 'identifier' ? '--id, --identifier' : `${short}--${name}`;
  return option.placeholder === undefined ? names : `${names} ${option.placeholder}`;
}
