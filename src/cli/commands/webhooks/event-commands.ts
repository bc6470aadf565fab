/** The commands `event:list`, `event:show` and `event:cancel`. */
import { eventResource } from '../../../webhooks/events/event-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { setQueryOptions } from '../option-members.ts';
import { parseObject, recordPath, resolveId } from '../resource-commands.ts';
import { listPaged, readBody } from './request-and-delivery.ts';

export async function listEvents(context: CommandContext): Promise<number> {
  const query = new URLSearchParams();
  setQueryOptions(query, context, ['name', 'source', 'heard', 'key', 'since', 'until', 'q']);
  for (const condition of context.args.all('where')) query.append('where', condition);
  return listPaged(context, eventResource, query);
}

/** Takes back an event that has not begun. */
export async function cancelEvent(context: CommandContext): Promise<number> {
  const id = await resolveId(context, eventResource);
  const apiClient = await context.openApiClient();
  await apiClient.request({ method: 'DELETE', path: recordPath(eventResource, id) });
  await context.output.result({ id, cancelled: true }, `cancelled event ${id}`);
  return 0;
}

export async function showEvent(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const apiClient = await context.openApiClient();
  const path = recordPath(eventResource, await resolveId(context, eventResource));
  if (!args.has('payload')) {
    await output.object(parseObject((await apiClient.request({ method: 'GET', path })).body));
    return 0;
  }
  // It is JSON, so that it is printed as it is with `--json`, too.
  const payload = await readBody(apiClient, `${path}/payload`);
  // Untrusted bytes could take over a terminal.
  if (output.columns === null) await output.write(payload);
  else await output.text(payload.toString('utf8'));
  return 0;
}
