/**
 * Completion scripts for three shells, made from the command table. Values that only the program
 * knows (identifiers, actions) are asked of it when they are needed: `completion:values`.
 */
import { AppError } from '../../../base/errors.ts';
import type { CommandContext, CommandSpec } from '../context.ts';
import { bashScript } from './bash.ts';
import {
  choicesOf, kindOf, operandKindOf, operandsOf, optionsOf, standardOptionsOf, valueOptionsOf,
} from './words.ts';
import type { Commands, Option } from './words.ts';
import type { OptionSpec } from '../../arguments/spec.ts';

/** Prints the script for the shell that the operand names. */
export async function completion(context: CommandContext): Promise<number> {
  const { given, output, commands } = context;
  const script = scriptFor(given.operand ?? '', commands);
  if (output.isJson) await output.json({ shell: given.operand, script });
  else await output.write(script);
  return 0;
}

function scriptFor(shell: string, commands: Commands): string {
  switch (shell) {
    case 'bash': return bashScript(commands);
    case 'zsh': return zshScript(commands);
    case 'fish': return fishScript(commands);
    default: throw new AppError('usage', `completion takes bash, zsh or fish, not "${shell}"`);
  }
}

function zshScript(commands: Commands): string {
  const rows = commands.map(({ name, summary }) =>
    `    ${zshQuote(`${name.replaceAll(':', '\\:')}:${summary}`)}`);
  const cases = commands.map((spec) => {
    const words = operandsOf(spec, commands).map((name) => name.replaceAll(':', '\\:'));
    const kind = operandKindOf(spec);
    const operand = kind !== undefined ? [zshQuote(`2:value: _hookshelf_values ${kind}`)]
      : words.length === 0 ? [] : [zshQuote(`2:word:(${words.join(' ')})`)];
    const specs = [...zshOptions(optionsOf(spec)), zshQuote('1: :'), ...operand];
    return `    ${spec.name.replaceAll(':', '\\:')}) _arguments ${specs.join(' \\\n      ')} ;;`;
  });
  const standard = [...zshOptions(standardOptionsOf(commands)),
    zshQuote('1:command:_hookshelf_commands')];
  return `#compdef hookshelf
_hookshelf_commands() {
  local -a commands
  commands=(
${rows.join('\n')}
  )
  _describe 'command' commands
}
_hookshelf_values() {
  local -a found place
  local at=\${words[(I)--data]}
  (( at )) && place=(--data \${(Q)words[at+1]})
  found=(\${(f)"$(hookshelf completion:values $1 $place 2> /dev/null)"})
  compadd -a found
}
_hookshelf() {
  local command='' before='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$before" in
      ${valueOptionsOf(commands).join('|')}) ;;
      *) [[ "$word" != -* ]] && { command="$word"; break } ;;
    esac
    before="$word"
  done
  case "$command" in
    '') _arguments ${standard.join(' \\\n      ')} ;;
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_hookshelf" ]; then
  _hookshelf "$@"
else
  compdef _hookshelf hookshelf
fi
`;
}

function zshOptions(options: readonly Option[]): string[] {
  return options.flatMap(([name, option]) => [
    zshOption(`--${name}`, option),
    ...option.short === undefined ? [] : [zshOption(`-${option.short}`, option)],
  ]);
}

function zshOption(word: string, option: OptionSpec): string {
  const meaning = option.meaning.replace(/[[\]:]/g, '\\$&');
  const repeat = option.isRepeatable === true ? '*' : '';
  const head = `${repeat}${word}[${meaning}]`;
  if (option.type === 'boolean') return zshQuote(head);
  const choices = choicesOf(option);
  if (choices !== undefined) return zshQuote(`${head}:value:(${choices.join(' ')})`);
  if (option.completes === undefined) return zshQuote(`${head}:value: `);
  const kind = kindOf(option);
  if (kind !== undefined) return zshQuote(`${head}:value: _hookshelf_values ${kind}`);
  return zshQuote(`${head}:path:_files${option.completes === 'folder' ? ' -/' : ''}`);
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function fishScript(commands: Commands): string {
  const lines = commands.flatMap((spec) => [
    fishLine('', `-f -a ${fishQuote(spec.name)} -d ${fishQuote(spec.summary)}`),
    ...optionsOf(spec).map(([name, option]) => fishOption(spec.name, name, option)),
    ...operandsOf(spec, commands).map((word) => fishLine(spec.name, `-f -a ${fishQuote(word)}`)),
    ...fishOperand(spec),
  ]);
  const standard = standardOptionsOf(commands)
    .map(([name, option]) => fishOption('', name, option));
  return `# fish completion for hookshelf
# Whether the words before the cursor name this command; '' is none.
function __hookshelf_is
  set -l before ''
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$before"
      case ${valueOptionsOf(commands).join(' ')}
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
  if set -l at (contains -i -- --data $words)
    set place --data $words[(math $at + 1)]
  end
  hookshelf completion:values $argv[1] $place 2>/dev/null
end
complete -c hookshelf -f
${[...lines, ...standard].join('\n')}
`;
}

function fishOperand(spec: CommandSpec): string[] {
  const kind = operandKindOf(spec);
  return kind === undefined ? [] : [fishLine(spec.name, `-f -a '(__hookshelf_values ${kind})'`)];
}

function fishOption(command: string, name: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : ` -s ${option.short}`;
  const value = fishValue(option);
  return fishLine(command, `-l ${name}${short}${value} -d ${fishQuote(option.meaning)}`);
}

function fishValue(option: OptionSpec): string {
  if (option.type === 'boolean') return '';
  const choices = choicesOf(option);
  if (choices !== undefined) return ` -x -a ${fishQuote(choices.join(' '))}`;
  if (option.completes === undefined) return ' -x';
  const kind = kindOf(option);
  if (kind !== undefined) return ` -x -a '(__hookshelf_values ${kind})'`;
  return option.completes === 'file' ? ' -r -F' : " -x -a '(__fish_complete_directories)'";
}

function fishLine(command: string, rest: string): string {
  return `complete -c hookshelf -n ${fishQuote(`__hookshelf_is '${command}'`)} ${rest}`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
