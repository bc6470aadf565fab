/** The commands `outgoingwebhook:*`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readBodyWithPayload } from '../option-input.ts';
import {
  pickDefined, readMembers, readTextMembers, readUnsetMembers, requireChange,
} from '../option-members.ts';
import {
  createRecord, deleteRecord, formatValue, parseObject, patchRecord, recordPath, replaceRecord,
  resolveId,
} from '../resource-commands.ts';
import type { SecretShape } from '../../../webhooks/members/new-secret.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { chooseOutgoingSecretShape } from '../../../webhooks/outgoing/signing-member.ts';
import { EVENT_TERMS, isDelayed, readEventTerms } from './event-terms.ts';
import { runBulkAction } from './job-commands.ts';
import { describeWait } from './request-and-delivery.ts';
import {
  hasSecretOption, printWebhook, readNewSecret, requireSecretShape, rotateSecret, setEnabled,
  toSecretMember,
} from './webhook-changes.ts';
import type { WebhookKind } from './webhook-changes.ts';
import { WEBHOOK_READERS } from './webhook-members.ts';

// The limit of the service.
const RETRIES_MAX = 10;

const OUTGOING: WebhookKind = {
  resource: outgoingResource,
  resolveId: (context) => resolveId(context, outgoingResource),
  resolveAddress: async (_, { httpMethod, targetUrl }) =>
    `${formatValue(httpMethod)} ${formatValue(targetUrl)}`,
};

export async function createOutgoing(context: CommandContext): Promise<number> {
  const members = await readMembers(context, outgoingResource.schema, WEBHOOK_READERS);
  const secret = await readNewSecret(context, () => getSecretShape(members));
  const body = { ...members, ...toSecretMember(secret) };
  const webhook = await createRecord(context, outgoingResource, body);
  await printWebhook(context, OUTGOING, 'created', webhook, secret);
  return 0;
}

export async function updateOutgoing(context: CommandContext): Promise<number> {
  const changes: JsonObject = {
    ...readUnsetMembers(context, outgoingResource.schema),
    ...await readMembers(context, outgoingResource.schema, WEBHOOK_READERS),
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
