/** Completion scripts for three shells, made from the command table. */
import { AppError } from '../base/errors.ts';
import { COMMON_OPTIONS } from './arguments.ts';
import type { CommandContext, CommandSpec } from './command.ts';
import type { OptionSpec } from './spec.ts';

/** Prints the script for the shell that the operand names. */
export async function completion(context: CommandContext): Promise<number> {
  const { given, output, commands } = context;
  const script = scriptFor(given.operand ?? '', commands);
  if (output.isJson) await output.json({ shell: given.operand, script });
  else await output.write(script);
  return 0;
}

export function scriptFor(shell: string, commands: Commands): string {
  switch (shell) {
    case 'bash': return bashScript(commands);
    case 'zsh': return zshScript(commands);
    case 'fish': return fishScript(commands);
    default: throw new AppError('usage', `completion takes bash, zsh or fish, not "${shell}"`);
  }
}

type Commands = readonly CommandSpec[];
type Option = readonly [name: string, option: OptionSpec];

/** Of one command, `id` beside `identifier`. */
function optionsOf(spec: CommandSpec): Option[] {
  const own = Object.entries({ ...spec.options, ...COMMON_OPTIONS });
  return own.flatMap(([name, option]): Option[] =>
    name === 'identifier' ? [[name, option], ['id', option]] : [[name, option]]);
}

/** The words that may follow the name, for `help` and `completion`. */
function operandsOf(spec: CommandSpec, commands: Commands): readonly string[] {
  if (spec.operand === undefined) return [];
  return spec.operand.values ?? commands.map(({ name }) => name);
}

function bashScript(commands: Commands): string {
  const cases = commands.map((spec) => {
    const words = [...optionsOf(spec).map(([name]) => `--${name}`), ...operandsOf(spec, commands)];
    return `    ${spec.name}) words='${words.join(' ')}' ;;`;
  });
  const values = distinct(commands.flatMap((spec) => optionsOf(spec)).flatMap(([name, option]) => {
    const head = `    --${name})`;
    if (option.values !== undefined) return [`${head} words='${option.values.join(' ')}' ;;`];
    if (option.completes === undefined) {
      return option.type === 'string' ? [`${head} return ;;`] : [];
    }
    const action = option.completes === 'file' ? '-f' : '-d';
    return [`${head} COMPREPLY=($(compgen ${action} -- "$current")); return ;;`];
  }));
  // A colon breaks words in bash: the command is put together again, and what stands before the
  // last colon is taken off the answers.
  return `# bash completion for hookshelf
_hookshelf() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line="\${COMP_LINE:0:COMP_POINT}" words='' command=''
  local -a parts
  read -ra parts <<< "$line"
  [[ "$line" == *[[:space:]] ]] && parts+=('')
  current="\${parts[\${#parts[@]}-1]}"
  local previous="\${parts[\${#parts[@]}-2]}" part
  for part in "\${parts[@]:1:\${#parts[@]}-2}"; do
    [[ "$part" != -* ]] && { command="$part"; break; }
  done
  case "$command" in
    '') words='${[...commands.map(({ name }) => name), ...standardOptions(commands)].join(' ')}' ;;
${cases.join('\n')}
  esac
  case "$previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    local prefix="\${current%"\${current##*:}"}"
    COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
  fi
}
complete -F _hookshelf hookshelf
`;
}

function standardOptions(commands: Commands): string[] {
  const standard = commands.find(({ name }) => name === 'serve');
  const own = standard === undefined ? [] : optionsOf(standard);
  return [...own.map(([name]) => `--${name}`), '--version'];
}

function zshScript(commands: Commands): string {
  const rows = commands.map(({ name, summary }) =>
    `    ${zshQuote(`${name.replaceAll(':', '\\:')}:${summary}`)}`);
  const cases = commands.map((spec) => {
    const specs = optionsOf(spec).map(([name, option]) => zshOption(name, option));
    const words = operandsOf(spec, commands).map((name) => name.replaceAll(':', '\\:'));
    const operand = words.length === 0 ? [] : [zshQuote(`1:word:(${words.join(' ')})`)];
    return `    ${spec.name.replaceAll(':', '\\:')}) _arguments ${
      [...specs, ...operand].join(' \\\n      ')} ;;`;
  });
  return `#compdef hookshelf
_hookshelf() {
  local -a commands
  commands=(
${rows.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
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

function zshOption(name: string, option: OptionSpec): string {
  const meaning = option.meaning.replace(/[[\]:]/g, '\\$&');
  const repeat = option.isRepeatable === true ? '*' : '';
  const head = `${repeat}--${name}[${meaning}]`;
  if (option.type === 'boolean') return zshQuote(head);
  if (option.values !== undefined) return zshQuote(`${head}:value:(${option.values.join(' ')})`);
  if (option.completes === undefined) return zshQuote(`${head}:value: `);
  return zshQuote(`${head}:path:_files${option.completes === 'folder' ? ' -/' : ''}`);
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function fishScript(commands: Commands): string {
  const lines = commands.flatMap((spec) => [
    `complete -c hookshelf -n __fish_use_subcommand -f -a ${fishQuote(spec.name)}`
      + ` -d ${fishQuote(spec.summary)}`,
    ...optionsOf(spec).map(([name, option]) => fishOption(spec, name, option)),
    ...operandsOf(spec, commands).map((word) => `complete -c hookshelf -n ${fishCondition(spec)} -f`
      + ` -a ${fishQuote(word)}`),
  ]);
  return ['# fish completion for hookshelf', 'complete -c hookshelf -f', ...lines, ''].join('\n');
}

function fishOption(spec: CommandSpec, name: string, option: OptionSpec): string {
  const value = option.values !== undefined ? ` -x -a ${fishQuote(option.values.join(' '))}` : '';
  const path = option.completes === undefined ? ' -x' : ' -r -F';
  const kind = option.type === 'boolean' ? '' : value || path;
  return `complete -c hookshelf -n ${fishCondition(spec)} -l ${name}${kind}`
    + ` -d ${fishQuote(option.meaning)}`;
}

function fishCondition(spec: CommandSpec): string {
  return fishQuote(`__fish_seen_subcommand_from ${spec.name}`);
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines)];
}
