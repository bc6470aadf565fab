/** Finds a webhook for a caller that must not be refused for what this node does not know yet. */
import { notFoundError } from '../../resources/not-found.ts';
import type { Store } from '../../store/store-port.ts';
import type { OutgoingWebhookIndex, ReadyOutgoingWebhook } from './outgoing-webhook-index.ts';
import { outgoingCollection } from './outgoing-webhook.ts';

/**
 * Gets a webhook by its identifier or name. Before it throws `not_found`, this node applies all
 * that is committed: another one may just have added the webhook.
 */
export async function getNamedWebhook(
  store: Pick<Store, 'transact'>, webhooks: Pick<OutgoingWebhookIndex, 'findNamed'>, name: string,
): Promise<ReadyOutgoingWebhook> {
  const webhook = webhooks.findNamed(name);
  if (webhook !== undefined) return webhook;
  // A transaction that stages nothing ends when what it has read is no older than the call.
  await store.transact((transaction) => transaction.findId(outgoingCollection.name, name));
  const freshWebhook = webhooks.findNamed(name);
  if (freshWebhook === undefined) throw notFoundError('outgoing webhook', name);
  return freshWebhook;
}
