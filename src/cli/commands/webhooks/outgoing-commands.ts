/** The commands `outgoingwebhook:*`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import { isSecretName } from '../../../base/log.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import {
  readBodyWithPayload, readJsonOption, readPlainOption, readTextOption, readUrlOption,
} from '../option-input.ts';
import {
  pickDefined, readTextMembers, readUnsetMembers, requireChange,
} from '../option-members.ts';
import {
  createRecord, deleteRecord, formatValue, listPath, listRecords, parseObject, patchRecord,
  recordPath, replaceRecord, resolveId,
} from '../resource-commands.ts';
import { DEFAULT_CONTENT_TYPE } from '../../../webhooks/members/target-rules.ts';
import { isJsonType } from '../../../webhooks/members/templates/content-type.ts';
import { parseTemplateJson } from '../../../webhooks/members/templates/json-template.ts';
import type { SecretShape } from '../../../webhooks/members/new-secret.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { chooseOutgoingSecretShape } from '../../../webhooks/outgoing/signing-member.ts';
import { readClientCertificate } from './client-certificate.ts';
import { readRate, readRetryOn } from './delivery-rules.ts';
import { EVENT_TERMS, isDelayed, readEventTerms } from './event-terms.ts';
import { parseHeaderLine } from './header-line.ts';
import { runBulkAction } from './job-commands.ts';
import { describeWait } from './request-and-delivery.ts';
import {
  hasSecretOption, printWebhook, readNewSecret, readOrder, requireSecretShape, rotateSecret,
  setEnabled, toSecretMember,
} from './webhook-changes.ts';
import type { WebhookKind } from './webhook-changes.ts';

// The limit of the service.
const RETRIES_MAX = 10;

const TEXT_OPTIONS = [
  'name', 'description', 'http-method', 'action-config', 'content-type', 'format',
];

const OUTGOING: WebhookKind = {
  resource: outgoingResource,
  resolveId: (context) => resolveId(context, outgoingResource),
  resolveAddress: async (_, { httpMethod, targetUrl }) =>
    `${formatValue(httpMethod)} ${formatValue(targetUrl)}`,
};

export async function listOutgoing(context: CommandContext): Promise<number> {
  return listRecords(context, outgoingResource, listPath(context, outgoingResource));
}

export async function createOutgoing(context: CommandContext): Promise<number> {
  const members = await readOutgoingMembers(context, DEFAULT_CONTENT_TYPE);
  const secret = await readNewSecret(context, () => getSecretShape(members));
  const body = {
    ...members, ...toSecretMember(secret), enabled: !context.args.has('disabled'),
  };
  const webhook = await createRecord(context, outgoingResource, body);
  await printWebhook(context, OUTGOING, 'created', webhook, secret);
  return 0;
}

export async function updateOutgoing(context: CommandContext): Promise<number> {
  const unset = readUnsetMembers(context);
  const triggers = readTriggers(context);
  // The webhook may have either of the two members: both are replaced.
  const clearedTriggers = Object.keys(triggers).length === 0 ? {}
    : { triggerEvent: null, triggerEvents: null };
  const changes: JsonObject = {
    ...unset, ...clearedTriggers, ...await readOutgoingMembers(context, null),
  };
  if (!hasSecretOption(context)) requireChange(context, changes);
  const identifier = await resolveId(context, outgoingResource);
  const current = context.args.has('generate-secret')
    ? await fetchOutgoing(context, identifier) : {};
  const secret = await readNewSecret(context, () => getSecretShape({ ...current, ...changes }));
  const body = { ...changes, ...toSecretMember(secret) };
  // A merge patch would mix the new condition, or signing, with the stored one.
  const isReplaced = [body['when'], body['successWhen'], body['signing']].some(isJsonObject);
  const webhook = isReplaced
    ? await replaceRecord(context, outgoingResource, identifier,
      (stored) => ({ ...stored, ...body }))
    : await patchRecord(context, outgoingResource, identifier, body);
  await printWebhook(context, OUTGOING, 'updated', webhook, secret);
  return 0;
}

export async function enableOutgoing(context: CommandContext): Promise<number> {
  return setEnabled(context, OUTGOING, true);
}

export async function disableOutgoing(context: CommandContext): Promise<number> {
  await setEnabled(context, OUTGOING, false);
  const { output } = context;
  if (!output.isJson) {
    await output.line('its pending deliveries wait until it is enabled; '
      + 'an event until then makes no delivery for it, but outgoingwebhook:backfill can');
  }
  return 0;
}

export async function deleteOutgoing(context: CommandContext): Promise<number> {
  return deleteRecord(context, outgoingResource);
}

/**
 * Sends one request and prints the result; exit code 1 when it was no success. With --durable it
 * makes a delivery, which is sent in the background.
 */
export async function sendOutgoing(context: CommandContext): Promise<number> {
  if (context.args.has('durable')) return sendDurably(context);
  const durableOption = ['event', ...EVENT_TERMS].find((name) =>
    context.args.has(name));
  if (durableOption !== undefined) {
    throw new AppError('usage', `--${durableOption} goes with --durable: without it one request `
      + 'is sent now');
  }
  const members = pickDefined({ retries: context.args.integer('retries', 0, RETRIES_MAX) });
  const payload = context.args.has('payload')
    ? await readBodyWithPayload(context, members) : members;
  const apiClient = await context.openApiClient();
  const path = `${recordPath(outgoingResource, await resolveId(context, outgoingResource))}/send`;
  const { body } = await apiClient.request({ method: 'POST', path, body: payload });
  const result = parseObject(body);
  await context.output.object(result);
  return result['success'] === true ? 0 : 1;
}

async function sendDurably(context: CommandContext): Promise<number> {
  if (context.args.has('retries')) {
    throw new AppError('usage', '--retries is for one request that is sent now; with --durable the '
      + 'retry schedule of the webhook holds');
  }
  const members = { ...readTextMembers(context, ['event']), ...readEventTerms(context) };
  const body = await readBodyWithPayload(context, members);
  const apiClient = await context.openApiClient();
  const id = await resolveId(context, outgoingResource);
  const response = await apiClient.request({
    method: 'POST', path: `${recordPath(outgoingResource, id)}/deliveries`, body,
  });
  const delivery = parseObject(response.body);
  const at = isDelayed(context) ? ` at ${formatValue(delivery['nextAttemptAt'])}` : '';
  await context.output.result(delivery,
    `delivery ${formatValue(delivery['identifier'])} will be sent${at}${describeWait(delivery)}`);
  return 0;
}

/** Sends a webhook the events that it has missed, by a job. */
export async function backfillOutgoing(context: CommandContext): Promise<number> {
  const filter = readTextMembers(context, ['since', 'until', 'name']);
  const path = recordPath(outgoingResource, await resolveId(context, outgoingResource));
  return runBulkAction(context, {
    resource: { path, noun: 'event', plural: 'events' }, verb: 'backfill', filter,
  });
}

export async function rotateOutgoing(context: CommandContext): Promise<number> {
  return rotateSecret(context, OUTGOING);
}

/** The shape of a secret to be generated. Throws `usage` where the key has to be made elsewhere. */
function getSecretShape(webhook: JsonObject): SecretShape {
  return requireSecretShape(chooseOutgoingSecretShape(webhook));
}

async function fetchOutgoing(context: CommandContext, identifier: string): Promise<JsonObject> {
  const apiClient = await context.openApiClient();
  const path = recordPath(outgoingResource, identifier);
  return parseObject((await apiClient.request({ method: 'GET', path })).body);
}

/** `storedType` is the type of the webhook's bodies; null: it is not known here. */
async function readOutgoingMembers(
  context: CommandContext, storedType: string | null,
): Promise<JsonObject> {
  const { args } = context;
  const contentType = args.find('content-type') ?? storedType;
  return {
    ...readTextMembers(context, TEXT_OPTIONS),
    ...readTriggers(context),
    ...pickDefined({
      targetUrl: args.has('target-url') ? await readTargetUrl(context) : undefined,
      headers: await readHeaders(context),
      payloadTemplate: args.has('payload-template')
        ? await readTemplate(context, contentType) : undefined,
      when: args.has('when') ? await readCondition(context, 'when') : undefined,
      retrySchedule: args.numbers('retry-schedule'),
      retryOn: await readRetryOn(context),
      successWhen: args.has('success-when')
        ? await readCondition(context, 'success-when') : undefined,
      timeout: args.number('timeout'),
      order: readOrder(context),
      maxInFlight: args.number('max-in-flight'),
      rate: await readRate(context),
      disableAfterHours: args.number('disable-after-hours'),
      probe: args.has('probe') ? true : undefined,
      oauth2: args.has('oauth2') ? await readOauth2(context) : undefined,
      clientCertificate: args.has('client-certificate')
        ? await readClientCertificate(context) : undefined,
      signing: args.has('signing') ? await readSigning(context) : undefined,
    }),
  };
}

function readTriggers({ args }: CommandContext): JsonObject {
  const events = args.all('trigger-event');
  const [only] = events;
  if (only === undefined) return {};
  return events.length === 1 ? { triggerEvent: only } : { triggerEvents: events };
}

/**
 * Reads a template as it is. One of JSON is parsed for its errors; of a type that is not known here
 * the service checks it.
 */
async function readTemplate(
  context: CommandContext, contentType: string | null,
): Promise<string> {
  if (contentType === null || !isJsonType(contentType)) {
    return readPlainOption(context, 'payload-template');
  }
  const { bytes } = await readJsonOption(context, 'payload-template',
    { inlineSecrets: 'accepted', parse: parseTemplateJson });
  return bytes.toString('utf8');
}

async function readCondition(
  context: CommandContext, option: 'when' | 'success-when',
): Promise<JsonObject> {
  const { value } = await readJsonOption(context, option, { inlineSecrets: 'accepted' });
  if (!isJsonObject(value)) throw new AppError('usage', `--${option} is not a JSON object`);
  return value;
}

async function readOauth2(context: CommandContext): Promise<JsonObject> {
  const { value } = await readJsonOption(context, 'oauth2',
    { inlineSecrets: 'rejected', exceptMember: 'tokenUrl' });
  if (!isJsonObject(value)) throw new AppError('usage', '--oauth2 is not a JSON object');
  return value;
}

async function readSigning(context: CommandContext): Promise<JsonObject> {
  const { value } = await readJsonOption(context, 'signing',
    { inlineSecrets: 'rejected', exceptMember: 'scheme' });
  if (isJsonObject(value)) return value;
  throw new AppError('usage', '--signing is not a JSON object, such as {"preset":"github"}');
}

/** Reads the URL from the command line, or from a file when it holds a password or a token. */
async function readTargetUrl(context: CommandContext): Promise<string> {
  return (await readUrlOption(context, 'target-url')).trim();
}

/**
 * Combines `--headers-file` and `--header`; undefined without either. Throws `usage` for a header
 * that stands twice, or whose value may be a secret that other users could see.
 */
async function readHeaders(context: CommandContext): Promise<JsonObject | undefined> {
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
  return headers.length === 0 ? undefined : Object.fromEntries(headers);
}

/** Parses a JSON object, or one header a line. */
function parseHeadersFile(text: string): (readonly [name: string, value: JsonValue])[] {
  if (!text.trimStart().startsWith('{')) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    return lines.map((line) => parseHeaderLine(line, '--headers-file'));
  }
  try {
    const headers = parseJson(Buffer.from(text));
    if (isJsonObject(headers)) {
      // Objects are passed on: the service rejects them and names the header.
      return Object.entries(headers).map(([name, value]) =>
        [name, typeof value === 'object' ? value : String(value)]);
    }
  } catch {
    // The message of JSON.parse would show a piece of the file: another is thrown below.
  }
  throw new AppError('usage', '--headers-file is not a JSON object of names and values');
}
