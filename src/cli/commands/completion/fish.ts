/** The completion script for fish. */
import type { OptionSpec } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';
import {
  LOCATION_OPTIONS, findChoices, findOperandKind, findValueKind, listOperands, listOptions,
  listOptionsWithoutCommand, listValueOptions,
} from './completion-words.ts';
import type { Commands } from './completion-words.ts';

export function formatFishScript(commands: Commands): string {
  const lines = commands.flatMap((spec) => [
    fishLine('', `-f -a ${fishQuote(spec.name)} -d ${fishQuote(spec.summary)}`),
    ...listOptions(spec).map(([name, option]) => fishOption(spec.name, name, option)),
    ...listOperands(spec, commands).map((word) => fishLine(spec.name, `-f -a ${fishQuote(word)}`)),
    ...fishOperand(spec),
  ]);
  const standard = listOptionsWithoutCommand(commands)
    .map(([name, option]) => fishOption('', name, option));
  return `# fish completion for hookshelf
# Whether the words before the cursor name this command; '' is none.
function __hookshelf_is
  set -l before ''
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$before"
      case ${listValueOptions(commands).join(' ')}
      case '*'
        if not string match -q -- '-*' "$word"
          test "$word" = "$argv[1]"
          return
        end
    end
    set before "$word"
  end
  test -z "$argv[1]"
end
function __hookshelf_values
  set -l words (commandline -opc)
  set -l place
  for option in ${LOCATION_OPTIONS.join(' ')}
    if set -l at (contains -i -- $option $words)
      set -a place $option $words[(math $at + 1)]
    end
  end
  hookshelf completion:values $argv[1] $place 2>/dev/null
end
complete -c hookshelf -f
${[...lines, ...standard].join('\n')}
`;
}

function fishOperand(spec: CommandSpec): string[] {
  const kind = findOperandKind(spec);
  return kind === undefined ? [] : [fishLine(spec.name, `-f -a '(__hookshelf_values ${kind})'`)];
}

function fishOption(command: string, name: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : ` -s ${option.short}`;
  const value = fishValue(option);
  return fishLine(command, `-l ${name}${short}${value} -d ${fishQuote(option.meaning)}`);
}

function fishValue(option: OptionSpec): string {
  if (option.type === 'boolean') return '';
  const choices = findChoices(option);
  if (choices !== undefined) return ` -x -a ${fishQuote(choices.join(' '))}`;
  if (option.completes === undefined) return ' -x';
  const kind = findValueKind(option);
  if (kind !== undefined) return ` -x -a '(__hookshelf_values ${kind})'`;
  return option.completes === 'file' ? ' -r -F' : " -x -a '(__fish_complete_directories)'";
}

function fishLine(command: string, rest: string): string {
  return `complete -c hookshelf -n ${fishQuote(`__hookshelf_is '${command}'`)} ${rest}`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
