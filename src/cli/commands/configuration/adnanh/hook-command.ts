/** Converts what a hook runs into the options of the action `run-command`. */
import { basename, isAbsolute, join } from 'node:path';
import { isJsonObject } from '../../../../base/fields.ts';
import { loadCrypto } from '../../../../base/node-modules.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { shellQuote } from '../../../../base/text/shell-quote.ts';
import { isInterpreterName } from '../../../../webhooks/actions/commands/interpreters.ts';
import { isJsonAnswer } from './hook-answers.ts';
import { at, type HookReport } from './hook-report.ts';
import { hasTemplate, parseSecretTemplate } from './hook-template.ts';
import { findValueTemplate, textOf } from './request-values.ts';

export type ConvertedCommand = {
  /** The options of the action without `command`. */
  readonly options: JsonObject;
  /** The command as the hook names it, in its working directory if that is relative. */
  readonly path: string;
  /** The lines of the script to run in place of an interpreter; null: the command is none. */
  readonly script: readonly string[] | null;
  /** null: a folder of the run. */
  readonly workingDirectory: string | null;
};

/** A hook there may run forever. The document has a limit, so that people see what to change. */
const TIMEOUT_S = 3600;

/** Variables in which loaders, shells and interpreters look for code: the best known ones. */
const CODE_VARIABLE = new RegExp('^(?:LD_|DYLD_|BASH_|(?:ENV|IFS|PATH|PS4|SHELLOPTS|ZDOTDIR)$|'
  + 'PYTHON[A-Z]|PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|NODE_(?:OPTIONS|PATH)|_?(?:JDK_)?JAVA_|LUA_|'
  + 'PHP_INI|GCONV_PATH|GIT_(?:SSH|EXEC|EXTERNAL|CONFIG|PROXY|ASKPASS|EDITOR|PAGER|TEMPLATE))');

type HookContext = {
  readonly hook: JsonObject;
  readonly allowedMethods: readonly string[];
  /** The path of the token that verifies the sender; null: there is none. */
  readonly tokenPath: string | null;
  readonly report: HookReport;
};

export function convertCommand(context: HookContext, identifier: string): ConvertedCommand {
  const { hook, report } = context;
  const execute = textOf(hook['execute-command']);
  const directory = textOf(hook['command-working-directory']);
  if (directory !== '' && !isAbsolute(directory)) {
    report.lose(at(report.pointer, 'command-working-directory'),
      'a working directory has to be named from the root', 'write the whole path');
  }
  if (/\s/.test(basename(execute)) && !hasTemplate(execute)) {
    report.note(at(report.pointer, 'execute-command'),
      `"${basename(execute)}" is the name of a file, there as here`,
      'if a part of it is an argument, name that in "arguments"');
  }
  // A document with a template here cannot be applied, for any hook: this hook alone is disabled.
  const workingDirectory = isAbsolute(directory) && !hasTemplate(directory) ? directory : null;
  const files = convertVariables(context, 'pass-file-to-command');
  const environment = convertVariables(context, 'pass-environment-to-command');
  const args = listValues(context, 'pass-arguments-to-command').map(({ template }) => template);
  // There a file of the same name wins.
  const variables = Object.entries(environment).filter(([name]) => !Object.hasOwn(files, name));
  const script = convertInterpreter(hook, report);
  return {
    path: script === null ? findCommandPath(hook)
      // Another content has another name, so that no earlier script runs in its place.
      : `hook-${identifier}-${shortHash(script.lines.join('\n'))}.sh`,
    workingDirectory,
    script: script?.lines ?? null,
    options: {
      ...withoutEmpty({
        arguments: args.slice(script?.fixedCount ?? 0),
        environment: Object.fromEntries(variables), files,
      }),
      stdin: 'none',
      ...workingDirectory === null ? {} : { workingDirectory },
      timeout: TIMEOUT_S,
      ...hook['include-command-output-in-response'] !== true ? {}
        // Within a body of JSON, JSON stays a value. All else is answered as it was printed.
        : { output: isJsonAnswer(hook) ? 'result' : 'combined' },
    },
  };
}

/** Eight hexadecimal digits for a name in the folder of commands. */
export function shortHash(text: string): string {
  return loadCrypto().createHash('sha256').update(text).digest('hex').slice(0, 8);
}

export function findCommandPath(hook: JsonObject): string {
  const execute = textOf(hook['execute-command']);
  return isAbsolute(execute) ? execute
    : join(textOf(hook['command-working-directory']), execute);
}

/** The document names a script in place of this one, which has to be there to be applied. */
const UNWRITTEN = 'exit 1 # yet to be written';

/**
 * The script that calls an interpreter with the arguments that are the same for each request, and
 * how many these are: the rest stays with the hook. null: the command is no interpreter.
 */
function convertInterpreter(
  hook: JsonObject, report: HookReport,
): { readonly lines: readonly string[]; readonly fixedCount: number } | null {
  const execute = textOf(hook['execute-command']);
  if (hasTemplate(execute)) return { lines: ['#!/bin/sh', UNWRITTEN], fixedCount: 0 };
  if (!isInterpreterName(basename(execute))) return null;
  const args = hook['pass-arguments-to-command'];
  const values = (Array.isArray(args) ? args : []).map((value: JsonValue) =>
    isJsonObject(value) ? value : {});
  const first = values.findIndex(({ source }) => source !== 'string');
  const fixedWords = values.slice(0, first === -1 ? values.length : first)
    .map(({ name }) => textOf(name));
  const isOpen = fixedWords.every((text) => text.startsWith('-') || /^\w+=/.test(text));
  if (isOpen) {
    report.lose(at(report.pointer, 'execute-command'),
      `the request would say what ${execute} runs, as no argument does`,
      'write a script that does one thing, and name it in "command"');
  }
  if (fixedWords.some((text) => parseSecretTemplate(text) !== null)) {
    report.lose(at(report.pointer, 'execute-command'), 'the script would name a template',
      'set the variable for the converter');
  }
  const words = [execute, ...fixedWords].map(shellQuote).join(' ');
  const call = isOpen ? UNWRITTEN : `exec ${words} "$@"`;
  return { lines: ['#!/bin/sh', call], fixedCount: fixedWords.length };
}

function withoutEmpty(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, member]) =>
    Object.keys(member ?? {}).length > 0));
}

/** The variables of a list of the hook, which hold a value, or the path of a file with it. */
function convertVariables(
  context: HookContext, member: 'pass-environment-to-command' | 'pass-file-to-command',
): JsonObject {
  const isFile = member === 'pass-file-to-command';
  return Object.fromEntries(listValues(context, member).map(({ value, template, place }) => {
    const source = textOf(value['name']);
    const name = textOf(value['envname']) || `HOOK_${isFile ? source.toUpperCase() : source}`;
    const isBase64 = isFile && value['base64decode'] === true;
    return [fitVariable(name, value, place, context.report),
      isBase64 ? { base64: template } : template];
  }));
}

/** A name that a variable may have. Another name than the hook's is reported. */
function fitVariable(
  name: string, { source }: JsonObject, place: string, report: HookReport,
): string {
  const isCode = source !== 'string' && CODE_VARIABLE.test(name);
  const fitting = name.replace(/[^\w.-]+/g, '_')
    .replace(isCode ? /^/ : /^HOOKSHELF_|^(?=[\d.-])/, 'HOOK_');
  if (fitting !== name) {
    report.lose(place, isCode ? `the request would say by ${name} what the command runs`
      : `${name} cannot be the name of a variable here`, `let the command read ${fitting}`);
  }
  return fitting;
}

type CommandValue = {
  readonly value: JsonObject; readonly template: string; readonly place: string;
};

/** The values of a list of the hook. One without a template is reported, and becomes empty. */
function listValues(
  { hook, tokenPath, allowedMethods, report }: HookContext, member: string,
): readonly CommandValue[] {
  return report.readList(hook, member).map((given, index) => {
    const value = isJsonObject(given) ? given : {};
    const place = at(report.pointer, member, index);
    const template = findValueTemplate(value, tokenPath, allowedMethods);
    if (typeof template !== 'string') {
      report.lose(place, template.reason, template.remedy);
      return { value, template: '', place };
    }
    if (tokenPath?.startsWith(`${template.slice('{{ '.length, -' }}'.length)}.`) === true) {
      report.note(place, `${tokenPath}, which verifies the sender, is *** for the command`,
        'let the command do without it');
    }
    return { value, template, place };
  });
}
