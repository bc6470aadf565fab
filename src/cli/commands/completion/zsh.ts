/** The completion script for zsh. */
import type { OptionSpec } from '../../arguments/option-spec.ts';
import {
  LOCATION_OPTIONS, findChoices, findOperandKind, findValueKind, listOperands, listOptions,
  listOptionsWithoutCommand, listValueOptions,
} from './completion-words.ts';
import type { Commands, NamedOption } from './completion-words.ts';

export function formatZshScript(commands: Commands): string {
  const rows = commands.map(({ name, summary }) =>
    `    ${zshQuote(`${name.replaceAll(':', '\\:')}:${summary}`)}`);
  const cases = commands.map((spec) => {
    const words = listOperands(spec, commands).map((name) => name.replaceAll(':', '\\:'));
    const kind = findOperandKind(spec);
    const operand = kind !== undefined ? [zshQuote(`2:value: _hookshelf_values ${kind}`)]
      : words.length === 0 ? [] : [zshQuote(`2:word:(${words.join(' ')})`)];
    const specs = [...zshOptions(listOptions(spec)), zshQuote('1: :'), ...operand];
    return `    ${spec.name.replaceAll(':', '\\:')}) _arguments ${specs.join(' \\\n      ')} ;;`;
  });
  const standard = [...zshOptions(listOptionsWithoutCommand(commands)),
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
  local option at
  for option in ${LOCATION_OPTIONS.join(' ')}; do
    at=\${words[(I)$option]}
    (( at )) && place+=($option \${(Q)words[at+1]})
  done
  found=(\${(f)"$(hookshelf completion:values $1 $place 2> /dev/null)"})
  compadd -a found
}
_hookshelf() {
  local command='' before='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$before" in
      ${listValueOptions(commands).join('|')}) ;;
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

function zshOptions(options: readonly NamedOption[]): string[] {
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
  const choices = findChoices(option);
  if (choices !== undefined) return zshQuote(`${head}:value:(${choices.join(' ')})`);
  if (option.completes === undefined) return zshQuote(`${head}:value: `);
  const kind = findValueKind(option);
  if (kind !== undefined) return zshQuote(`${head}:value: _hookshelf_values ${kind}`);
  return zshQuote(`${head}:path:_files${option.completes === 'folder' ? ' -/' : ''}`);
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
