/** `outgoingwebhook:*`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import { isSecretName } from '../../../base/log.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../context.ts';
import {
  readJsonOption, readNamedText, readTextOption, refuseSecretInPlace, withPayload,
} from '../input.ts';
import {
  create, identifierOf, list, nameAndId, objectOf, patch, pathOf, pathOfList, remove, replace,
  requireChange, textOf, unsetMembers,
} from '../resource.ts';
import { parseTemplateJson } from '../../../webhooks/outgoing/template.ts';
import { outgoingResource } from '../../../webhooks/outgoing/resource.ts';
import { readSecret, rotateSecret } from '../secret.ts';
import type { GivenSecret } from '../secret.ts';
import { headerOf } from './header-line.ts';

// As many as the service takes.
const RETRIES_MAX = 10;

const UNSET_MEMBERS = {
  'payload-template': 'payloadTemplate', 'trigger-event': ['triggerEvent', 'triggerEvents'],
  'action-config': 'actionConfiguration', 'retry-schedule': 'retrySchedule',
  'max-in-flight': 'maxInFlight', 'disable-after-hours': 'disableAfterHours',
};

export async function listOutgoing(context: CommandContext): Promise<number> {
  return list(context, outgoingResource, pathOfList(context, outgoingResource));
}

export async function createOutgoing(context: CommandContext): Promise<number> {
  const secret = await readSecret(context, () => 'whsec');
  const body = {
    ...await membersOf(context, secret), enabled: !context.given.has('disabled'),
  };
  await printChanged(context, 'created', await create(context, outgoingResource, body), secret);
  return 0;
}

export async function updateOutgoing(context: CommandContext): Promise<number> {
  const removed = unsetMembers(context, UNSET_MEMBERS);
  const secret = await readSecret(context, () => 'whsec');
  const triggers = triggersOf(context);
  // The webhook may have the other of the two members.
  const other = Object.keys(triggers).length === 0 ? {}
    : { triggerEvent: null, triggerEvents: null };
  const body: JsonObject = { ...removed, ...other, ...await membersOf(context, secret) };
  requireChange(context, body);
  const identifier = await identifierOf(context, outgoingResource);
  // A merge patch would mix a condition with the one that is stored.
  const hook = body['when'] === undefined || body['when'] === null
    ? await patch(context, outgoingResource, identifier, body)
    : await replace(context, outgoingResource, identifier, (current) => ({ ...current, ...body }));
  await printChanged(context, 'updated', hook, secret);
  return 0;
}

export async function enableOutgoing(context: CommandContext): Promise<number> {
  return setEnabled(context, true);
}

export async function disableOutgoing(context: CommandContext): Promise<number> {
  return setEnabled(context, false);
}

export async function deleteOutgoing(context: CommandContext): Promise<number> {
  return remove(context, outgoingResource);
}

/** Prints what came of it; exit code 1 when it was not successful. */
export async function sendOutgoing(context: CommandContext): Promise<number> {
  const retries = context.given.integer('retries', 0, RETRIES_MAX);
  const members = retries === undefined ? {} : { retries };
  const payload = context.given.has('payload')
    ? withPayload(members, (await readJsonOption(context, 'payload')).bytes) : members;
  const session = await context.openSession();
  const path = `${pathOf(outgoingResource, await identifierOf(context, outgoingResource))}/send`;
  const { body } = await session.request({ method: 'POST', path, body: payload });
  const result = objectOf(body);
  await context.output.object(result);
  return result['success'] === true ? 0 : 1;
}

export async function rotateOutgoing(context: CommandContext): Promise<number> {
  return rotateSecret(context, outgoingResource, await identifierOf(context, outgoingResource));
}

async function setEnabled(context: CommandContext, enabled: boolean): Promise<number> {
  const identifier = await identifierOf(context, outgoingResource);
  const hook = await patch(context, outgoingResource, identifier, { enabled });
  await printChanged(context, enabled ? 'enabled' : 'disabled', hook, null);
  const { output } = context;
  if (!enabled && !output.isJson) {
    await output.line('its pending deliveries wait until it is enabled; '
      + 'an event until then makes no delivery for it');
  }
  return 0;
}

async function membersOf(
  context: CommandContext, secret: GivenSecret | null,
): Promise<JsonObject> {
  const { given } = context;
  const member = (name: string, option: string): JsonObject => {
    const value = given.find(option);
    return value === undefined ? {} : { [name]: value };
  };
  return {
    ...given.has('target-url') ? { targetUrl: await readTargetUrl(context) } : {},
    ...member('name', 'name'), ...member('description', 'description'),
    ...member('httpMethod', 'http-method'),
    ...await readHeaders(context),
    ...given.has('payload-template') ? { payloadTemplate: await readTemplate(context) } : {},
    ...triggersOf(context),
    ...given.has('when') ? { when: await readCondition(context) } : {},
    ...member('actionConfiguration', 'action-config'),
    ...numbersOf(context),
    ...secret === null ? {} : { secret: secret.secret },
  };
}

function triggersOf({ given }: CommandContext): JsonObject {
  const events = given.all('trigger-event');
  const [only] = events;
  if (only === undefined) return {};
  return events.length === 1 ? { triggerEvent: only } : { triggerEvents: events };
}

// Its text is kept as it stands: a template is JSON, but more than its value.
async function readTemplate(context: CommandContext): Promise<string> {
  const { bytes } = await readJsonOption(context, 'payload-template', parseTemplateJson);
  return bytes.toString('utf8');
}

async function readCondition(context: CommandContext): Promise<JsonObject> {
  const { value } = await readJsonOption(context, 'when');
  if (!isJsonObject(value)) throw new AppError('usage', '--when is not a JSON object');
  return value;
}

function numbersOf({ given }: CommandContext): JsonObject {
  const members = {
    retrySchedule: given.numbers('retry-schedule'), timeout: given.number('timeout'),
    maxInFlight: given.number('max-in-flight'),
    disableAfterHours: given.number('disable-after-hours'),
  };
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]));
}

/** In place, or from a file when it holds a password or a token. */
async function readTargetUrl(context: CommandContext): Promise<string> {
  refuseSecretInPlace(context, 'target-url', context.given.get('target-url'));
  return (await readNamedText(context, 'target-url')).trim();
}

async function readHeaders(context: CommandContext): Promise<JsonObject> {
  const { given } = context;
  const plain = given.all('header').map((line) => headerOf(line, '--header'));
  const secretName = plain.find(([name]) => isSecretName(name))?.[0];
  if (secretName !== undefined) {
    throw new AppError('usage', `--header ${secretName} may be a secret, which other users could `
      + 'see in the process list; write it to a file and give --headers-file <file>');
  }
  const fromFile = given.has('headers-file')
    ? headersOf(await readTextOption(context, 'headers-file')) : [];
  const headers = [...fromFile, ...plain];
  const names = headers.map(([name]) => name.toLowerCase());
  const twice = headers.find(([name], index) => names.indexOf(name.toLowerCase()) < index)?.[0];
  if (twice !== undefined) throw new AppError('usage', `the header ${twice} stands twice`);
  return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) };
}

/** A JSON object, or a header a line. */
function headersOf(text: string): (readonly [name: string, value: JsonValue])[] {
  if (!text.trimStart().startsWith('{')) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    return lines.map((line) => headerOf(line, '--headers-file'));
  }
  try {
    const parsed = parseJson(Buffer.from(text));
    if (isJsonObject(parsed)) {
      // What is no text of any kind is left for the service to refuse by its name.
      return Object.entries(parsed).map(([name, value]) =>
        [name, typeof value === 'object' ? value : String(value)]);
    }
  } catch {
    // Said below: the engine's own message would show a piece of the file.
  }
  throw new AppError('usage', '--headers-file is not a JSON object of names and values');
}

async function printChanged(
  { output }: CommandContext, verb: string, hook: JsonObject, secret: GivenSecret | null,
): Promise<void> {
  const made = secret?.isGenerated === true ? { secret: secret.secret } : {};
  if (output.isJson) return output.json({ ...hook, ...made });
  const { httpMethod, targetUrl } = hook;
  const target = `${textOf(httpMethod)} ${textOf(targetUrl)}`;
  await output.line(`${verb} outgoing webhook ${nameAndId(hook)}: ${target}`);
  if (made.secret !== undefined) await output.line(`secret (shown this once): ${made.secret}`);
}
