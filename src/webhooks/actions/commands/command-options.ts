/** The options of the action `run-command`: how they are checked, and what a run follows. */
import { assert } from '../../../base/assert.ts';
import { TIMER_SECONDS_MAX } from '../../../base/clock.ts';
import { messageOf, type FieldError } from '../../../base/errors.ts';
import { invalid, isJsonObject, pointerStep, readObjectInto } from '../../../base/fields.ts';
import {
  HOOK_VARIABLES, VARIABLE_NAME_PATTERN, isAllowedVariable,
} from '../../../base/hook-variables.ts';
import type {
  JsonObject, JsonSchema, JsonValue, MemberSchemas, ObjectSchema,
} from '../../../base/schema.ts';
import {
  checkCommand, resolveWorkingDirectory, type CommandDirectory,
} from './command-directory.ts';
import { parseTextTemplate, type TextTemplate } from './text-template.ts';

export type HookCommand = {
  readonly command: string;
  readonly arguments: readonly TextTemplate[];
  readonly environment: readonly NamedTemplate[];
  readonly stdin: 'body' | 'payload' | 'none';
  readonly files: readonly (NamedTemplate & { readonly isBase64: boolean })[];
  /** null: a folder of the run. */
  readonly workingDirectory: string | null;
  /** null: the limit of the webhook, or the setting `incoming.actionTimeout`. */
  readonly timeoutMs: number | null;
  /** null: as many as slots. */
  readonly maxCommands: number | null;
  readonly coalesces: boolean;
  readonly successCodes: readonly number[];
  /** Whether standard output is part of the result, and the caller learns of errors. */
  readonly showsOutput: boolean;
  /** Whether output in JSON becomes its value; else it stays text. */
  readonly parsesOutput: boolean;
  /** Whether standard error is a part of standard output. */
  readonly mergesErrors: boolean;
};

type NamedTemplate = { readonly name: string; readonly template: TextTemplate };

const OPTIONS_BYTES_MAX = 64 * 1024;
const ITEMS_MAX = 10_000;
const COMMANDS_MAX = 1_000_000;
const EXIT_CODE_MAX = 255;
const BASE64_PATTERN = /^[A-Za-z0-9+/_-]*={0,2}$/;
const STDIN_VALUES = ['body', 'payload', 'none'];
const OUTPUT_VALUES = ['none', 'result', 'text', 'combined'];
const VARIABLES: JsonSchema =
  { kind: 'json', isObject: true, bytesMax: OPTIONS_BYTES_MAX, depthMax: 2 };

const OPTIONS_SCHEMA: ObjectSchema = {
  kind: 'object',
  members: {
    command: {
      schema: {
        kind: 'string', pattern: /^(?!\.{1,2}$)[^/\p{Cc}]{1,255}$/u,
        mustBe: 'the name of a file in the folder of commands, without a path',
      },
      isRequired: true, form: { field: 'command' },
      description: 'The program or script that is run: an executable file of the folder that the '
        + 'setting `actions.commandDirectory` names',
    },
    arguments: {
      schema: { kind: 'array', items: { kind: 'string' }, maxItems: ITEMS_MAX },
      default: [], form: { item: 'Argument', hasEmptyItems: true },
      description: 'Arguments of the command. Each is passed whole: it is never split, and no '
        + 'shell sees it. `{{ payload.ref }}` puts in a value of what came; `headers`, `query` and '
        + '`event` are there too',
    },
    environment: {
      schema: VARIABLES, default: {}, form: { field: 'variables' },
      description: 'Variables for the command, which the setting `actions.environment` allows. '
        + 'Values may hold `{{ payload.ref }}` and the like',
    },
    stdin: {
      schema: { kind: 'string', values: STDIN_VALUES }, default: 'body', label: 'Standard input',
      description: 'What the command can read: the bytes that came, the payload as JSON, or '
        + 'nothing',
      form: { choices: [
        ['body', 'The body as it came'], ['payload', 'The payload as JSON'], ['none', 'Nothing'],
      ] },
    },
    files: {
      schema: VARIABLES, default: {}, form: { group: 'more', field: 'files' },
      description: 'Files that are written before the run and deleted after it, as templates of '
        + 'their content, or `{ "base64": template }`. The variable, which the setting '
        + '`actions.environment` allows, holds the path',
    },
    workingDirectory: {
      schema: { kind: 'string', minLength: 1, maxLength: 4096 }, form: { group: 'more' },
      description: 'Where it runs: a path below the folder of commands, or one that the setting '
        + '`actions.workingDirectories` names. Without it an empty folder, deleted after the run',
    },
    timeout: {
      schema: { kind: 'number', minimum: 0.001, maximum: TIMER_SECONDS_MAX }, label: 'Time limit',
      description: 'Seconds from its start; then it and what it has started are ended. Without it '
        + 'as the setting `incoming.actionTimeout` says',
    },
    maxCommands: {
      schema: { kind: 'integer', minimum: 1, maximum: COMMANDS_MAX }, label: 'Runs at once',
      description: 'How many runs of this configuration there are at once. The others wait in '
        + 'order; 1 is one after the other. Without it as many as the setting '
        + '`actions.maxCommands` allows for all',
    },
    coalesce: {
      schema: { kind: 'boolean' }, default: false,
      label: 'Of those that wait, only the newest runs',
      description: 'For a deploy, say: the newest run stands for those that waited before it, '
        + 'whose status is then `coalesced`',
    },
    successCodes: {
      schema: {
        kind: 'array', maxItems: EXIT_CODE_MAX + 1, isUnique: true,
        items: { kind: 'integer', minimum: 0, maximum: EXIT_CODE_MAX },
      },
      default: [0], label: 'Exit codes of success', form: { group: 'more', item: 'Exit code' },
      description: 'The exit codes that are a success; with any other the run has failed',
    },
    output: {
      schema: { kind: 'string', values: OUTPUT_VALUES }, default: 'none', label: 'Its output',
      description: 'Whether the caller, who may be anybody, is told its standard output, and the '
        + 'last line of its errors: `result`, as its value where it is JSON; `text`, always as '
        + 'text; `combined`, as text with its errors where they came',
      form: { choices: [
        ['none', 'Is not told to the caller'], ['result', 'Is told to the caller, as data.output'],
        ['text', 'Is told to the caller, as text also where it is JSON'],
        ['combined', 'Is told to the caller, as text with its errors in it'],
      ] },
    },
  },
  check: ({ arguments: texts, environment, files, successCodes }) => [
    ...findArgumentProblems(texts), ...findVariableProblems(environment, files),
    ...Array.isArray(successCodes) && successCodes.length === 0
      ? [{ pointer: '/successCodes', detail: 'must have at least one code' }] : [],
  ],
};

export function commandOptions(commandNames: readonly string[]): MemberSchemas {
  const { command, ...others } = OPTIONS_SCHEMA.members;
  assert(command !== undefined, 'every run has a command');
  return { command: { ...command, schema: { kind: 'string', values: commandNames } }, ...others };
}

/** Problems of the options, and of the file, folder and variables in them; one sentence each. */
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
  if (typeof command === 'string') addProblem('command', () => checkCommand(directory, command));
  if (typeof workingDirectory === 'string') {
    addProblem('workingDirectory', () => resolveWorkingDirectory(directory, workingDirectory));
  }
  return problems;
}

export function formatOptionError({ pointer, detail }: FieldError): string {
  return `${pointer.slice(1).replaceAll('/', ' ')} ${detail}`;
}

/** Variables that the setting `actions.environment` does not let hooks name. */
export function findForbiddenVariables(
  command: HookCommand, allowedVariables: readonly string[],
): readonly FieldError[] {
  const places = { environment: command.environment, files: command.files };
  return Object.entries(places).flatMap(([option, variables]) => variables
    .filter(({ name }) => !isAllowedVariable(name, allowedVariables))
    .map(({ name }) => ({
      pointer: `/${option}/${name}`,
      detail: 'is no variable that hooks may set: the setting actions.environment of the running '
        + `server allows ${allowedVariables.join(', ') || 'none'}; choose another name, or allow `
        + 'this one there, and restart the server',
    })));
}

/** Throws `invalid` where `findCommandOptionProblems` finds a problem. */
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
    mergesErrors: values['output'] === 'combined',
  };
}

/** Decodes base64 or base64url with white space; null: the text is neither. */
export function decodeBase64(text: string): Buffer | null {
  const compact = text.replace(/\s+/g, '');
  return BASE64_PATTERN.test(compact) ? Buffer.from(compact, 'base64') : null;
}

function findArgumentProblems(texts: JsonValue | undefined): FieldError[] {
  return toTexts(texts).flatMap((text, index) =>
    findTemplateProblem(`/arguments/${index}`, text));
}

/** A name may stand in one of the two alone. */
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
    return [{ pointer, detail: 'is not the name of a variable: 1-128 of A-Z, a-z, 0-9, _, . '
      + 'and -, beginning with a letter or _' }];
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
