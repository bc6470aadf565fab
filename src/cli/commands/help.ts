/** Help, made from the command table. */
import { AppError } from '../../base/errors.ts';
import {
  COMMON_OPTIONS, selectCommonOptions, suggestCommand,
} from '../arguments/parse-arguments.ts';
import type { CommandContext, CommandSpec } from './command-context.ts';
import type { OptionSpec, OptionSpecs } from '../arguments/option-spec.ts';
import type { Output } from '../terminal/output.ts';
import { padToWidth, textWidth, wrapToWidth } from '../terminal/text-width.ts';

/** Help is never wider, not even on a wide terminal or in a pipe: long lines are hard to read. */
const WIDTH_MAX = 80;
// A text that would be narrower than this beside its head goes below it.
const TEXT_WIDTH_MIN = 24;
const TEXT_INDENT = 6;

/** `help [command]`; a group's name (`book`) lists its commands. */
export async function help(context: CommandContext): Promise<void> {
  const { args, output, commands } = context;
  const name = args.operand;
  if (name === undefined) return printOverview(context);
  const spec = commands.find((command) => command.name === name);
  if (spec !== undefined) return printCommand(output, spec);
  const group = commands.filter((command) => command.name.startsWith(`${name}:`));
  if (group.length > 0) return printGroup(output, group);
  const names = commands.map((command) => command.name);
  throw new AppError('usage', `there is no command "${name}"; ${suggestCommand(name, names)}`);
}

export async function printOverview({ output, commands }: CommandContext): Promise<void> {
  if (output.isJson) return printGroup(output, commands);
  const columns = limitColumns(output);
  await output.write([
    ...wrap('hookshelf: a book catalog and a webhook relay in one small program.', columns),
    '',
    formatTitle(output, 'Usage:', ' hookshelf [command] [options]'),
    '',
    ...formatSummaries(commands, columns),
    '',
    formatTitle(output, 'Every command:'),
    ...formatOptions(COMMON_OPTIONS, columns),
    '',
    ...wrap('hookshelf help <command> shows its options and examples; hookshelf manual tells '
      + 'all the rest.', columns),
    '',
  ].join('\n'));
}

/** The help of a command that checks or runs actions has this line. */
const MODULES_LINE = 'Where no server runs, it loads the modules of your own actions that '
  + 'it needs, and names them.';

export async function printCommand(output: Output, spec: CommandSpec): Promise<void> {
  if (output.isJson) return output.json(toJson(spec));
  const columns = limitColumns(output);
  const details = [
    ...spec.details ?? [], ...spec.needsActions === true ? [MODULES_LINE] : [],
  ];
  const options = Object.keys(spec.options).length > 0
    ? ['', formatTitle(output, 'Options:'), ...formatOptions(spec.options, columns)] : [];
  await output.write([
    ...wrap(`${spec.summary}.`, columns),
    ...details.length === 0 ? [] : ['', ...wrapParagraphs(details, columns)],
    '',
    formatTitle(output, 'Usage:',
      ` hookshelf ${spec.name}${formatOperand(spec)}${formatUsage(spec)}`),
    ...options,
    '',
    formatTitle(output, 'Every command:'),
    ...formatOptions(selectCommonOptions(spec), columns),
    '',
    formatTitle(output, 'Examples:'),
    ...spec.examples.flatMap((example) => formatExample(example, columns)),
    '',
  ].join('\n'));
}

async function printGroup(output: Output, commands: readonly CommandSpec[]): Promise<void> {
  if (output.isJson) await output.json(commands.map(toJson));
  else await output.write(`${formatSummaries(commands, limitColumns(output)).join('\n')}\n`);
}

function limitColumns({ columns }: Output): number {
  return Math.min(columns ?? WIDTH_MAX, WIDTH_MAX);
}

function formatTitle(output: Output, word: string, rest = ''): string {
  const [first = '', ...more] = wrap(`${word}${rest}`, limitColumns(output), TEXT_INDENT);
  return [output.paint(word, 'strong') + first.slice(word.length), ...more].join('\n');
}

function toJson({ name, summary, details, operand, options, examples }: CommandSpec): object {
  return { name, summary, details, operand, options, examples };
}

function formatSummaries(commands: readonly CommandSpec[], columns: number): string[] {
  return formatTwoColumns(commands.map(({ name, summary }) => [name, summary]), columns);
}

/** Formats heads and texts in two columns that fit the terminal. */
function formatTwoColumns(
  rows: readonly (readonly [head: string, text: string])[], columns: number,
): string[] {
  const width = Math.max(...rows.map(([head]) => textWidth(head)));
  const lines = rows.map(([head, text]) => `  ${padToWidth(head, width)}  ${text}`);
  if (lines.every((line) => textWidth(line) <= columns)) return lines;
  const isBeside = columns - width - 4 >= TEXT_WIDTH_MIN;
  const indent = ' '.repeat(isBeside ? width + 4 : TEXT_INDENT);
  return rows.flatMap(([head, text]) => {
    const [first = '', ...more] = wrapToWidth(text, Math.max(1, columns - indent.length))
      .map((line) => indent + line);
    if (!isBeside) return [`  ${head}`, first, ...more];
    return [`  ${padToWidth(head, width)}${first.slice(width + 2)}`, ...more];
  });
}

function wrap(text: string, columns: number, indent = 0): string[] {
  if (textWidth(text) <= columns) return [text];
  const [first = '', ...more] = wrapToWidth(text, Math.max(1, columns - indent));
  return [first, ...more.map((line) => ' '.repeat(indent) + line)];
}

/** Leaves the lines when all fit; else joins lines without an indent, and wraps them. */
function wrapParagraphs(lines: readonly string[], columns: number): string[] {
  if (lines.every((line) => textWidth(line) <= columns)) return [...lines];
  const paragraphs: string[] = [];
  for (const line of lines) {
    const paragraph = paragraphs.at(-1);
    const isMore = paragraph !== undefined && !line.startsWith(' ') && !paragraph.startsWith(' ');
    if (isMore) paragraphs[paragraphs.length - 1] = `${paragraph} ${line}`;
    else paragraphs.push(line);
  }
  return paragraphs.flatMap((paragraph) => wrap(paragraph, columns));
}

/** Formats a line for a shell. A long one is continued after a backslash: it can be copied. */
function formatExample(example: string, columns: number): string[] {
  if (textWidth(example) + 2 <= columns) return [`  ${example}`];
  const room = columns - TEXT_INDENT - ' \\'.length;
  const lines: string[] = [];
  for (const phrase of splitPhrases(example)) {
    const longer = `${lines.at(-1)} ${phrase}`;
    if (lines.length > 0 && textWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(phrase);
  }
  return lines.map((line, index) =>
    ' '.repeat(index === 0 ? 2 : TEXT_INDENT) + line + (index + 1 < lines.length ? ' \\' : ''));
}

/** Splits a shell line where it may be broken: an option stays with its value. */
function splitPhrases(example: string): string[] {
  const phrases: string[] = [];
  for (const word of example.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []) {
    if (phrases.length === 0 || /^(?:--|[<>|]$)/.test(word)) phrases.push(word);
    else phrases.push(`${phrases.pop()} ${word}`);
  }
  return phrases;
}

function formatOperand({ operand }: CommandSpec): string {
  if (operand === undefined) return '';
  const { name, values, isRequired } = operand;
  const word = values?.join(' | ') ?? `<${name}>`;
  if (!isRequired) return ` [${word}]`;
  return values === undefined ? ` ${word}` : ` (${word})`;
}

function formatUsage({ options, oneOf = [] }: CommandSpec): string {
  const names = Object.keys(options);
  const requiredNames = names.filter((name) => options[name]?.isRequired === true);
  const words = requiredNames.map((name) => ` ${formatOptionWord(name, options[name])}`);
  for (const choice of oneOf) {
    words.push(` (${choice.map((name) => formatOptionWord(name, options[name])).join(' | ')})`);
  }
  const shownNames = new Set([...requiredNames, ...oneOf.flat()]);
  const operand = names.find((name) => options[name]?.isOperand === true && !shownNames.has(name));
  if (operand !== undefined) words.push(` [${formatOptionWord(operand, options[operand])}]`);
  return words.join('') + (shownNames.size < names.length ? ' [options]' : '');
}

function formatOptionWord(name: string, option: OptionSpec | undefined): string {
  const { isOperand = false, placeholder } = option ?? {};
  if (isOperand) return placeholder ?? '<value>';
  return placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
}

function formatOptions(options: OptionSpecs, columns: number): string[] {
  return formatTwoColumns(Object.entries(options).map(([name, option]) =>
    [formatOptionHead(name, option), option.meaning]), columns);
}

function formatOptionHead(name: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const names = name === 'identifier' ? '--id, --identifier' : `${short}--${name}`;
  return option.placeholder === undefined ? names : `${names} ${option.placeholder}`;
}
