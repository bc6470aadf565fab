/** The options of the action `run-command`: how they are checked, and what a run follows. */
import { TIMER_SECONDS_MAX } from '../../../base/clock.ts';
import { messageOf, type FieldError } from '../../../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto } from '../../../base/fields.ts';
import {
  HOOK_VARIABLES, VARIABLE_NAME_PATTERN, isAllowedVariable,
} from '../../../base/hook-variables.ts';
import type { JsonObject, JsonSchema, JsonValue, ObjectSchema } from '../../../base/schema.ts';
import type { OptionDoc } from '../action-registry.ts';
import type { CommandDirectory } from './command-directory.ts';
import { parseTextTemplate, type TextTemplate } from './text-template.ts';

/** The options of an action configuration, parsed: its command, and how that is run. */
export type HookCommand = {
  /** The name of a file in the command directory. */
  readonly command: string;
  readonly arguments: readonly TextTemplate[];
  readonly environment: readonly NamedTemplate[];
  readonly stdin: 'body' | 'payload' | 'none';
  readonly files: readonly (NamedTemplate & { readonly isBase64: boolean })[];
  /** null: a folder of the run. */
  readonly workingDirectory: string | null;
  /** null: that of the webhook counts, or the setting `incoming.actionTimeout`. */
  readonly timeoutMs: number | null;
  /** null: as many as there are slots. */
  readonly maxCommands: number | null;
  readonly coalesces: boolean;
  readonly successCodes: readonly number[];
  /** Whether its standard output is part of the result, and the caller learns of errors. */
  readonly showsOutput: boolean;
  /** Whether output that is JSON becomes its value; else it stays text. */
  readonly parsesOutput: boolean;
};

/** `name` is that of a variable. */
type NamedTemplate = { readonly name: string; readonly template: TextTemplate };

const OPTIONS_BYTES_MAX = 64 * 1024;
const ITEMS_MAX = 10_000;
const COMMANDS_MAX = 1_000_000;
const EXIT_CODE_MAX = 255;
const BASE64_PATTERN = /^[A-Za-z0-9+/_-]*={0,2}$/;
const STDIN_VALUES = ['body', 'payload', 'none'];
const OUTPUT_VALUES = ['none', 'result', 'text'];
const VARIABLES: JsonSchema =
  { kind: 'json', isObject: true, bytesMax: OPTIONS_BYTES_MAX, depthMax: 2 };

const OPTIONS_SCHEMA: ObjectSchema = {
  kind: 'object',
  members: {
    command: {
      schema: {
        kind: 'string', pattern: /^(?!\.{1,2}$)[^/\p{Cc}]{1,255}$/u,
        description: 'the name of a file in the folder of commands, without a path',
      },
      isRequired: true,
      description: 'the name of an executable file in the folder of commands',
    },
    arguments: {
      schema: { kind: 'array', items: { kind: 'string' }, maxItems: ITEMS_MAX },
      default: [],
      description: 'each one argument, a template such as {{ payload.ref }}',
    },
    environment: {
      schema: VARIABLES, default: {}, description: 'names of variables and templates',
    },
    stdin: {
      schema: { kind: 'string', values: STDIN_VALUES }, default: 'body',
      description: 'what it reads: body, the bytes that came; payload, the JSON; none',
    },
    files: {
      schema: VARIABLES, default: {},
      description: 'names of variables, which get the path of a file, and templates of its '
        + 'content, or { "base64": template }',
    },
    workingDirectory: {
      schema: { kind: 'string', minLength: 1, maxLength: 4096 },
      description: 'where it runs; without it in an empty folder, deleted afterwards',
    },
    timeout: {
      schema: { kind: 'number', minimum: 0.001, maximum: TIMER_SECONDS_MAX },
      description: 'seconds until it is ended, in place of incoming.actionTimeout',
    },
    maxCommands: {
      schema: { kind: 'integer', minimum: 1, maximum: COMMANDS_MAX },
      description: 'runs of this configuration at once; the others wait',
    },
    coalesce: {
      schema: { kind: 'boolean' }, default: false,
      description: 'of those that wait, only the newest runs',
    },
    successCodes: {
      schema: {
        kind: 'array', maxItems: EXIT_CODE_MAX + 1, isUnique: true,
        items: { kind: 'integer', minimum: 0, maximum: EXIT_CODE_MAX },
      },
      default: [0],
      description: 'the exit codes that are a success',
    },
    output: {
      schema: { kind: 'string', values: OUTPUT_VALUES }, default: 'none',
      description: 'result: its standard output is in the answer, as its value where it is JSON, '
        + 'and the last line of its errors; text: the same, but its output is always text',
    },
  },
  check: ({ arguments: texts, environment, files, successCodes }) => [
    ...findArgumentProblems(texts), ...findVariableProblems(environment, files),
    ...Array.isArray(successCodes) && successCodes.length === 0
      ? [{ pointer: '/successCodes', detail: 'must have at least one code' }] : [],
  ],
};

const CHOICES: Readonly<Record<string, readonly string[]>> =
  { stdin: STDIN_VALUES, output: OUTPUT_VALUES };

/** The options for people; `commandNames` are the commands to choose from. */
export function describeCommandOptions(commandNames: readonly string[]): readonly OptionDoc[] {
  return Object.entries(OPTIONS_SCHEMA.members).map(([name, member]) => {
    const { description = '', isRequired, default: defaultValue } = member;
    const choices = name === 'command' ? commandNames : CHOICES[name];
    return {
      name, description,
      ...isRequired === true ? { isRequired } : {},
      ...defaultValue === undefined ? {} : { default: defaultValue },
      ...choices === undefined ? {} : { choices },
    };
  });
}

/**
 * Problems of the options, and of the file, folder and variables that they name; one sentence each.
 */
export function findCommandOptionProblems(
  options: JsonObject, directory: CommandDirectory, allowedVariables: readonly string[],
): readonly string[] {
  const errors: FieldError[] = [];
  const { command, workingDirectory } = readObjectInto(OPTIONS_SCHEMA, options, errors) ?? {};
  if (errors.length === 0) {
    errors.push(...findForbiddenVariables(parseHookCommand(options), allowedVariables));
  }
  const problems = errors.map(formatOptionError);
  const addProblem = (option: string, resolvePath: () => void): void => {
    try {
      resolvePath();
    } catch (thrown) {
      problems.push(`${option} ${messageOf(thrown)}`);
    }
  };
  if (typeof command === 'string') addProblem('command', () => directory.resolveCommand(command));
  if (typeof workingDirectory === 'string') {
    addProblem('workingDirectory', () => directory.resolveWorkingDirectory(workingDirectory));
  }
  return problems;
}

/** A problem of an option as a sentence. */
export function formatOptionError({ pointer, detail }: FieldError): string {
  return `${pointer.slice(1).replaceAll('/', ' ')} ${detail}`;
}

/** The variables of a command that the setting `actions.environment` does not let hooks name. */
export function findForbiddenVariables(
  command: HookCommand, allowedVariables: readonly string[],
): readonly FieldError[] {
  const places = { environment: command.environment, files: command.files };
  return Object.entries(places).flatMap(([option, variables]) => variables
    .filter(({ name }) => !isAllowedVariable(name, allowedVariables))
    .map(({ name }) => ({
      pointer: `/${option}/${name}`,
      detail: 'is no variable that hooks may set: the setting actions.environment allows '
        + `${allowedVariables.join(', ') || 'none'}; choose another name, or allow this one there`,
    })));
}

/** Parses checked options. Throws `invalid` where `findCommandOptionProblems` finds a problem. */
export function parseHookCommand(options: JsonObject): HookCommand {
  const errors: FieldError[] = [];
  const values = readObjectInto(OPTIONS_SCHEMA, options, errors) ?? {};
  if (errors.length > 0) throw invalid(errors);
  const { workingDirectory, timeout, maxCommands, stdin } = values;
  return {
    command: String(values['command']),
    arguments: toTexts(values['arguments']).map(parseTextTemplate),
    environment: toEntries(values['environment']).map(([name, source]) =>
      ({ name, template: parseTextTemplate(String(source)) })),
    stdin: stdin === 'payload' || stdin === 'none' ? stdin : 'body',
    files: toEntries(values['files']).map(([name, source]) => {
      const isBase64 = isJsonObject(source);
      const text = isBase64 ? source['base64'] : source;
      return { name, template: parseTextTemplate(String(text)), isBase64 };
    }),
    workingDirectory: typeof workingDirectory === 'string' ? workingDirectory : null,
    timeoutMs: typeof timeout === 'number' ? timeout * 1000 : null,
    maxCommands: typeof maxCommands === 'number' ? maxCommands : null,
    coalesces: values['coalesce'] === true,
    successCodes: Array.isArray(values['successCodes']) ? values['successCodes'].map(Number) : [],
    showsOutput: values['output'] !== 'none',
    parsesOutput: values['output'] === 'result',
  };
}

/** The bytes of a base64 text, or of base64url; white space is left out. null: it is neither. */
export function decodeBase64(text: string): Buffer | null {
  const compact = text.replace(/\s+/g, '');
  return BASE64_PATTERN.test(compact) ? Buffer.from(compact, 'base64') : null;
}

function findArgumentProblems(texts: JsonValue | undefined): FieldError[] {
  return toTexts(texts).flatMap((text, index) =>
    findTemplateProblem(`/arguments/${index}`, text));
}

/** The problems of variables and of files. A name may stand in one of the two alone. */
function findVariableProblems(
  environment: JsonValue | undefined, files: JsonValue | undefined,
): FieldError[] {
  const names = toEntries(environment).map(([name]) => name);
  return [
    ...toEntries(environment).flatMap(([name, source]) =>
      findVariableProblem(`/environment${pointerStep(name)}`, name, source)),
    ...toEntries(files).flatMap(([name, source]) => {
      const pointer = `/files${pointerStep(name)}`;
      if (names.includes(name)) return [{ pointer, detail: 'stands in environment as well' }];
      const isWrapped = isJsonObject(source) && Object.keys(source).join() === 'base64';
      return isWrapped ? findVariableProblem(`${pointer}/base64`, name, source['base64'])
        : findVariableProblem(pointer, name, source, ' or { "base64": template }');
    }),
  ];
}

function findVariableProblem(
  pointer: string, name: string, source: JsonValue | undefined, alternative = '',
): FieldError[] {
  if (!VARIABLE_NAME_PATTERN.test(name)) {
    return [{ pointer, detail: 'is not the name of a variable: 1-128 of A-Z, a-z, 0-9 and _, '
      + 'not beginning with a digit' }];
  }
  if (Object.values<string>(HOOK_VARIABLES).includes(name)) {
    return [{ pointer, detail: 'is set for every command; choose another name' }];
  }
  return typeof source === 'string' ? findTemplateProblem(pointer, source)
    : [{ pointer, detail: `must be a template, a string${alternative}` }];
}

function findTemplateProblem(pointer: string, source: string): FieldError[] {
  try {
    parseTextTemplate(source);
    return [];
  } catch (thrown) {
    return [{ pointer, detail: messageOf(thrown) }];
  }
}

function toTexts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function toEntries(value: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
