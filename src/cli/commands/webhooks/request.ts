/** `request:*`: what people do with kept requests. */
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { escapeLines } from '../../../base/text/printable.ts';
import { isUuid } from '../../../base/uuid.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { requestResource } from '../../../webhooks/inbox/request-resource.ts';
import type { Session } from '../../session/session.ts';
import type { CommandContext } from '../context.ts';
import { identifierOf, objectOf, pathOf, textOf } from '../resource.ts';
import {
  filterQuery, listWork, pairsOf, printBody, readBody, withReadableHeaders,
} from '../work.ts';
import { curlCall } from './curl-call.ts';
import { findIncoming } from './incoming.ts';
import { isBulk, runBulk } from './job.ts';

export async function listRequests(context: CommandContext): Promise<number> {
  const hook = context.given.has('hook') ? await hookOf(context) : null;
  return listWork(context, requestResource, filterQuery(context, hook));
}

/** A removed webhook is known by its whole identifier alone. */
async function hookOf(context: CommandContext): Promise<string> {
  try {
    return textOf((await findIncoming(context, 'hook'))['identifier']);
  } catch (thrown) {
    const given = context.given.get('hook');
    if (!(thrown instanceof AppError) || thrown.code !== 'not_found' || !isUuid(given)) {
      throw thrown;
    }
    return given;
  }
}

export async function showRequest(context: CommandContext): Promise<number> {
  const { given, output } = context;
  if (given.has('body') && given.has('curl')) {
    throw new AppError('usage', 'give either --body or --curl');
  }
  const session = await context.openSession();
  const path = pathOf(requestResource, await identifierOf(context, requestResource));
  if (given.has('body')) return printBody(context, session, path);
  const request = objectOf((await session.request({ method: 'GET', path })).body);
  if (!given.has('curl')) {
    await output.object(output.isJson ? request : withReadableHeaders(request));
    if (request['unparsed'] === true) output.note(explainUnparsed(request));
    return 0;
  }
  const body = await readBody(session, path);
  const curl = curlCall({
    method: textOf(request['method']), headers: pairsOf(request['headers']), body,
    url: await urlOf(context, session, request),
  });
  if (output.isJson) await output.json({ id: request['id'], curl });
  else await output.write(`${escapeLines(curl)}\n`);
  if (body.length !== request['bodyBytes']) {
    output.note(`of its body the first ${body.length} of ${textOf(request['bodyBytes'])} bytes `
      + 'were kept');
  }
  return 0;
}

function explainUnparsed({ hook, fittingBodyFormat: format }: JsonObject): string {
  const what = typeof format === 'string'
    ? `hookshelf incomingwebhook:update ${textOf(hook)} --body-format ${format}`
    : 'no bodyFormat fits it; an action has its bytes in context.body';
  return `no payload could be made of its body, so that actions got []: ${what}`;
}

/** Where the request would come again. */
async function urlOf(
  context: CommandContext, session: Session, { hook, path, query }: JsonObject,
): Promise<string> {
  const search = query === '' ? '' : `?${textOf(query)}`;
  return `${await baseOf(context, session, textOf(hook))}${textOf(path)}${search}`;
}

async function baseOf(
  context: CommandContext, session: Session, hook: string,
): Promise<string> {
  try {
    const examples = `${pathOf(incomingResource, hook)}/examples`;
    const { body } = await session.request({ method: 'GET', path: examples });
    const { pathSegment, url } = objectOf(body);
    return textOf(url).slice(0, -`/webhook/in/${textOf(pathSegment)}`.length);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'not_found') throw thrown;
    context.output.note('its webhook was removed');
    const { baseUri, port } = context.loadSettings().settings.server;
    return baseUri ?? `http://localhost:${port}`;
  }
}

/** One, or a job for many. */
export async function replayRequest(context: CommandContext): Promise<number> {
  if (isBulk(context, ['routes'])) {
    return runBulk(context, { resource: requestResource, verb: 'replay', hookOf });
  }
  const { given, output } = context;
  const id = await identifierOf(context, requestResource);
  const routes = given.find('routes');
  const as = given.find('as');
  const session = await context.openSession();
  const { body } = await session.request({
    method: 'POST', path: `${pathOf(requestResource, id)}/replay`,
    body: {
      ...routes === undefined ? {} : { routes: routes.split(',').map((name) => name.trim()) },
      ...as === undefined ? {} : { as },
    },
  });
  const request = objectOf(body);
  const isNew = request['id'] !== id;
  await output.result(request, isNew
    ? `request ${textOf(request['id'])}, a copy of ${id}, will be run`
    : `request ${id} will be run again`);
  return 0;
}

export async function pinRequest(context: CommandContext): Promise<number> {
  return setPinned(context, true);
}

export async function unpinRequest(context: CommandContext): Promise<number> {
  return setPinned(context, false);
}

async function setPinned(context: CommandContext, pinned: boolean): Promise<number> {
  const id = await identifierOf(context, requestResource);
  const session = await context.openSession();
  const { body } = await session.request({
    method: 'PATCH', path: pathOf(requestResource, id), body: { pinned },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  await context.output.result(objectOf(body), `${pinned ? 'pinned' : 'unpinned'} request ${id}`);
  return 0;
}

export async function deleteRequest(context: CommandContext): Promise<number> {
  const id = await identifierOf(context, requestResource);
  const session = await context.openSession();
  await session.request({ method: 'DELETE', path: pathOf(requestResource, id) });
  await context.output.result({ id, deleted: true }, `deleted request ${id}`);
  return 0;
}

/** Exit code 1 when something does not add up. */
export async function reconcileRequests(context: CommandContext): Promise<number> {
  const session = await context.openSession();
  const path = `${requestResource.path}/reconcile`;
  const result = objectOf((await session.request({ method: 'GET', path })).body);
  await context.output.object(result);
  return result['isReconciled'] === false ? 1 : 0;
}
