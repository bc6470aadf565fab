/** Finds one incoming webhook by any of its names, as the index has it and as it is stored. */
import { notFoundError } from '../../../resources/not-found.ts';
import type { Collection } from '../../../store/store-port.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../receiving/incoming-webhook-index.ts';
import { decodeIncomingWebhook, type IncomingWebhook } from '../incoming-webhook.ts';

/** Throws `not_found`. */
export function getReadyWebhook(
  webhooks: IncomingWebhookIndex, name: string,
): ReadyIncomingWebhook {
  const webhook = webhooks.findNamed(name);
  if (webhook === undefined) throw notFoundError('incoming webhook', name);
  return webhook;
}

/** The record with its secrets. Throws `not_found`. */
export function getStoredWebhook(
  collection: Collection, { identifier }: ReadyIncomingWebhook,
): IncomingWebhook {
  const bytes = collection.findBytes(identifier);
  if (bytes === undefined) throw notFoundError('incoming webhook', identifier);
  return decodeIncomingWebhook(bytes);
}
