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

function scriptFor(shell: string, commands: Commands): string {
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

/** Shell words, one for each option with a value: the word after it is no command. */
function valueOptionsOf(commands: Commands): string[] {
  const options = commands.flatMap(optionsOf).filter(([, { type }]) => type === 'string');
  return distinct(options.flatMap(([name, { short }]) =>
    [`--${name}`, ...short === undefined ? [] : [`-${short}`]]));
}

function bashScript(commands: Commands): string {
  const cases = commands.map((spec) => {
    const operands = operandsOf(spec, commands);
    const words = operands.length === 0 ? '' : ` words='${operands.join(' ')}'`;
    return `    ${spec.name}) options='${wordsOf(optionsOf(spec)).join(' ')}'${words} ;;`;
  });
  const values = distinct(commands.flatMap((spec) => optionsOf(spec)).flatMap(([name, option]) => {
    const head = `    --${name}${option.short === undefined ? '' : `|-${option.short}`})`;
    if (option.values !== undefined) return [`${head} words='${option.values.join(' ')}' ;;`];
    if (option.completes === undefined) {
      return option.type === 'string' ? [`${head} return ;;`] : [];
    }
    const action = option.completes === 'file' ? '-f' : '-d';
    return [`${head} COMPREPLY=($(compgen ${action} -- "$current")); return ;;`];
  }));
  const names = commands.map(({ name }) => name).join(' ');
  const standard = wordsOf(standardOptionsOf(commands)).join(' ');
  // A colon breaks words in bash: the command is put together again, and what stands before the
  // last colon is taken off the answers.
  return `# bash completion for hookshelf
_hookshelf() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line="\${COMP_LINE:0:COMP_POINT}"
  local words='' options='' command=''
  local -a parts
  read -ra parts <<< "$line"
  [[ "$line" == *[[:space:]] ]] && parts+=('')
  current="\${parts[\${#parts[@]}-1]}"
  local previous="\${parts[\${#parts[@]}-2]}" part before=''
  for part in "\${parts[@]:1:\${#parts[@]}-2}"; do
    case "$before" in
      ${valueOptionsOf(commands).join('|')}) ;;
      *) [[ "$part" != -* ]] && { command="$part"; break; } ;;
    esac
    before="$part"
  done
  case "$command" in
    '') options='${standard}' words='${names}' ;;
${cases.join('\n')}
  esac
  [[ "$current" == -* || -z "$words" ]] && words="$options"
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

/** What may stand without a command. */
function standardOptionsOf(commands: Commands): Option[] {
  const standard = commands.find(({ name }) => name === 'serve');
  const own = standard === undefined ? [] : optionsOf(standard);
  return [...own, ['version', { type: 'boolean', meaning: 'print the version' }]];
}

function zshScript(commands: Commands): string {
  const rows = commands.map(({ name, summary }) =>
    `    ${zshQuote(`${name.replaceAll(':', '\\:')}:${summary}`)}`);
  const cases = commands.map((spec) => {
    const words = operandsOf(spec, commands).map((name) => name.replaceAll(':', '\\:'));
    const operand = words.length === 0 ? [] : [zshQuote(`2:word:(${words.join(' ')})`)];
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
  if (option.values !== undefined) return zshQuote(`${head}:value:(${option.values.join(' ')})`);
  if (option.completes === undefined) return zshQuote(`${head}:value: `);
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
complete -c hookshelf -f
${[...lines, ...standard].join('\n')}
`;
}

function fishOption(command: string, name: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : ` -s ${option.short}`;
  const value = fishValue(option);
  return fishLine(command, `-l ${name}${short}${value} -d ${fishQuote(option.meaning)}`);
}

function fishValue(option: OptionSpec): string {
  if (option.type === 'boolean') return '';
  if (option.values !== undefined) return ` -x -a ${fishQuote(option.values.join(' '))}`;
  if (option.completes === undefined) return ' -x';
  return option.completes === 'file' ? ' -r -F' : " -x -a '(__fish_complete_directories)'";
}

function fishLine(command: string, rest: string): string {
  return `complete -c hookshelf -n ${fishQuote(`__hookshelf_is '${command}'`)} ${rest}`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function wordsOf(options: readonly Option[]): string[] {
  return options.map(([name]) => `--${name}`);
}

function distinct(lines: readonly string[]): string[] {
  return [...new Set(lines)];
}
