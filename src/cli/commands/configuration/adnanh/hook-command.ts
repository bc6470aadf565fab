/** Converts what a hook runs into the options of the action `run-command`. */
import { basename, isAbsolute, join } from 'node:path';
import { isJsonObject } from '../../../../base/fields.ts';
import { VARIABLE_NAME_PATTERN } from '../../../../base/hook-variables.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { shellQuote } from '../../../../base/text/shell-quote.ts';
import { isInterpreterName } from '../../../../webhooks/actions/commands/interpreters.ts';
import { isJsonAnswer } from './hook-answers.ts';
import { at, type HookReport } from './hook-report.ts';
import { parseSecretTemplate } from './hook-template.ts';
import { findValueTemplate, textOf } from './request-values.ts';

export type ConvertedCommand = {
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

export function convertCommand(
  hook: JsonObject, identifier: string, report: HookReport,
): ConvertedCommand {
  const execute = textOf(hook['execute-command']);
  const directory = textOf(hook['command-working-directory']);
  if (directory !== '' && !isAbsolute(directory)) {
    report.lose(at(report.pointer, 'command-working-directory'),
      'a working directory has to be named from the root', 'write the whole path');
  }
  if (/\s/.test(basename(execute))) {
    report.note(at(report.pointer, 'execute-command'),
      `"${basename(execute)}" is the name of a file, there as here`,
      'if a part of it is an argument, name that in "arguments"');
  }
  const workingDirectory = isAbsolute(directory) ? directory : null;
  const files = convertFiles(hook, report);
  const environment = convertEnvironment(hook, report);
  // There a file of the same name wins.
  const variables = Object.entries(environment).filter(([name]) => !Object.hasOwn(files, name));
  const script = convertInterpreter(hook, report);
  const scriptName = `hook-${identifier}.sh`;
  const path = isAbsolute(execute) ? execute : join(directory, execute);
  return {
    path: script === null ? path : scriptName, workingDirectory,
    script: script?.lines ?? null,
    options: {
      command: script === null ? basename(execute) : scriptName,
      ...withoutEmpty({
        arguments: convertArguments(hook, report).slice(script?.fixedCount ?? 0),
        environment: Object.fromEntries(variables), files,
      }),
      stdin: 'none',
      ...workingDirectory === null ? {} : { workingDirectory },
      timeout: TIMEOUT_S,
      ...hook['include-command-output-in-response'] !== true ? {}
        // Within a body of JSON, JSON stays a value. All else is answered as it was printed.
        : { output: isJsonAnswer(hook) ? 'result' : 'text' },
    },
  };
}

/**
 * The script that calls an interpreter with the arguments that are the same for each request, and
 * how many these are: the rest stays with the hook. null: the command is no interpreter.
 */
function convertInterpreter(
  hook: JsonObject, report: HookReport,
): { readonly lines: readonly string[]; readonly fixedCount: number } | null {
  const execute = textOf(hook['execute-command']);
  if (!isInterpreterName(basename(execute))) return null;
  const args = hook['pass-arguments-to-command'];
  const values = (Array.isArray(args) ? args : []).map((value: JsonValue) =>
    isJsonObject(value) ? value : {});
  const first = values.findIndex(({ source }) => source !== 'string');
  const fixedWords = values.slice(0, first === -1 ? values.length : first)
    .map(({ name }) => textOf(name));
  if (fixedWords.every((text) => text.startsWith('-') || /^\w+=/.test(text))) {
    report.lose(at(report.pointer, 'execute-command'),
      `the request would say what ${execute} runs, as no argument does`,
      'write a script that does one thing, and name it in "command"');
  }
  if (fixedWords.some((text) => parseSecretTemplate(text) !== null)) {
    report.lose(at(report.pointer, 'execute-command'), 'the script would name a template',
      'set the variable for the converter');
  }
  const words = [execute, ...fixedWords].map(shellQuote).join(' ');
  return { lines: ['#!/bin/sh', `exec ${words} "$@"`], fixedCount: fixedWords.length };
}

const VALUE_MEMBERS = [
  'pass-arguments-to-command', 'pass-environment-to-command', 'pass-file-to-command',
];

/** Reports what the command gets without the token at `tokenPath`, which verifies the sender. */
export function reportHiddenToken(
  hook: JsonObject, tokenPath: string, report: HookReport,
): void {
  for (const member of VALUE_MEMBERS) {
    const values = hook[member] ?? [];
    for (const [index, value] of (Array.isArray(values) ? values : []).entries()) {
      const template = isJsonObject(value) ? findValueTemplate(value) : '';
      const path = typeof template === 'string' ? template.slice('{{ '.length, -' }}'.length) : '';
      const place = at(report.pointer, member, index);
      if (path === tokenPath) {
        report.lose(place, 'the token that verifies the sender is not given to commands',
          'let the command do without it');
      } else if (path !== '' && tokenPath.startsWith(`${path}.`)) {
        report.note(place, `${tokenPath}, which verifies the sender, is *** for the command`,
          'let the command do without it');
      }
    }
  }
}

function withoutEmpty(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, member]) =>
    Object.keys(member ?? {}).length > 0));
}

function convertArguments(hook: JsonObject, report: HookReport): string[] {
  return listValues(hook, 'pass-arguments-to-command', report).map(({ template }) => template);
}

function convertEnvironment(hook: JsonObject, report: HookReport): JsonObject {
  const values = listValues(hook, 'pass-environment-to-command', report);
  return Object.fromEntries(values.flatMap(({ value, template, place }) => {
    const name = textOf(value['envname']) || `HOOK_${textOf(value['name'])}`;
    return isVariable(name, place, report) ? [[name, template]] : [];
  }));
}

function convertFiles(hook: JsonObject, report: HookReport): JsonObject {
  const values = listValues(hook, 'pass-file-to-command', report);
  return Object.fromEntries(values.flatMap(({ value, template, place }) => {
    const name = textOf(value['envname']) || `HOOK_${textOf(value['name']).toUpperCase()}`;
    const content: JsonValue = value['base64decode'] === true ? { base64: template } : template;
    return isVariable(name, place, report) ? [[name, content]] : [];
  }));
}

function isVariable(name: string, place: string, report: HookReport): boolean {
  if (VARIABLE_NAME_PATTERN.test(name) && !name.startsWith('HOOKSHELF_')) return true;
  report.lose(place, `${name} cannot be the name of a variable here`,
    'give it an envname of letters, digits and _');
  return false;
}

type CommandValue = {
  readonly value: JsonObject; readonly template: string; readonly place: string;
};

/** The values of a list of the hook. One without a template is reported, and becomes empty. */
function listValues(
  hook: JsonObject, member: string, report: HookReport,
): readonly CommandValue[] {
  return report.readList(hook, member).map((given, index) => {
    const value = isJsonObject(given) ? given : {};
    const place = at(report.pointer, member, index);
    const template = findValueTemplate(value);
    if (typeof template === 'string') return { value, template, place };
    report.lose(place, template.reason, template.remedy);
    return { value, template: '', place };
  });
}
