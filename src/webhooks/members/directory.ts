/** Finds webhooks by the identifier or the name that a caller gives. */
import { isUuid } from '../../base/uuid.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { Visibility } from './visibility.ts';

type NamedWebhook = { readonly identifier: string; readonly name?: string | undefined };

export interface WebhookDirectory {
  find(identifier: string): NamedWebhook | undefined;
  /** Finds a webhook by its identifier, or else by its name or path segment. */
  findNamed(name: string): NamedWebhook | undefined;
}

export type WebhookDirectories = Readonly<Record<'incoming' | 'outgoing', WebhookDirectory>>;

/**
 * The identifier of the webhook with this name, for a filter of records. A removed webhook leaves
 * its records: an identifier that no webhook has is taken as it is. Throws `not_found`, also for a
 * webhook that a bound token does not see.
 */
export function resolveHook(
  directory: WebhookDirectory, name: string, visibility: Visibility | null = null,
): string {
  const webhook = directory.findNamed(name);
  if (webhook !== undefined && visibility?.seesWebhook(webhook.identifier) !== false) {
    return webhook.identifier;
  }
  if (isUuid(name)) return name;
  throw notFoundError('webhook', name);
}

/**
 * The identifiers of the webhooks with this name, as an incoming and an outgoing webhook may have
 * the same; the name itself if there is none.
 */
export function resolveHooks(directories: WebhookDirectories, name: string): readonly string[] {
  const webhooks = Object.values(directories)
    .flatMap((directory) => directory.findNamed(name) ?? []);
  return webhooks.length === 0 ? [name] : webhooks.map(({ identifier }) => identifier);
}
