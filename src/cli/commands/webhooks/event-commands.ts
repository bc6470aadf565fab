/** The commands `event:list` and `event:show`. */
import type { JsonObject } from '../../../base/schema.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import { deliveryStatusColumn } from '../../../webhooks/deliveries/delivery-resource.ts';
import { eventResource } from '../../../webhooks/events/event-resource.ts';
import { firstText } from '../../../webhooks/members/members.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import type { CommandContext } from '../command-context.ts';
import {
  expectObject, fetchObject, listRecords, resolveHook, resolvePath, toTableColumns,
} from '../resource-commands.ts';
import { readBody } from './request-and-delivery.ts';

const DELIVERY_COLUMNS: ListedResource['columns'] = [
  {
    title: 'WEBHOOK', member: 'hookName', widthMin: 12,
    show: (name, { hook }) => firstText(name, hook),
  },
  { title: 'HOOK', member: 'hook', form: 'identifier', importance: 1 },
  deliveryStatusColumn,
  { title: 'DELIVERY', member: 'identifier', form: 'identifier' },
];

export async function listEvents(context: CommandContext): Promise<void> {
  const hook = await resolveHook(context, outgoingResource);
  return listRecords(context, eventResource, { hook });
}

export async function showEvent(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const path = await resolvePath(context, eventResource);
  if (!args.has('payload')) {
    const event = await fetchObject(context, path);
    return output.isJson ? output.json(event) : printEvent(context, event);
  }
  // It is JSON, so that it is printed as it is with `--json`, too.
  const payload = await readBody(context, `${path}/payload`);
  // Untrusted bytes could take over a terminal.
  if (output.columns === null) await output.write(payload);
  else await output.text(payload.toString('utf8'));
}

/** The members of the event, and a row for each delivery: a fan-out has many. */
async function printEvent(
  { output }: CommandContext, { deliveries, ...event }: JsonObject,
): Promise<void> {
  await output.object(event);
  if (!Array.isArray(deliveries) || deliveries.length === 0) return;
  await output.line('');
  const columns = toTableColumns({ columns: DELIVERY_COLUMNS });
  await output.list(deliveries.map(expectObject), columns, '');
}
