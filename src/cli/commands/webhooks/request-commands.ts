/** `request:*`, the commands of stored requests. */
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { escapeLines } from '../../../base/text/printable.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { requestResource } from '../../../webhooks/inbox/request-resource.ts';
import type { CommandContext } from '../command-context.ts';
import { pickDefined } from '../option-members.ts';
import {
  fetchObject, formatValue, listRecords, recordPath, requestObject, resolveHook, resolveId,
  resolvePath,
} from '../resource-commands.ts';
import { fetchBaseUri } from '../server-address.ts';
import { parseHeaderPairs, printBody, readBody, joinHeaders } from './request-and-delivery.ts';
import { formatCurlCall } from './curl-call.ts';
import { parseSelection, readFilter, runBulkAction } from './job-commands.ts';

export async function listRequests(context: CommandContext): Promise<void> {
  const hook = await resolveHook(context, incomingResource);
  return listRecords(context, requestResource, { hook });
}

export async function showRequest(context: CommandContext): Promise<void> {
  const { args, output } = context;
  if (args.has('body') && args.has('curl')) {
    throw new AppError('usage', 'give either --body or --curl');
  }
  const path = await resolvePath(context, requestResource);
  if (args.has('body')) return printBody(context, path);
  const request = await fetchObject(context, path);
  if (!args.has('curl')) {
    await output.object(output.isJson ? request : joinHeaders(request));
    if (request['unparsed'] === true) output.note(explainUnparsed(request));
    if (request['status'] === 'filtered') {
      output.note('no route took it, and hookshelf incomingwebhook:match --request '
        + `${formatValue(request['id'])} says why`);
    }
    return;
  }
  const body = await readBody(context, `${path}/body`);
  const curl = formatCurlCall({
    method: formatValue(request['method']), headers: parseHeaderPairs(request['headers']), body,
    url: await resolveUrl(context, request),
  });
  if (output.isJson) await output.json({ id: request['id'], curl });
  else await output.write(`${escapeLines(curl)}\n`);
  if (body.length !== request['bodyBytes']) {
    output.note(`of its body the first ${body.length} of ${
      formatValue(request['bodyBytes'])} bytes were kept`);
  }
}

function explainUnparsed(
  { hook, fittingBodyFormat: format, unparsedReason: reason }: JsonObject,
): string {
  if (typeof reason === 'string') return `${reason}, so that actions got []`;
  const what = typeof format === 'string'
    ? `hookshelf incomingwebhook:update ${formatValue(hook)} --body-format ${format}`
    : 'no bodyFormat fits it; an action has its bytes in context.body';
  return `no payload could be made of its body, so that actions got []: ${what}`;
}

/** The URL at which the request would arrive again. */
async function resolveUrl(
  context: CommandContext, { hook, path, query }: JsonObject,
): Promise<string> {
  const search = query === '' ? '' : `?${formatValue(query)}`;
  const baseUrl = await resolveBaseUrl(context, formatValue(hook));
  return `${baseUrl}${formatValue(path)}${search}`;
}

async function resolveBaseUrl(context: CommandContext, webhookId: string): Promise<string> {
  try {
    const { pathSegment, url } =
      await fetchObject(context, `${recordPath(incomingResource, webhookId)}/examples`);
    return formatValue(url).slice(0, -`/webhook/in/${formatValue(pathSegment)}`.length);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'not_found') throw thrown;
    context.output.note('its webhook was removed');
    return fetchBaseUri(context);
  }
}

/** Runs one request again, or adds a job that does it for many. */
export async function replayRequest(context: CommandContext): Promise<number> {
  if (parseSelection(context, ['routes']) === 'many') {
    return runBulkAction(context, {
      resource: requestResource, verb: 'replay',
      filter: readFilter(context, await resolveHook(context, incomingResource)),
      remainder: 'they are due, and may not have been run yet; '
        + 'request:list --status pending shows what has not, and --status failed what failed',
    });
  }
  const { args, output } = context;
  const id = await resolveId(context, requestResource);
  const routes = args.find('routes')?.split(',').map((name) => name.trim());
  const request = await requestObject(context, {
    method: 'POST', path: `${recordPath(requestResource, id)}/replay`,
    body: pickDefined({ routes, as: args.find('as') }),
  });
  const isNew = request['id'] !== id;
  await output.result(request, isNew
    ? `request ${formatValue(request['id'])}, a copy of ${id}, will be run`
    : `request ${id} will be run again`);
  return 0;
}
