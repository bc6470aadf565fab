/** The command `event:show`. */
import type { JsonObject } from '../../../base/schema.ts';
import type { ListedResource } from '../../../resources/resource.ts';
import { deliveryStatusColumn } from '../../../webhooks/deliveries/delivery-resource.ts';
import { eventResource } from '../../../webhooks/events/event-resource.ts';
import { firstText } from '../../../webhooks/members/members.ts';
import type { CommandContext } from '../command-context.ts';
import { expectObject, recordPath, resolveId, toTableColumns } from '../resource-commands.ts';
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

export async function showEvent(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const apiClient = await context.openApiClient();
  const path = recordPath(eventResource, await resolveId(context, eventResource));
  if (!args.has('payload')) {
    const body = expectObject((await apiClient.request({ method: 'GET', path })).body);
    if (output.isJson) await output.json(body);
    else await printEvent(context, body);
    return 0;
  }
  // It is JSON, so that it is printed as it is with `--json`, too.
  const payload = await readBody(apiClient, `${path}/payload`);
  // Untrusted bytes could take over a terminal.
  if (output.columns === null) await output.write(payload);
  else await output.text(payload.toString('utf8'));
  return 0;
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
