/**
 * The commands `event:emit` and `delivery:*`, but those that follow from their routes. Three of
 * `delivery:*` change deliveries:
 * - `delivery:retry` makes one that is pending or has failed due at once, or all that have failed.
 *   The attempts that follow are those of its retry schedule, from the beginning.
 * - `delivery:resend` does so for one in any state, also one that was delivered or cancelled; with
 *   `--as new` it makes a new delivery of the same event instead. For many, a job does it.
 * - `delivery:cancel` ends one that is pending, and gives up one that has failed. For many, a job
 *   does it.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readBodyWithPayload } from '../option-input.ts';
import { readTextMembers } from '../option-members.ts';
import {
  fetchObject, formatValue, listRecords, recordPath, requestObject, resolveHook, resolveId,
  resolvePath,
} from '../resource-commands.ts';
import { describeWait, printBody, joinHeaders } from './request-and-delivery.ts';
import { isDelayed, readEventTerms } from './event-terms.ts';
import { DUE_DELIVERIES, parseSelection, readFilter, runBulkAction } from './job-commands.ts';
import {
  deliveryResource, explainAttempts, formatNextAttempt,
} from '../../../webhooks/deliveries/delivery-resource.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';

export async function emitEvent(context: CommandContext): Promise<void> {
  const name = context.args.get('name');
  const event = await readBodyWithPayload(context, { name, ...readEventTerms(context) });
  const result =
    await requestObject(context, { method: 'POST', path: '/api/events', body: event });
  const isLater = isDelayed(context) && formatCount(result['deliveries']) === '0';
  await context.output.result(result, isLater
    ? `${name} will be emitted later, as event ${formatValue(result['event'])}`
    : `emitted ${name}: ${formatQueued(result['deliveries'])} queued`);
}

export async function listDeliveries(context: CommandContext): Promise<void> {
  // The server finds the webhook by its name: of a route it is an incoming one.
  const hook = context.args.has('kind') ? undefined : await resolveHook(context, outgoingResource);
  return listRecords(context, deliveryResource, { order: 'newest', hook });
}

export async function showDelivery(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const path = await resolvePath(context, deliveryResource);
  if (args.has('body')) return printBody(context, path);
  const delivery = await fetchObject(context, path);
  await output.object(output.isJson ? delivery : toReadable(delivery));
}

function toReadable({ waitsFor, ...delivery }: JsonObject): JsonObject {
  const { sent } = delivery;
  return {
    ...delivery, attempts: explainAttempts(delivery['attempts']),
    nextAttemptAt: formatNextAttempt({ ...delivery, waitsFor: waitsFor ?? null }),
    ...isJsonObject(sent) ? { sent: joinHeaders(sent) } : {},
  };
}

/** Sends one delivery again, or adds a job that does it for many. */
export async function resendDelivery(context: CommandContext): Promise<number> {
  if (parseSelection(context) === 'many') return changeMany(context, 'resend');
  const id = await resolveId(context, deliveryResource);
  const delivery = await requestObject(context, {
    method: 'POST', path: `${recordPath(deliveryResource, id)}/resend`,
    body: readTextMembers(context, ['as']),
  });
  const dueId = formatValue(delivery['identifier']);
  const action = dueId === id ? `delivery ${id} will be sent again`
    : `delivery ${dueId}, a new one of the event of ${id}, will be sent`;
  await context.output.result(delivery, action + describeWait(delivery));
  return 0;
}

/** Cancels one delivery, or adds a job that does it for many. */
export async function cancelDelivery(context: CommandContext): Promise<number> {
  if (parseSelection(context) === 'many') return changeMany(context, 'cancel');
  const id = await resolveId(context, deliveryResource);
  const path = `${recordPath(deliveryResource, id)}/cancel`;
  const delivery = await requestObject(context, { method: 'POST', path });
  await context.output.result(delivery, `cancelled delivery ${id}`);
  return 0;
}

async function changeMany(context: CommandContext, verb: 'resend' | 'cancel'): Promise<number> {
  const webhookId = await resolveHook(context, outgoingResource);
  const filter = readFilter(context, webhookId);
  const remainder = verb === 'resend' ? DUE_DELIVERIES : null;
  return runBulkAction(context, { resource: deliveryResource, verb, filter, remainder });
}

/** Makes one delivery due at once, or every failed one, within the request: no job does it. */
export async function retryDelivery(context: CommandContext): Promise<void> {
  const { output, args } = context;
  if (!args.has('failed')) {
    const id = await resolveId(context, deliveryResource);
    const path = `${recordPath(deliveryResource, id)}/retry`;
    const delivery = await requestObject(context, { method: 'POST', path });
    await output.result(delivery, `delivery ${id} is due again${describeWait(delivery)}`);
    // Before the first attempt no body has been made.
    const { attempts } = delivery;
    if (Array.isArray(attempts) && attempts.length > 0) {
      output.note('its body is the same as before; for one that its webhook makes anew: '
        + `hookshelf delivery:cancel ${id}, then hookshelf delivery:resend ${id} --as new`);
    }
    return;
  }
  const path = `${deliveryResource.path}/retry`;
  const result = await requestObject(context, { method: 'POST', path });
  const count = formatValue(result['retried']);
  const what = count === '1' ? 'delivery is' : 'deliveries are';
  await output.result(result, `${count} failed ${what} due again`);
}

function formatQueued(deliveries: unknown): string {
  const count = formatCount(deliveries);
  return count === '1' ? '1 delivery' : `${count} deliveries`;
}

function formatCount(value: unknown): string {
  return Array.isArray(value) ? String(value.length) : formatValue(value ?? 0);
}
