/**
 * Finds the webhook that an option names. An incoming one is found by its identifier, its path
 * segment, its name, or a beginning or end of one of these that no other has.
 */
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { isUuid } from '../../../base/uuid.ts';
import type { Resource } from '../../../resources/resource.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import type { CommandContext } from '../command-context.ts';
import {
  fetchAll, findSingleMatch, formatValue, expectObject, readIdOption, recordPath,
} from '../resource-commands.ts';

/** Resolves `--identifier` to the webhook's identifier. Throws as `fetchIncoming`. */
export async function resolveIncomingId(context: CommandContext): Promise<string> {
  return formatValue((await fetchIncoming(context))['identifier']);
}

/** Resolves `--hook`, which filters requests; undefined without it. Throws `not_found`. */
export async function resolveIncomingHook(context: CommandContext): Promise<string | undefined> {
  return resolveHookOption(context, incomingResource, async (name) =>
    formatValue((await findIncoming(context, name))?.['identifier'] ?? name));
}

/**
 * Fetches an incoming webhook: by its identifier first, as a path segment may look like a part of
 * one. Throws `not_found`, and `conflict` for a part that several have.
 */
export async function fetchIncoming(
  context: CommandContext, option = 'identifier',
): Promise<JsonObject> {
  const name = readIdOption(context, option);
  const webhook = await findIncoming(context, name);
  if (webhook === undefined) throw createUnknownWebhookError(incomingResource, name);
  return webhook;
}

async function findIncoming(
  context: CommandContext, name: string,
): Promise<JsonObject | undefined> {
  const apiClient = await context.openApiClient();
  try {
    const path = recordPath(incomingResource, name);
    return expectObject((await apiClient.request({ method: 'GET', path })).body);
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'not_found') throw thrown;
    return findByPart(await fetchAll(apiClient, incomingResource.path), name);
  }
}

/** Finds the only webhook that has the part. Throws `conflict` when several have it. */
function findByPart(webhooks: readonly JsonObject[], part: string): JsonObject | undefined {
  const matches = (value: unknown): boolean =>
    typeof value === 'string' && (value.startsWith(part) || value.endsWith(part));
  const candidates = webhooks.filter(({ identifier, name, pathSegment }) =>
    matches(identifier) || matches(name) || matches(pathSegment));
  const segments = candidates.map(({ pathSegment }) => formatValue(pathSegment));
  const segment = findSingleMatch(segments, part, incomingResource);
  return candidates.find(({ pathSegment }) => pathSegment === segment);
}

/**
 * Resolves `--hook`, which filters requests or deliveries, to the webhook's identifier; undefined
 * without it. `resolveName` resolves with the identifier, or with the name that no webhook has. A
 * removed webhook leaves its requests and deliveries: to ask for them, name it by its whole
 * identifier. Throws `not_found`.
 */
export async function resolveHookOption(
  context: CommandContext, resource: Resource, resolveName: (name: string) => Promise<string>,
): Promise<string | undefined> {
  if (!context.args.has('hook')) return undefined;
  const name = readIdOption(context, 'hook');
  const webhookId = await resolveName(name);
  // Without a match it is still the option's text, and every identifier is a UUID.
  if (isUuid(webhookId)) return webhookId;
  throw createUnknownWebhookError(resource, name);
}

function createUnknownWebhookError({ noun }: Resource, name: string): AppError {
  return new AppError('not_found', `there is no ${noun} ${JSON.stringify(name)}; `
    + `see hookshelf ${noun.replace(' ', '')}:list`);
}
