/** Shared by the commands that change incoming and outgoing webhooks. */
import type { JsonObject } from '../../../base/schema.ts';
import type { Resource } from '../../../resources/resource.ts';
import type { CommandContext } from '../command-context.ts';
import { formatNameAndId, patchRecord } from '../resource-commands.ts';
import { resolveWebhookId } from './find-webhook.ts';
import type { NewSecret } from './webhook-secret.ts';

export type WebhookKind = {
  readonly resource: Resource;
  /** Resolves with the address that requests come to, or go to, for people. */
  readonly resolveAddress: (context: CommandContext, webhook: JsonObject) => Promise<string>;
};

/** Sets `enabled`, and prints the webhook. */
export async function setEnabled(
  context: CommandContext, kind: WebhookKind, enabled: boolean,
): Promise<number> {
  const identifier = await resolveWebhookId(context, kind.resource);
  const webhook = await patchRecord(context, kind.resource, identifier, { enabled });
  await printWebhook(context, kind, enabled ? 'enabled' : 'disabled', webhook, null);
  return 0;
}

/** Prints the changed webhook, and its secret if we generated one, as nobody else knows it. */
export async function printWebhook(
  context: CommandContext, { resource, resolveAddress }: WebhookKind, verb: string,
  webhook: JsonObject, secret: NewSecret | null,
): Promise<void> {
  const { output } = context;
  const newSecret = secret?.isGenerated === true ? secret.secret : null;
  if (output.isJson) {
    return output.json(newSecret === null ? webhook : { ...webhook, secret: newSecret });
  }
  const change = `${verb} ${resource.noun} ${formatNameAndId(webhook)}`;
  let address: string | null = null;
  try {
    address = await resolveAddress(context, webhook);
  } finally {
    // The webhook has been changed, even if its address cannot be fetched.
    await output.line(address === null ? change : `${change}: ${address}`);
    if (newSecret !== null) await output.line(`secret (shown this once): ${newSecret}`);
  }
}
