/** The commands `event:list` and `event:show`. */
import { eventResource } from '../../../webhooks/events/event-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { setQueryOptions } from '../option-members.ts';
import { parseObject, recordPath, resolveId } from '../resource-commands.ts';
import { listPaged, readBody } from './request-and-delivery.ts';

export async function listEvents(context: CommandContext): Promise<number> {
  const query = new URLSearchParams();
  setQueryOptions(query, context, ['name', 'source', 'heard', 'key', 'since', 'until']);
  return listPaged(context, eventResource, query);
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
