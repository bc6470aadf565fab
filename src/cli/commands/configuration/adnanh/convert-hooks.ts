/**
 * Converts the hooks of adnanh/webhook into a configuration document: of each hook an incoming
 * webhook, and an action configuration that runs its command. Nothing is left out in silence. Pure.
 */
import { basename } from 'node:path';
import { isJsonObject, mapInner, mapMembers, parseObject } from '../../../../base/fields.ts';
import { AppError, messageOf } from '../../../../base/errors.ts';
import { encodeJson } from '../../../../base/json/encode.ts';
import { ALLOWED_VARIABLES_DEFAULT, isAllowedVariable } from '../../../../base/hook-variables.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { findNearest } from '../../../../base/text/nearest.ts';
import { takeUniqueName } from '../../../../base/text/unique-name.ts';
import { incomingSchema } from '../../../../webhooks/incoming/incoming-webhook.ts';
import { findPreset } from '../../../../webhooks/senders/presets/preset-table.ts';
import { ANSWER_MEMBERS, convertAnswers } from './hook-answers.ts';
import {
  convertCommand, findCommandPath, shortHash, type ConvertedCommand,
} from './hook-command.ts';
import {
  HookReport, at, fillReferences, type Gap, type HookSecret,
} from './hook-report.ts';
import { fillVariables, hasTemplate, parseSecretTemplate } from './hook-template.ts';
import { textOf } from './request-values.ts';
import { convertTriggerRule, type ConvertedRule } from './trigger-rule.ts';

export type Conversion = {
  readonly document: JsonObject;
  readonly gaps: readonly Gap[];
  readonly variables: readonly HookSecret[];
  /** The names of variables that no command may get without the setting `actions.environment`. */
  readonly forbiddenVariables: readonly string[];
  /** By their names in the folder of commands. */
  readonly commands: ReadonlyMap<string, ConvertedCommand>;
  readonly workingDirectories: readonly string[];
};

const MEMBERS = [
  'id', 'execute-command', 'command-working-directory', 'pass-arguments-to-command',
  'pass-environment-to-command', 'pass-file-to-command', 'trigger-rule', 'http-methods',
  'incoming-payload-content-type', 'parse-parameters-as-json', ...ANSWER_MEMBERS,
  // A signature is never one of several rules here, of which another may do.
  'trigger-signature-soft-failures',
];
/** Members that nothing reads there, in which people write remarks. */
const REMARK = /^(?:[^a-z]|(?:comment|description|note)s?$)/;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const ROUTE_NAME = 'main';
const DESCRIPTION_LENGTH_MAX = 500;
/** Names of webhooks that may be their paths as well, and identifiers of configurations. */
const NAME = /^(?!.{8}-.{4}-.{4}-.{4}-.{12}$)[a-z0-9][a-z0-9._-]{0,63}$/;
const PATH_SEGMENT = /^(?!\.\.?$)[A-Za-z0-9._~-]{1,128}$/;

/**
 * Templates that name a variable become its value, where `environment` has it; secrets do not.
 * `pointers` are the places of the hooks.
 */
export function convertHooks(
  hooks: readonly JsonObject[], environment: Readonly<Record<string, string | undefined>> = {},
  pointers = hooks.map((_, index) => at('', index)),
): Conversion {
  const filledHooks = hooks.map((hook) => fillTemplates(hook, environment));
  const names = new HookNames(filledHooks);
  const results = filledHooks.map((hook, index) =>
    convertHook(hook, pointers[index] ?? '', names));
  const records = results.flatMap(({ record }) => record === null ? [] : [record]);
  const document = {
    actionConfigurations: records.map(({ configuration }) => configuration),
    incomingWebhooks: records.flatMap(({ webhooks }) => webhooks),
  };
  const text = encodeJson(document);
  const variables = new Map(results.flatMap(({ report }) => report.variables)
    .filter(({ name }) => text.includes(encodeJson({ $env: name })))
    .map((variable) => [variable.name, variable]));
  return {
    document,
    gaps: results.flatMap(({ report }) => report.gaps),
    variables: [...variables.values()],
    forbiddenVariables: [...new Set(records.flatMap(({ command: { options } }) =>
      [options['environment'], options['files']].flatMap((member) => Object.keys(member ?? {}))))]
      .filter((name) => !isAllowedVariable(name, ALLOWED_VARIABLES_DEFAULT)),
    commands: names.commands,
    workingDirectories: [...new Set(records.flatMap(({ command: { workingDirectory } }) =>
      workingDirectory === null ? [] : [workingDirectory]))],
  };
}

/**
 * The names that the hooks of one file have taken so far: no two may have the same. An id that can
 * be a name as it is has that name, wherever its hook stands.
 */
class HookNames {
  readonly ids = new Set<string>();
  readonly variables = new Set<string>();
  readonly segments: Set<string>;
  readonly configurations: Set<string>;
  readonly commandPaths: readonly string[];
  readonly commands = new Map<string, ConvertedCommand>();

  constructor(hooks: readonly JsonObject[]) {
    const ids = hooks.map(({ id }) => textOf(id));
    this.segments = new Set(ids.filter((id) => PATH_SEGMENT.test(id)));
    this.configurations = new Set(ids.filter((id) => NAME.test(id)));
    this.commandPaths = hooks.map(findCommandPath);
  }
}

type ConvertedHook = {
  readonly report: HookReport;
  /** null: it is no hook, which is reported. */
  readonly record: {
    readonly webhooks: readonly JsonObject[]; readonly configuration: JsonObject;
    readonly command: ConvertedCommand;
  } | null;
};

function convertHook(hook: JsonObject, pointer: string, names: HookNames): ConvertedHook {
  const id = textOf(hook['id']);
  const report = new HookReport(id, pointer, names.variables);
  const missingMember = ['id', 'execute-command'].find((member) => textOf(hook[member]) === '');
  if (missingMember !== undefined || names.ids.has(id)) {
    const reason = missingMember === undefined ? `another hook has the id ${id}`
      : `a hook needs ${missingMember}`;
    const near = missingMember === undefined ? null
      : findNearest(missingMember, Object.keys(hook).filter((name) => !MEMBERS.includes(name)));
    const remedy = near === null ? 'mend it there' : `is it ${near} that is meant?`;
    report.lose(pointer, reason, `${remedy}; it is not in the document`);
    return { report, record: null };
  }
  names.ids.add(id);
  reportMembers(hook, report);
  reportTemplates(hook, pointer, report);
  const identifier = NAME.test(id) ? id
    : chooseName(id.toLowerCase(), /[^a-z0-9._-]+/g, 64, names.configurations);
  const rule = convertTriggerRule(hook['trigger-rule'], report);
  const allowedMethods = convertMethods(hook, report);
  const context = { hook, allowedMethods, tokenPath: rule.tokenPath, report };
  const command = convertCommand(context, identifier);
  const commandName = nameCommand(command, names, report);
  const members = {
    pathSegment: choosePathSegment(id, names, report),
    allowedMethods,
    ...createMembers(hook, rule, report),
    ...rule.when === null ? { actionConfiguration: identifier }
      : { routes: [{ name: ROUTE_NAME, when: rule.when, actionConfiguration: identifier }] },
  };
  const options = { command: commandName, ...referToVariables(command.options, report) };
  const webhooks = [members, ...copyForOthers(members, rule, names, report)];
  const invalidNames = findInvalidMembers(members, report);
  return {
    report, record: {
      command,
      configuration: { identifier, actionType: 'run-command', options },
      webhooks: webhooks.map(({ pathSegment, ...others }) => ({
        pathSegment: pathSegment ?? null,
        ...NAME.test(textOf(pathSegment)) ? { name: textOf(pathSegment) } : {},
        ...report.isDisabled ? { enabled: false, description: describeGaps(report) } : {},
        ...Object.fromEntries(Object.entries(others).filter(([name]) =>
          !invalidNames.includes(name))),
      })),
    },
  };
}

/** Why the webhook is off, for those who may switch it on. */
function describeGaps({ gaps }: HookReport): string {
  const text = gaps.filter(({ isDisabling }) => isDisabling)
    .map(({ reason, remedy }) => `${reason}: ${remedy}`).join('; ');
  return [...`Off, as it would not do what its hook did: ${text}`]
    .slice(0, DESCRIPTION_LENGTH_MAX).join('');
}

/** A webhook for each further signature of which one is enough: a webhook has one secret. */
function copyForOthers(
  members: JsonObject, { others }: ConvertedRule, names: HookNames, report: HookReport,
): JsonObject[] {
  const path = textOf(members['pathSegment']);
  return others.map(({ verification, secret, pointer }) => {
    const pathSegment = chooseName(path, /[^A-Za-z0-9._~-]+/g, 128, names.segments);
    report.note(pointer, 'each of several signatures has a webhook of its own',
      `tell the sender with this secret the address /webhook/in/${pathSegment}; of one sender that `
        + 'changes its secret, remove it: the secret before a changed one counts for a day');
    return { ...members, pathSegment, verification, secret };
  });
}

/** The hook with the values of the variables that its templates name. */
function fillTemplates(
  hook: JsonObject, environment: Readonly<Record<string, string | undefined>>,
): JsonObject {
  const fill = (value: JsonValue, pointer: string): JsonValue => {
    if (typeof value === 'string') {
      return isSecretPlace(pointer) && parseSecretTemplate(value) !== null ? value
        : fillVariables(value, environment);
    }
    return mapInner(value, (inner, step) => fill(inner, at(pointer, step)));
  };
  return mapMembers(hook, (value, name) => fill(value, at('', name)));
}

function isSecretPlace(pointer: string): boolean {
  return pointer.includes('/trigger-rule/') && /\/(?:secret|value)$/.test(pointer);
}

/** Whether a text that is a variable as a whole may be a reference in the document. */
function isVariablePlace(pointer: string): boolean {
  return /\/(?:pass-(?:arguments|environment)-to-command\/\d+\/name|response-message)$/
    .test(pointer);
}

/** Replaces each placeholder of a variable by a reference: the document has no values. */
function referToVariables(members: JsonObject, report: HookReport): JsonObject {
  const refer = (value: JsonValue): JsonValue => {
    // A literal brace of a template is escaped.
    const text = typeof value === 'string' ? value.replace(/^\\+(?=\{\{)/, '') : '';
    return parseSecretTemplate(text)?.source === 'getenv'
      ? report.referToSecret({ value: text, pointer: report.pointer }) : mapInner(value, refer);
  };
  return mapMembers(members, refer);
}

function createMembers(hook: JsonObject, rule: ConvertedRule, report: HookReport): JsonObject {
  const { verification, allowedAddresses } = rule;
  const bodyFormat = convertContentType(hook, report)
    // With a verification it is the default.
    ?? (verification === null ? 'auto' : null);
  const jsonFields = convertJsonFields(hook, bodyFormat, report);
  const response = convertAnswers(hook, rule, ROUTE_NAME, report);
  const answersOutput = hook['include-command-output-in-response'] === true;
  return {
    ...verification === null ? {} : {
      verification: keepJsonField(verification.verification, jsonFields),
      secret: verification.secret,
      // There a request that came before runs again.
      deduplicate: 'off',
    },
    ...allowedAddresses === null ? {} : { allowedAddresses: [...allowedAddresses] },
    ...bodyFormat === null ? {} : { bodyFormat },
    ...jsonFields.length === 0 ? {} : { jsonFields },
    inbox: 'all',
    ...answersOutput ? {} : { answer: 'accepted', retrySchedule: [] },
    response: referToVariables(response, report),
  };
}

function convertMethods(hook: JsonObject, report: HookReport): string[] {
  const names = report.readList(hook, 'http-methods')
    .map((method) => textOf(method).trim().toUpperCase());
  return names.length === 0 ? METHODS : [...new Set(names)];
}

/** null: the type of each request says it. */
function convertContentType(hook: JsonObject, report: HookReport): string | null {
  const type = textOf(hook['incoming-payload-content-type']);
  if (type === '') return null;
  if (type.includes('json')) return 'json';
  if (type.includes('x-www-form-urlencoded')) return 'form';
  if (type.startsWith('multipart/form-data')) return 'multipart';
  const format = type.includes('xml') ? 'XML' : type;
  report.lose(at(report.pointer, 'incoming-payload-content-type'),
    `no payload is made of ${format}`,
    'have the sender send JSON or a form, or let the command read the body from its standard '
      + 'input: "stdin": "body"');
  return null;
}

/** The fields of forms whose values are JSON. */
function convertJsonFields(
  hook: JsonObject, bodyFormat: string | null, report: HookReport,
): string[] {
  const member = 'parse-parameters-as-json';
  const fields = report.readList(hook, member).flatMap((parameter, index) => {
    const { source, name } = isJsonObject(parameter) ? parameter : {};
    const isField = source === 'payload' && textOf(name) !== '' && bodyFormat !== 'json';
    if (isField) return [textOf(name)];
    report.lose(at(report.pointer, member, index),
      'JSON is read in fields of forms and multipart bodies, not in JSON, headers or parameters',
      'let the command read it from the text');
    return [];
  });
  return [...new Set(fields)];
}

/**
 * The verification by which a field that a hook reads as JSON stays a member of the payload: to a
 * preset that makes the whole payload of that field, a scheme is equal that does not.
 */
function keepJsonField(verification: JsonObject, jsonFields: readonly string[]): JsonObject {
  const { payload, ...scheme } = findPreset(textOf(verification['preset']))?.scheme ?? {};
  const formField = typeof payload === 'object' ? payload.formField : null;
  return formField === null || !jsonFields.includes(formField) ? verification
    : { preset: 'custom', scheme };
}

function reportMembers(hook: JsonObject, report: HookReport): void {
  for (const [member, value] of Object.entries(hook)) {
    const isEmpty = value === null || value === '' || value === 0 || value === false
      || Array.isArray(value) && value.length === 0;
    if (isEmpty || MEMBERS.includes(member)) continue;
    const place = at(report.pointer, member);
    const near = findNearest(member, MEMBERS);
    if (REMARK.test(member)) report.note(place, 'a remark is not kept', 'write a "description"');
    else report.lock(place, member === 'pre-hook-command'
      ? 'a command before the command cannot be had' : 'there is nothing of that name',
    near === null ? 'remove it, and let the command itself do it' : `did you mean ${near}?`);
  }
}

/** Reports what a template of the whole file would make, but for names of secrets. */
function reportTemplates(value: JsonValue, pointer: string, report: HookReport): void {
  if (typeof value === 'string' && hasTemplate(value)) {
    const template = parseSecretTemplate(value);
    const isReference = template !== null && isSecretPlace(pointer)
      || template?.source === 'getenv' && isVariablePlace(pointer);
    if (!isReference) {
      const reason = 'a template is not run';
      const remedy = 'write what it makes in its place; a variable that it names counts where it '
        + 'is set for the converter';
      if (pointer.includes('/trigger-rule/')) report.lock(pointer, reason, remedy);
      else {
        report.lose(pointer, reason, `${remedy}; where it ran without -template, which leaves the `
          + 'text as it is, switch the webhook on');
      }
    }
  }
  if (typeof value !== 'object' || value === null) return;
  // Its name is a template always, which is reported where it is used.
  if (isJsonObject(value) && value['source'] === 'template') return;
  for (const [step, member] of Object.entries(value)) {
    reportTemplates(member, at(pointer, step), report);
  }
}

/**
 * The name of the command in the folder of commands, where no two have the same. Which of them has
 * which does not depend on their order: a link of an earlier conversion would run the other.
 */
function nameCommand(
  command: ConvertedCommand, { commands, commandPaths }: HookNames, report: HookReport,
): string {
  const { path } = command;
  const base = basename(path);
  const other = commandPaths.find((each) => each !== path && basename(each) === base);
  const name = other === undefined ? base : `${base}-${shortHash(path)}`;
  if (other !== undefined && !commands.has(name)) {
    report.note(at(report.pointer, 'execute-command'), `${path} and ${other} have one name`,
      `it is ${name} in the folder of commands: see that the link is made so`);
  }
  commands.set(name, command);
  return name;
}

function choosePathSegment(id: string, names: HookNames, report: HookReport): string {
  if (PATH_SEGMENT.test(id)) return id;
  const segment = chooseName(id, /[^A-Za-z0-9._~-]+/g, 128, names.segments);
  report.note(at(report.pointer, 'id'), `"${id}" cannot be a path segment`,
    `tell the sender the address /webhook/in/${segment}, or choose another "pathSegment"`);
  return segment;
}

/** A name made of the id: in the characters and the length that it may have, and not taken. */
function chooseName(
  id: string, unfitting: RegExp, lengthMax: number, takenNames: Set<string>,
): string {
  const base = id.replace(unfitting, '-').replace(/^[-._~]+/, '');
  return takeUniqueName(base || 'hook', takenNames, { separator: '-', lengthMax });
}

/** Members without which a webhook lets nobody in whom it should not let in. */
const OMITTABLE = ['response', 'allowedMethods'];

/**
 * Reports what else breaks the rules for webhooks, by those rules themselves. Returns the names of
 * members to leave out, so that the others of the document can be applied.
 */
function findInvalidMembers(members: JsonObject, report: HookReport): readonly string[] {
  try {
    const filledMembers = fillReferences(members);
    parseObject(incomingSchema, isJsonObject(filledMembers) ? filledMembers : {});
    return [];
  } catch (thrown) {
    report.lose(report.pointer, `no webhook can have this: ${messageOf(thrown)}`,
      'mend the hook, and convert it again');
    const errors = thrown instanceof AppError ? thrown.details.errors ?? [] : [];
    return OMITTABLE.filter((name) => errors.some(({ pointer }) => pointer.startsWith(`/${name}`)));
  }
}
