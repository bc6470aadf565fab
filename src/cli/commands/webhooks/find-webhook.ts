/** Shared by the commands that find an incoming or an outgoing webhook. */
import { AppError } from '../../../base/errors.ts';
import { isUuid } from '../../../base/uuid.ts';
import type { Resource } from '../../../resources/resource.ts';
import type { CommandContext } from '../command-context.ts';
import { readIdOption } from '../resource-commands.ts';

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

export function createUnknownWebhookError({ noun }: Resource, name: string): AppError {
  return new AppError('not_found', `there is no ${noun} ${JSON.stringify(name)}; `
    + `see hookshelf ${noun.replace(' ', '')}:list`);
}
