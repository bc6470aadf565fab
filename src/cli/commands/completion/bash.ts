/** The completion script for bash. */
import {
  LOCATION_OPTIONS, distinct, findChoices, findOperandKind, findValueKind, listOperands,
  listOptions, listOptionsWithoutCommand, listValueOptions, toWords,
} from './completion-words.ts';
import type { Commands } from './completion-words.ts';
import { VALUE_KINDS } from '../../arguments/option-spec.ts';

export function formatBashScript(commands: Commands): string {
  const cases = commands.map((spec) => {
    const operands = listOperands(spec, commands);
    const words = operands.length === 0 ? '' : ` words='${operands.join(' ')}'`;
    const kind = findOperandKind(spec) === undefined ? '' : ` kind=${findOperandKind(spec)}`;
    return `    ${spec.name}) options='${toWords(listOptions(spec)).join(' ')}'${words}${kind} ;;`;
  });
  const names = commands.map(({ name }) => name).join(' ');
  const standard = toWords(listOptionsWithoutCommand(commands)).join(' ');
  // bash breaks words at a colon: the script joins the command again, and cuts its part up to the
  // last colon off the suggestions.
  return `# bash completion for hookshelf
# Offers the lines of $1 that begin with the current word. None is expanded, and bash puts them on
# the command line as they are: one that it would read as anything but a word is left out, where
# readline does not quote file names.
_hookshelf_offer() {
  local line quoted
  COMPREPLY=()
  while IFS= read -r line; do
    printf -v quoted %q "$line"
    [[ -n "$line" && "$line" == "$current"* && ( -n "$2" || "$quoted" == "$line" ) ]] \
      && COMPREPLY+=("$line")
  done <<< "$1"
}
_hookshelf_files() {
  local quotes=''
  compopt -o filenames 2> /dev/null && quotes=1
  _hookshelf_offer "$(compgen "$1" -- "$current")" "$quotes"
}
_hookshelf() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line="\${COMP_LINE:0:COMP_POINT}"
  local words='' options='' command='' kind='' found=''
  local -a parts place=()
  read -ra parts <<< "$line"
  [[ "$line" == *[[:space:]] ]] && parts+=('')
  current="\${parts[\${#parts[@]}-1]}"
  local previous="\${parts[\${#parts[@]}-2]}" part before=''
  for part in "\${parts[@]:1:\${#parts[@]}-2}"; do
    case "$before" in
      ${LOCATION_OPTIONS.join('|')}) place+=("$before" "\${part/#\\~/$HOME}") ;;
      ${listValueOptions(commands).join('|')}) ;;
      *) [[ "$part" != -* && -z "$command" ]] && command="$part" ;;
    esac
    before="$part"
  done
  case "$command" in
    '') options='${standard}' words='${names}' ;;
${cases.join('\n')}
  esac
  [[ "$current" == -* || -z "$words" ]] && words="$options"
  [[ "$current" == -* ]] && kind=''
  case "$command $previous" in
${[...formatBashKinds(commands), ...formatBashChoices(commands)].join('\n')}
    *) case "$previous" in
${formatBashValues(commands).join('\n')}
    esac ;;
  esac
  if [[ -n "$kind" ]]; then
    found="$(hookshelf completion:values "$kind" "\${place[@]}" 2> /dev/null)"
    [[ -n "$found" ]] && words="$found"
  fi
  _hookshelf_offer "\${words// /$'\\n'}" ''
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    local prefix="\${current%"\${current##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
  fi
}
complete -F _hookshelf hookshelf
`;
}

/** Cases for the options whose values the program lists: the kind depends on the command. */
function formatBashKinds(commands: Commands): string[] {
  return VALUE_KINDS.map((kind) => {
    const patterns = commands.flatMap((spec) => listOptions(spec)
      .filter(([, option]) => findValueKind(option) === kind)
      .map(([name]) => `'${spec.name} --${name}'`));
    return `    ${patterns.join('|')}) kind=${kind} words='' ;;`;
  });
}

/** Cases for the options that have other choices in one command than in another. */
function formatBashChoices(commands: Commands): string[] {
  const choices = commands.flatMap((spec) => listOptions(spec).flatMap(([name, option]) => {
    const words = findChoices(option)?.join(' ');
    return words === undefined ? [] : [{ command: spec.name, name, words }];
  }));
  return choices
    .filter(({ name, words }) =>
      choices.some((other) => other.name === name && other.words !== words))
    .map(({ command, name, words }) => `    '${command} --${name}') words='${words}' kind='' ;;`);
}

function formatBashValues(commands: Commands): string[] {
  return distinct(commands.flatMap((spec) => listOptions(spec)).flatMap(([name, option]) => {
    const head = `    --${name}${option.short === undefined ? '' : `|-${option.short}`})`;
    const choices = findChoices(option);
    if (choices !== undefined) return [`${head} words='${choices.join(' ')}' kind='' ;;`];
    if (findValueKind(option) !== undefined) return [];
    if (option.completes === undefined) {
      return option.type === 'string' ? [`${head} return ;;`] : [];
    }
    const action = option.completes === 'file' ? '-f' : '-d';
    return [`${head} _hookshelf_files ${action}; return ;;`];
  }));
}
