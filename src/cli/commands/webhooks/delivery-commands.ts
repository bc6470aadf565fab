/** `event:emit` and `delivery:*`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { isUuid } from '../../../base/uuid.ts';
import type { CommandContext } from '../command-context.ts';
import { readJsonOption, encodeWithPayload } from '../option-input.ts';
import { resolveId, parseObject, recordPath, formatCell } from '../resource-commands.ts';
import { buildFilterQuery, listPaged, printBody, joinHeaders } from './request-and-delivery.ts';
import { isBulk, runBulkAction } from './job-commands.ts';
import {
  deliveryResource, formatNextAttempt,
} from '../../../webhooks/deliveries/delivery-resource.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import type { ApiClient } from '../../api-client/api-client.ts';

export async function emitEvent(context: CommandContext): Promise<number> {
  const name = context.args.get('name');
  const { bytes } = await readJsonOption(context, 'payload');
  const apiClient = await context.openApiClient();
  const { body } = await apiClient.request({
    method: 'POST', path: '/api/events', body: encodeWithPayload({ name }, bytes),
  });
  const result = parseObject(body);
  const queued = formatQueued(result['deliveries']);
  await context.output.result(result, `emitted ${name}: ${queued} queued`);
  return 0;
}

export async function listDeliveries(context: CommandContext): Promise<number> {
  const webhookId = context.args.has('hook') ? await resolveOutgoingId(context) : null;
  const query = buildFilterQuery(context, webhookId);
  query.set('order', 'newest');
  return listPaged(context, deliveryResource, query);
}

export async function showDelivery(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const apiClient = await context.openApiClient();
  const path = recordPath(deliveryResource, await resolveId(context, deliveryResource));
  if (args.has('body')) return printBody(context, apiClient, path);
  const delivery = parseObject((await apiClient.request({ method: 'GET', path })).body);
  await output.object(output.isJson ? delivery : toReadable(delivery));
  return 0;
}

function toReadable({ waitsFor, ...delivery }: JsonObject): JsonObject {
  const { sent } = delivery;
  return {
    ...delivery, nextAttemptAt: formatNextAttempt({ ...delivery, waitsFor: waitsFor ?? null }),
    ...isJsonObject(sent) ? { sent: joinHeaders(sent) } : {},
  };
}

/** Sends one delivery again, or adds a job for many. */
export async function resendDelivery(context: CommandContext): Promise<number> {
  if (isBulk(context)) {
    return runBulkAction(context, {
      resource: deliveryResource, verb: 'resend', resolveWebhookId: resolveOutgoingId,
    });
  }
  const id = await resolveId(context, deliveryResource);
  const mode = context.args.find('as');
  const apiClient = await context.openApiClient();
  const { body } = await apiClient.request({
    method: 'POST', path: `${recordPath(deliveryResource, id)}/resend`,
    body: mode === undefined ? {} : { as: mode },
  });
  const delivery = parseObject(body);
  const sentId = formatCell(delivery['identifier']);
  const action = sentId === id ? `delivery ${id} will be sent again`
    : `delivery ${sentId}, a new one of the event of ${id}, will be sent`;
  await context.output.result(delivery, action + describeWait(delivery));
  return 0;
}

/** Retries one delivery, or every failed one. */
export async function retryDelivery(context: CommandContext): Promise<number> {
  const apiClient = await context.openApiClient();
  const { output, args } = context;
  if (!args.has('failed')) {
    const id = await resolveId(context, deliveryResource);
    const delivery = await postAction(apiClient, id, 'retry');
    await output.result(delivery, `delivery ${id} is due again${describeWait(delivery)}`);
    return 0;
  }
  const path = `${deliveryResource.path}/retry`;
  const { body } = await apiClient.request({ method: 'POST', path });
  const result = parseObject(body);
  const count = formatCell(result['retried']);
  const what = count === '1' ? 'delivery is' : 'deliveries are';
  await output.result(result, `${count} failed ${what} due again`);
  return 0;
}

export async function cancelDelivery(context: CommandContext): Promise<number> {
  const id = await resolveId(context, deliveryResource);
  const delivery = await postAction(await context.openApiClient(), id, 'cancel');
  await context.output.result(delivery, `cancelled delivery ${id}`);
  return 0;
}

/** Exit code 1 when something does not add up. */
export async function reconcileDeliveries(context: CommandContext): Promise<number> {
  const apiClient = await context.openApiClient();
  const path = '/api/deliveries/reconcile';
  const result = parseObject((await apiClient.request({ method: 'GET', path })).body);
  await context.output.object(result);
  return result['isReconciled'] === false ? 1 : 0;
}

/** A removed webhook can be named only by its whole identifier. Throws `not_found`. */
async function resolveOutgoingId(context: CommandContext): Promise<string> {
  const webhookId = await resolveId(context, outgoingResource, 'hook');
  if (isUuid(webhookId)) return webhookId;
  throw new AppError('not_found', `there is no outgoing webhook ${JSON.stringify(webhookId)}; `
    + 'see hookshelf outgoingwebhook:list');
}

function describeWait({ waitsFor }: JsonObject): string {
  return waitsFor === 'webhook' ? ' once its webhook is enabled' : '';
}

async function postAction(
  apiClient: ApiClient, id: string, verb: 'retry' | 'cancel',
): Promise<JsonObject> {
  const path = `${recordPath(deliveryResource, id)}/${verb}`;
  const { body } = await apiClient.request({ method: 'POST', path });
  return parseObject(body);
}

function formatQueued(deliveries: unknown): string {
  const count = formatCount(deliveries);
  return count === '1' ? '1 delivery' : `${count} deliveries`;
}

function formatCount(value: unknown): string {
  return Array.isArray(value) ? String(value.length) : formatCell(value ?? 0);
}
