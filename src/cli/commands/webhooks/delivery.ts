/** `event:emit` and `delivery:*`. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { isUuid } from '../../../base/uuid.ts';
import type { CommandContext } from '../context.ts';
import { readJsonOption, withPayload } from '../input.ts';
import { identifierOf, objectOf, pathOf, textOf } from '../resource.ts';
import { filterQuery, listWork, printBody, withReadableHeaders } from '../work.ts';
import { isBulk, runBulk } from './job.ts';
import { deliveryResource, formatNextAttempt } from '../../../webhooks/deliveries/resource.ts';
import { outgoingResource } from '../../../webhooks/outgoing/resource.ts';
import type { Session } from '../../session/session.ts';

export async function emitEvent(context: CommandContext): Promise<number> {
  const name = context.given.get('name');
  const { bytes } = await readJsonOption(context, 'payload');
  const session = await context.openSession();
  const { body } = await session.request({
    method: 'POST', path: '/api/events', body: withPayload({ name }, bytes),
  });
  const result = objectOf(body);
  const queued = queuedText(result['deliveries']);
  await context.output.result(result, `emitted ${name}: ${queued} queued`);
  return 0;
}

export async function listDeliveries(context: CommandContext): Promise<number> {
  const hook = context.given.has('hook') ? await hookOf(context) : null;
  const query = filterQuery(context, hook);
  query.set('order', 'newest');
  return listWork(context, deliveryResource, query);
}

export async function showDelivery(context: CommandContext): Promise<number> {
  const { given, output } = context;
  const session = await context.openSession();
  const path = pathOf(deliveryResource, await identifierOf(context, deliveryResource));
  if (given.has('body')) return printBody(context, session, path);
  const delivery = objectOf((await session.request({ method: 'GET', path })).body);
  await output.object(output.isJson ? delivery : toReadable(delivery));
  return 0;
}

function toReadable({ waitsFor, ...delivery }: JsonObject): JsonObject {
  const { sent } = delivery;
  return {
    ...delivery, nextAttemptAt: formatNextAttempt({ ...delivery, waitsFor: waitsFor ?? null }),
    ...isJsonObject(sent) ? { sent: withReadableHeaders(sent) } : {},
  };
}

/** One, or a job for many. */
export async function resendDelivery(context: CommandContext): Promise<number> {
  if (isBulk(context)) {
    return runBulk(context, { resource: deliveryResource, verb: 'resend', hookOf });
  }
  const id = await identifierOf(context, deliveryResource);
  const as = context.given.find('as');
  const session = await context.openSession();
  const { body } = await session.request({
    method: 'POST', path: `${pathOf(deliveryResource, id)}/resend`,
    body: as === undefined ? {} : { as },
  });
  const delivery = objectOf(body);
  const isNew = delivery['identifier'] !== id;
  await context.output.result(delivery, isNew
    ? `delivery ${textOf(delivery['identifier'])}, a new one of the event of ${id}, will be sent`
      + describeWait(delivery)
    : `delivery ${id} will be sent again${describeWait(delivery)}`);
  return 0;
}

/** One delivery, or every failed one. */
export async function retryDelivery(context: CommandContext): Promise<number> {
  const session = await context.openSession();
  const { output, given } = context;
  if (!given.has('failed')) {
    const id = await identifierOf(context, deliveryResource);
    const delivery = await act(session, id, 'retry');
    await output.result(delivery, `delivery ${id} is due again${describeWait(delivery)}`);
    return 0;
  }
  const path = `${deliveryResource.path}/retry`;
  const { body } = await session.request({ method: 'POST', path });
  const result = objectOf(body);
  const count = textOf(result['retried']);
  const what = count === '1' ? 'delivery is' : 'deliveries are';
  await output.result(result, `${count} failed ${what} due again`);
  return 0;
}

export async function cancelDelivery(context: CommandContext): Promise<number> {
  const id = await identifierOf(context, deliveryResource);
  const delivery = await act(await context.openSession(), id, 'cancel');
  await context.output.result(delivery, `cancelled delivery ${id}`);
  return 0;
}

/** Exit code 1 when something does not add up. */
export async function reconcileDeliveries(context: CommandContext): Promise<number> {
  const session = await context.openSession();
  const path = '/api/deliveries/reconcile';
  const result = objectOf((await session.request({ method: 'GET', path })).body);
  await context.output.object(result);
  return result['isReconciled'] === false ? 1 : 0;
}

/** A removed webhook is known by its whole identifier alone. Throws `not_found`. */
async function hookOf(context: CommandContext): Promise<string> {
  const hook = await identifierOf(context, outgoingResource, 'hook');
  if (isUuid(hook)) return hook;
  throw new AppError('not_found',
    `there is no outgoing webhook ${JSON.stringify(hook)}; see hookshelf outgoingwebhook:list`);
}

function describeWait({ waitsFor }: JsonObject): string {
  return waitsFor === 'webhook' ? ' once its webhook is enabled' : '';
}

async function act(session: Session, id: string, verb: 'retry' | 'cancel'): Promise<JsonObject> {
  const path = `${pathOf(deliveryResource, id)}/${verb}`;
  const { body } = await session.request({ method: 'POST', path });
  return objectOf(body);
}

function queuedText(deliveries: unknown): string {
  const count = countOf(deliveries);
  return count === '1' ? '1 delivery' : `${count} deliveries`;
}

function countOf(value: unknown): string {
  return Array.isArray(value) ? String(value.length) : textOf(value ?? 0);
}
