/**
 * `completion`: the scripts of the shells. They ask `completion:words`, and know no command. What
 * it says, a server may have said: no script evaluates it, or puts on the line what the shell would
 * read as more than a word. zsh shows meanings as they are, which the command table alone has.
 */
import type { CommandContext } from '../command-context.ts';

/** Prints the script for the shell that the operand names. */
export async function printScript({ args, output }: CommandContext): Promise<void> {
  const script = SCRIPTS[args.operand ?? ''] ?? '';
  if (output.isJson) await output.json({ shell: args.operand, script });
  else await output.write(script);
}

// bash puts a word on the line as it is: one that needs quotes is left out, but for names of files,
// which readline quotes. What it replaces begins after the last of COMP_WORDBREAKS, as a colon is.
const BASH = `# bash completion for hookshelf
_hookshelf() {
  local IFS=$' \\t\\n' current breaks offers word quoted areFiles=''
  local -a words
  read -rd '' -a words <<< "\${COMP_LINE:0:COMP_POINT}."
  local last=$((\${#words[@]} - 1))
  current="\${words[last]%.}"
  words[last]="$current"
  offers="$(hookshelf completion:words -- "\${words[@]:1}" 2> /dev/null)"
  case "$offers" in
    file|folder)
      compopt -o filenames 2> /dev/null && areFiles=1
      offers="$(compgen -A "\${offers/folder/directory}" -- "\${current#--*=}")" ;;
  esac
  COMPREPLY=()
  while IFS= read -r word; do
    [[ -n "$areFiles" ]] || word="\${word%%$'\\t'*}"
    printf -v quoted %q "$word"
    [[ -n "$word" && ( -n "$areFiles" || ( "$quoted" == "$word" && "$word" == "$current"* ) ) ]] \\
      && COMPREPLY+=("$word")
  done <<< "$offers"
  breaks="\${current%"\${current##*["$COMP_WORDBREAKS"]}"}"
  COMPREPLY=("\${COMPREPLY[@]#"$breaks"}")
}
complete -F _hookshelf hookshelf
`;

const ZSH = `#compdef hookshelf
_hookshelf() {
  local offer word
  local -a offers rows
  offers=("\${(@f)$(hookshelf completion:words -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" \\
    2> /dev/null)}")
  case "$offers" in
    file) compset -P '--*='; _files; return ;;
    folder) compset -P '--*='; _files -/; return ;;
  esac
  for offer in $offers; do
    word="\${offer%%$'\\t'*}"
    rows+=("\${word//:/\\\\:}:\${offer#*$'\\t'}")
  done
  rows=("\${(@)rows%:}")
  _describe word rows
}
if [ "$funcstack[1]" = "_hookshelf" ]; then
  _hookshelf "$@"
else
  compdef _hookshelf hookshelf
fi
`;

// The command of this name, which there is not, has fish complete a path.
const FISH = `# fish completion for hookshelf
function __hookshelf_words
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l offers (hookshelf completion:words -- $words[2..-1] "$current" 2>/dev/null)
  switch "$offers"
    case file
      complete -C "__hookshelf_path $current"
    case folder
      complete -C "__hookshelf_path $current" | string match '*/'
    case '*'
      printf '%s\\n' $offers
  end
end
complete -c hookshelf -f -a '(__hookshelf_words)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
