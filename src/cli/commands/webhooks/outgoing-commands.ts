/** `outgoingwebhook:*`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import { isSecretName } from '../../../base/log.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import {
  readJsonOption, readUrlOption, readTextOption, rejectInlineSecret, encodeWithPayload,
} from '../option-input.ts';
import {
  createRecord, deleteRecord, formatCell, formatNameAndId, listPath, listRecords, parseObject,
  patchRecord, readUnsetMembers, recordPath, replaceRecord, requireChange, resolveId,
} from '../resource-commands.ts';
import { parseTemplateJson } from '../../../webhooks/outgoing/payload-template.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { readNewSecret, rotateSecret } from './webhook-secret.ts';
import type { NewSecret } from './webhook-secret.ts';
import { parseHeaderLine } from './header-line.ts';

// The limit of the service.
const RETRIES_MAX = 10;

const UNSET_MEMBERS = {
  'payload-template': 'payloadTemplate', 'trigger-event': ['triggerEvent', 'triggerEvents'],
  'action-config': 'actionConfiguration', 'retry-schedule': 'retrySchedule',
  'max-in-flight': 'maxInFlight', 'disable-after-hours': 'disableAfterHours',
};

export async function listOutgoing(context: CommandContext): Promise<number> {
  return listRecords(context, outgoingResource, listPath(context, outgoingResource));
}

export async function createOutgoing(context: CommandContext): Promise<number> {
  const secret = await readNewSecret(context, () => 'whsec');
  const body = {
    ...await readOutgoingMembers(context, secret), enabled: !context.args.has('disabled'),
  };
  const webhook = await createRecord(context, outgoingResource, body);
  await printChanged(context, 'created', webhook, secret);
  return 0;
}

export async function updateOutgoing(context: CommandContext): Promise<number> {
  const unset = readUnsetMembers(context, UNSET_MEMBERS);
  const secret = await readNewSecret(context, () => 'whsec');
  const triggers = readTriggers(context);
  // The webhook may have either of the two members: both are replaced.
  const clearedTriggers = Object.keys(triggers).length === 0 ? {}
    : { triggerEvent: null, triggerEvents: null };
  const body: JsonObject = {
    ...unset, ...clearedTriggers, ...await readOutgoingMembers(context, secret),
  };
  requireChange(context, body);
  const identifier = await resolveId(context, outgoingResource);
  // A merge patch would mix the new condition with the stored one.
  const webhook = body['when'] === undefined || body['when'] === null
    ? await patchRecord(context, outgoingResource, identifier, body)
    : await replaceRecord(context, outgoingResource, identifier,
      (current) => ({ ...current, ...body }));
  await printChanged(context, 'updated', webhook, secret);
  return 0;
}

export async function enableOutgoing(context: CommandContext): Promise<number> {
  return setEnabled(context, true);
}

export async function disableOutgoing(context: CommandContext): Promise<number> {
  return setEnabled(context, false);
}

export async function deleteOutgoing(context: CommandContext): Promise<number> {
  return deleteRecord(context, outgoingResource);
}

/** Sends one request and prints the result; exit code 1 when it was no success. */
export async function sendOutgoing(context: CommandContext): Promise<number> {
  const retries = context.args.integer('retries', 0, RETRIES_MAX);
  const members = retries === undefined ? {} : { retries };
  const payload = context.args.has('payload')
    ? encodeWithPayload(members, (await readJsonOption(context, 'payload')).bytes) : members;
  const apiClient = await context.openApiClient();
  const path = `${recordPath(outgoingResource, await resolveId(context, outgoingResource))}/send`;
  const { body } = await apiClient.request({ method: 'POST', path, body: payload });
  const result = parseObject(body);
  await context.output.object(result);
  return result['success'] === true ? 0 : 1;
}

export async function rotateOutgoing(context: CommandContext): Promise<number> {
  return rotateSecret(context, outgoingResource, await resolveId(context, outgoingResource));
}

async function setEnabled(context: CommandContext, enabled: boolean): Promise<number> {
  const identifier = await resolveId(context, outgoingResource);
  const webhook = await patchRecord(context, outgoingResource, identifier, { enabled });
  await printChanged(context, enabled ? 'enabled' : 'disabled', webhook, null);
  const { output } = context;
  if (!enabled && !output.isJson) {
    await output.line('its pending deliveries wait until it is enabled; '
      + 'an event until then makes no delivery for it');
  }
  return 0;
}

async function readOutgoingMembers(
  context: CommandContext, secret: NewSecret | null,
): Promise<JsonObject> {
  const { args } = context;
  const optionMember = (name: string, option: string): JsonObject => {
    const value = args.find(option);
    return value === undefined ? {} : { [name]: value };
  };
  return {
    ...args.has('target-url') ? { targetUrl: await readTargetUrl(context) } : {},
    ...optionMember('name', 'name'), ...optionMember('description', 'description'),
    ...optionMember('httpMethod', 'http-method'),
    ...await readHeaders(context),
    ...args.has('payload-template') ? { payloadTemplate: await readTemplate(context) } : {},
    ...readTriggers(context),
    ...args.has('when') ? { when: await readCondition(context) } : {},
    ...optionMember('actionConfiguration', 'action-config'),
    ...readNumbers(context),
    ...secret === null ? {} : { secret: secret.secret },
  };
}

function readTriggers({ args }: CommandContext): JsonObject {
  const events = args.all('trigger-event');
  const [only] = events;
  if (only === undefined) return {};
  return events.length === 1 ? { triggerEvent: only } : { triggerEvents: events };
}

// The text of a template counts, not only its JSON value: it is sent as it is.
async function readTemplate(context: CommandContext): Promise<string> {
  const { bytes } = await readJsonOption(context, 'payload-template', parseTemplateJson);
  return bytes.toString('utf8');
}

async function readCondition(context: CommandContext): Promise<JsonObject> {
  const { value } = await readJsonOption(context, 'when');
  if (!isJsonObject(value)) throw new AppError('usage', '--when is not a JSON object');
  return value;
}

function readNumbers({ args }: CommandContext): JsonObject {
  const members = {
    retrySchedule: args.numbers('retry-schedule'), timeout: args.number('timeout'),
    maxInFlight: args.number('max-in-flight'),
    disableAfterHours: args.number('disable-after-hours'),
  };
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]));
}

/** Reads the URL from the command line, or from a file when it holds a password or a token. */
async function readTargetUrl(context: CommandContext): Promise<string> {
  rejectInlineSecret(context, 'target-url', context.args.get('target-url'));
  return (await readUrlOption(context, 'target-url')).trim();
}

async function readHeaders(context: CommandContext): Promise<JsonObject> {
  const { args } = context;
  const optionHeaders = args.all('header').map((line) => parseHeaderLine(line, '--header'));
  const secretName = optionHeaders.find(([name]) => isSecretName(name))?.[0];
  if (secretName !== undefined) {
    throw new AppError('usage', `--header ${secretName} may be a secret, which other users could `
      + 'see in the process list; write it to a file and give --headers-file <file>');
  }
  const fileHeaders = args.has('headers-file')
    ? parseHeadersFile(await readTextOption(context, 'headers-file')) : [];
  const headers = [...fileHeaders, ...optionHeaders];
  const names = headers.map(([name]) => name.toLowerCase());
  const twice = headers.find(([name], index) => names.indexOf(name.toLowerCase()) < index)?.[0];
  if (twice !== undefined) throw new AppError('usage', `the header ${twice} stands twice`);
  return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) };
}

/** Parses a JSON object, or one header a line. */
function parseHeadersFile(text: string): (readonly [name: string, value: JsonValue])[] {
  if (!text.trimStart().startsWith('{')) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    return lines.map((line) => parseHeaderLine(line, '--headers-file'));
  }
  try {
    const parsed = parseJson(Buffer.from(text));
    if (isJsonObject(parsed)) {
      // Objects are passed on: the service rejects them and names the header.
      return Object.entries(parsed).map(([name, value]) =>
        [name, typeof value === 'object' ? value : String(value)]);
    }
  } catch {
    // The message of JSON.parse would show a piece of the file: another is thrown below.
  }
  throw new AppError('usage', '--headers-file is not a JSON object of names and values');
}

async function printChanged(
  { output }: CommandContext, verb: string, webhook: JsonObject, secret: NewSecret | null,
): Promise<void> {
  const secretMember = secret?.isGenerated === true ? { secret: secret.secret } : {};
  if (output.isJson) return output.json({ ...webhook, ...secretMember });
  const { httpMethod, targetUrl } = webhook;
  const target = `${formatCell(httpMethod)} ${formatCell(targetUrl)}`;
  await output.line(`${verb} outgoing webhook ${formatNameAndId(webhook)}: ${target}`);
  if (secretMember.secret === undefined) return;
  await output.line(`secret (shown this once): ${secretMember.secret}`);
}
