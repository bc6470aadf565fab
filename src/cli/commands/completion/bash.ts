/** The completion script for bash. */
import {
  PLACE_OPTIONS, choicesOf, distinct, kindOf, operandKindOf, operandsOf, optionsOf,
  optionsWithoutCommand, valueOptionsOf, wordsOf,
} from './words.ts';
import type { Commands } from './words.ts';
import { VALUE_KINDS } from '../../arguments/spec.ts';

export function bashScript(commands: Commands): string {
  const cases = commands.map((spec) => {
    const operands = operandsOf(spec, commands);
    const words = operands.length === 0 ? '' : ` words='${operands.join(' ')}'`;
    const kind = operandKindOf(spec) === undefined ? '' : ` kind=${operandKindOf(spec)}`;
    return `    ${spec.name}) options='${wordsOf(optionsOf(spec)).join(' ')}'${words}${kind} ;;`;
  });
  const names = commands.map(({ name }) => name).join(' ');
  const standard = wordsOf(optionsWithoutCommand(commands)).join(' ');
  // A colon breaks words in bash: the script joins the command again, and takes what stands before
  // the last colon off the answers.
  return `# bash completion for hookshelf
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
      ${PLACE_OPTIONS.join('|')}) place+=("$before" "\${part/#\\~/$HOME}") ;;
      ${valueOptionsOf(commands).join('|')}) ;;
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
${bashKinds(commands).join('\n')}
    *) case "$previous" in
${bashValues(commands).join('\n')}
    esac ;;
  esac
  if [[ -n "$kind" ]]; then
    found="$("\${parts[0]}" completion:values "$kind" "\${place[@]}" 2> /dev/null)"
    [[ -n "$found" ]] && words="$found"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    local prefix="\${current%"\${current##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
  fi
}
complete -F _hookshelf hookshelf
`;
}

/** Options whose values the program lists: the kind depends on the command. */
function bashKinds(commands: Commands): string[] {
  return VALUE_KINDS.map((kind) => {
    const places = commands.flatMap((spec) => optionsOf(spec)
      .filter(([, option]) => kindOf(option) === kind)
      .map(([name]) => `'${spec.name} --${name}'`));
    return `    ${places.join('|')}) kind=${kind} words='' ;;`;
  });
}

function bashValues(commands: Commands): string[] {
  return distinct(commands.flatMap((spec) => optionsOf(spec)).flatMap(([name, option]) => {
    const head = `    --${name}${option.short === undefined ? '' : `|-${option.short}`})`;
    const choices = choicesOf(option);
    if (choices !== undefined) return [`${head} words='${choices.join(' ')}' kind='' ;;`];
    if (kindOf(option) !== undefined) return [];
    if (option.completes === undefined) {
      return option.type === 'string' ? [`${head} return ;;`] : [];
    }
    const action = option.completes === 'file' ? '-f' : '-d';
    return [`${head} COMPREPLY=($(compgen ${action} -- "$current")); return ;;`];
  }));
}
