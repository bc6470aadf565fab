/**
 * Parses the words of a command line into a command and its options, which may stand before or
 * after the command's name. Wrong input throws a `usage` error that says what would be right.
 */
import { AppError } from '../../base/errors.ts';
import { parseArgs } from '../../base/node-modules.ts';
import { findNearest } from '../../base/text/nearest.ts';
import type { CommandLineSpec, OptionSpec, OptionSpecs } from './option-spec.ts';

/** The options of one command, checked against its table. */
export class Arguments {
  readonly operands: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(
    values: ReadonlyMap<string, readonly string[]>, operands: readonly string[] = [],
  ) {
    this.#values = values;
    this.operands = operands;
  }

  get operand(): string | undefined {
    return this.operands[0];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  find(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** The value of an option that the table requires. Throws `usage`. */
  get(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw new AppError('usage', `--${name} is missing`);
    return value;
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** Throws `usage` unless it is absent or an integer in the range. */
  integer(name: string, minimum: number, maximum: number): number | undefined {
    const text = this.find(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= minimum && value <= maximum) return value;
    const range = `an integer from ${minimum} to ${maximum}`;
    throw new AppError('usage', `--${name} must be ${range}, not ${JSON.stringify(text)}`);
  }

  /** Throws `usage` unless it is absent or a number such as 5 or 0.5. */
  number(name: string): number | undefined {
    const text = this.find(name);
    if (text === undefined) return undefined;
    if (DECIMAL.test(text)) return Number(text);
    throw new AppError('usage', `--${name} must be a number, not ${JSON.stringify(text)}`);
  }

  /** Throws `usage` unless it is absent, `none`, or numbers with commas between them. */
  numbers(name: string): readonly number[] | undefined {
    const text = this.find(name);
    if (text === undefined) return undefined;
    const items = text === 'none' ? [] : text.split(',').map((item) => item.trim());
    if (items.every((item) => DECIMAL.test(item))) return items.map(Number);
    throw new AppError('usage',
      `--${name} must be none, or numbers such as 5,60,3600, not ${JSON.stringify(text)}`);
  }
}

const DECIMAL = /^\d{1,15}(\.\d{1,15})?$/;

/** Options that say which server elsewhere a command works on. */
const SERVER_OPTIONS: OptionSpecs = {
  server: {
    type: 'string', placeholder: '<url>',
    meaning: 'work on that server through its API (HOOKSHELF_SERVER)',
  },
  'token-file': {
    type: 'string', placeholder: '<file>', completes: 'file',
    meaning: 'file of the API token for --server (HOOKSHELF_TOKEN_FILE)',
  },
};

/** Options of every command. A command that works only here says so when a server is named. */
export const COMMON_OPTIONS: OptionSpecs = {
  json: { type: 'boolean', meaning: 'print one JSON value on stdout' },
  data: {
    type: 'string', placeholder: '<dir>', completes: 'folder',
    meaning: 'data directory (HOOKSHELF_DATA, else data/ in the current folder)',
  },
  ...SERVER_OPTIONS,
  config: {
    type: 'string', placeholder: '<file>', completes: 'file',
    meaning: 'settings file (settings.json in the data directory)',
  },
  debug: { type: 'boolean', meaning: 'print stack traces' },
  help: { type: 'boolean', short: 'h', meaning: 'print help on the command' },
};

/** Stands where no command does. */
export const VERSION_OPTION: OptionSpec = {
  type: 'boolean', short: 'V', meaning: 'print the version',
};

/** The common options that help and completion offer for one command. */
export function selectCommonOptions(
  command: { readonly isLocal?: boolean; readonly isWithoutData?: boolean },
): OptionSpecs {
  if (command.isLocal !== true && command.isWithoutData !== true) return COMMON_OPTIONS;
  return Object.fromEntries(Object.entries(COMMON_OPTIONS)
    .filter(([name]) => !Object.hasOwn(SERVER_OPTIONS, name)));
}

export type CommandLine = {
  /** null: no command was named. */
  readonly name: string | null;
  readonly operands: readonly string[];
  readonly options: readonly ParsedOption[];
  /** An unknown option directly before `name`, which may have been meant as its value. */
  readonly beforeName: ParsedOption | null;
};

type ParsedOption = {
  readonly name: string;
  /** The option as the user wrote it: `-p`, `--id`. */
  readonly rawName: string;
  readonly value: string | undefined;
};

/**
 * Merges the options of commands. A flag of one that has a value in another counts as having one.
 */
export function mergeOptions(options: readonly OptionSpecs[]): OptionSpecs {
  const specsByName = new Map<string, OptionSpec>();
  for (const [name, spec] of options.flatMap((specs) => Object.entries(specs))) {
    if (spec.type === 'string' || !specsByName.has(name)) specsByName.set(name, spec);
  }
  return Object.fromEntries(specsByName);
}

const SHOWN_LENGTH_MAX = 64;

/**
 * Splits the words of a command line by the options of all `commands`, first of the one that the
 * line names. `--id` is short for `--identifier`. Throws `usage` where an option lacks its value.
 */
export function parseLine(
  words: readonly string[], commands: readonly CommandLineSpec[],
): CommandLine {
  const optionSpecs: OptionSpecs = {
    ...mergeOptions(commands.map(({ options }) => options)),
    // A flag of the command may be an option with a value in another.
    ...commands.find(({ name }) => words.includes(name))?.options,
    ...COMMON_OPTIONS, version: VERSION_OPTION,
  };
  const { tokens } = parseArgs({
    args: [...words], options: toNodeOptions(optionSpecs), strict: false, tokens: true,
    allowPositionals: true,
  });
  const operands: string[] = [];
  const options: ParsedOption[] = [];
  let beforeName: ParsedOption | null = null;
  for (const token of tokens) {
    if (token.kind === 'positional' && operands.push(token.value) === 1) {
      const last = options.at(-1);
      if (last !== undefined && !Object.hasOwn(optionSpecs, last.name)) beforeName = last;
    }
    if (token.kind !== 'option') continue;
    const isDashed = token.inlineValue === false && /^-./.test(token.value);
    if (isDashed) {
      // A long one may be a private key in PEM, and errors are kept in logs.
      const shownValue = token.value.length > SHOWN_LENGTH_MAX ? '<value>' : token.value;
      const hint = `write ${token.rawName}=${shownValue} if that is the value`;
      throw new AppError('usage', `${token.rawName} needs a value; ${hint}`);
    }
    const rawName = findUnknownWord(words[token.index] ?? '', token.name, optionSpecs);
    options.push(rawName === null ? {
      name: token.name === 'id' ? 'identifier' : token.name,
      rawName: token.rawName, value: token.value,
    } : { name: rawName, rawName, value: token.value });
  }
  return { name: operands.shift() ?? null, operands, options, beforeName };
}

/**
 * The option in a word such as `-port` or `-verbose`, which Go programs take for `--port`, and Node
 * for `-p ort` or for an option a letter; null: the word has options of ours. No option bears the
 * dash in its name, so that the whole word is refused.
 */
function findUnknownWord(word: string, name: string, options: OptionSpecs): string | null {
  const [, longName] = /^-([a-z][a-z-]+)/.exec(word) ?? [];
  if (longName === undefined) return null;
  return Object.hasOwn(options, longName) || !Object.hasOwn(options, name) ? `-${longName}` : null;
}

type NodeOption = { readonly type: 'string' | 'boolean'; readonly short?: string };

function toNodeOptions(options: OptionSpecs): Record<string, NodeOption> {
  const config: Record<string, NodeOption> = { id: { type: 'string' } };
  for (const [name, { type, short }] of Object.entries(options)) {
    config[name] = short === undefined ? { type } : { type, short };
  }
  return config;
}

/** Checks the options of a line against those of its command. Throws `usage`. */
export function parseArguments(spec: CommandLineSpec, line: CommandLine): Arguments {
  const optionSpecs: OptionSpecs = { ...spec.options, ...COMMON_OPTIONS };
  const values = new Map<string, string[]>();
  for (const { name, rawName, value } of line.options) {
    const option = Object.hasOwn(optionSpecs, name) ? optionSpecs[name] : undefined;
    if (option === undefined) throw createUnknownOptionError(spec, rawName, optionSpecs);
    checkValue(option, rawName, value);
    const earlier = values.get(name);
    if (earlier === undefined) values.set(name, [value ?? '']);
    else if (option.isRepeatable === true) earlier.push(value ?? '');
    else if (option.type === 'string') throw new AppError('usage', `${rawName} stands twice`);
  }
  const operand = getOperand(spec, line);
  const name = findOperandOption(spec);
  if (operand !== undefined && name !== undefined) {
    if (values.has(name)) throw new AppError('usage', `--${name} and "${operand}" are two of one`);
    values.set(name, [...line.operands]);
  }
  const args = new Arguments(values, line.operands);
  if (!args.has('help')) checkPresence(spec, args);
  return args;
}

function checkValue(option: OptionSpec, rawName: string, value: string | undefined): void {
  if (option.type === 'boolean') {
    if (value !== undefined) throw new AppError('usage', `${rawName} takes no value`);
    return;
  }
  if (value === undefined || value === '') {
    const placeholder = option.placeholder ?? '<value>';
    throw new AppError('usage', `${rawName} needs a value: ${rawName} ${placeholder}`);
  }
  if (option.values !== undefined && !option.values.includes(value)) {
    const near = findNearest(value, option.values);
    const hint = near === null ? '' : `; did you mean ${near}?`;
    const all = option.values.join(', ');
    throw new AppError('usage', `${rawName} must be one of ${all}, not ${value}${hint}`);
  }
}

function getOperand(
  spec: CommandLineSpec, { operands, options }: CommandLine,
): string | undefined {
  const { operand } = spec;
  const option = spec.options[findOperandOption(spec) ?? ''];
  const countMax = operand === undefined && option === undefined ? 0
    : option?.isRepeatable === true ? Infinity : 1;
  const surplus = operand?.isRepeatable === true ? undefined
    : operands.find((word, index) => index >= countMax || word === '');
  if (surplus !== undefined) {
    const { from } = spec.options;
    const isSource = surplus !== '' && from !== undefined && from.values === undefined
      && options.every(({ name }) => name !== 'from');
    const meant = isSource ? `: write --from ${surplus}` : '';
    throw new AppError('usage',
      `${spec.name} does not take "${surplus}"${meant}; see hookshelf help ${spec.name}`);
  }
  const [value] = operands;
  if (value !== undefined && operand?.values !== undefined && !operand.values.includes(value)) {
    const all = operand.values.join(', ');
    throw new AppError('usage', `${spec.name} takes one of ${all}, not "${value}"`);
  }
  return value;
}

/** The name of the option whose value may stand alone after the command's name. */
export function findOperandOption({ options }: CommandLineSpec): string | undefined {
  return Object.keys(options).find((name) => options[name]?.isOperand === true);
}

function checkPresence(spec: CommandLineSpec, args: Arguments): void {
  if (spec.operand?.isRequired === true && args.operand === undefined) {
    const { values, name } = spec.operand;
    const choice = values === undefined ? `<${name}>` : `one of ${values.join(', ')}`;
    throw new AppError('usage', `${spec.name} needs ${choice}`);
  }
  const missing = Object.entries(spec.options)
    .filter(([name, option]) => option.isRequired === true && !args.has(name))
    .map(([name, { isOperand, placeholder = '<value>' }]) =>
      isOperand === true ? placeholder : `--${name} ${placeholder}`);
  if (missing.length > 0) {
    const hint = `see hookshelf help ${spec.name}`;
    throw new AppError('usage', `${spec.name} needs ${missing.join(' and ')}; ${hint}`);
  }
  for (const names of spec.oneOf ?? []) {
    const count = names.filter((name) => args.has(name)).length;
    if (count === 1) continue;
    const all = names.map((name) => spec.options[name]?.isOperand === true
      ? spec.options[name].placeholder ?? name : `--${name}`).join(' or ');
    const surplus = names.length > 2 ? ', and only one of them' : ', not both';
    throw new AppError('usage', `${spec.name} needs ${all}${count > 1 ? surplus : ''}`);
  }
}

function createUnknownOptionError(
  spec: CommandLineSpec, rawName: string, options: OptionSpecs,
): AppError {
  const bare = rawName.replace(/^-+/, '');
  const near = findNearest(bare, Object.keys(options));
  const hint = spec.foreignOptions?.get(bare)
    ?? (near === null ? `see hookshelf help ${spec.name}` : `did you mean --${near}?`);
  return new AppError('usage', `unknown option ${rawName} of ${spec.name}; ${hint}`);
}

/** More groups than these have the verb `list`, which then says nothing. */
const SAME_VERB_MAX = 2;

/** The end of an error about a command that there is not: those of `names` that may be meant. */
export function suggestCommand(name: string, names: readonly string[]): string {
  // `webhook:list` is the end of two names, and the verb of `event:resend` that of another group.
  const ends = names.filter((other) => other.endsWith(name));
  const [, verb] = name.split(':');
  const withVerb = names.filter((other) => other.endsWith(`:${verb}`));
  const near = [findNearest(name, names), ...withVerb.length > SAME_VERB_MAX ? [] : withVerb];
  const meant = ends.length > 0 ? ends : [...new Set(near)].filter((other) => other !== null);
  return meant.length === 0 ? 'see hookshelf help' : `did you mean ${meant.join(' or ')}?`;
}
