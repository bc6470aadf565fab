/**
 * The secret that a sender chooses and brings with its handshake. It becomes the secret of the
 * webhook once, while the webhook has none, and for ten minutes after somebody has asked for it:
 * the first handshake in that time decides who may send. The time stands in the webhook's record,
 * so that it holds for all nodes and outlives a restart.
 */
import { formatTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/schema.ts';
import { logWrite } from '../../resources/change-log.ts';
import { decodeRecord, putNextVersion } from '../../resources/record.ts';
import type { Repository } from '../../resources/repository.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import { jsonResponse } from '../../resources/route-specs.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import { problemResponses } from '../../server/problem.ts';
import type { Store } from '../../store/store-port.ts';
import { incomingResource } from './incoming-resource.ts';
import { decodeIncomingWebhook, incomingCollection, incomingSchema } from './incoming-webhook.ts';
import { bringsSecret, isSecretAwaited } from './sender-secret.ts';

const AWAITED_MS = 600_000;

export function awaitSecretRoute(records: Repository): HttpRoute {
  return {
    method: 'POST', path: `${incomingResource.path}/{identifier}/await-secret`, access: 'admin',
    operationId: 'awaitIncomingWebhookSecret',
    summary: 'Take the secret that the sender brings with its handshake, for ten minutes',
    parameters: [createKeyParameter(incomingResource)],
    responses: [
      jsonResponse('The webhook, with `secretAwaitedUntil`', incomingSchema),
      ...problemResponses(404, 409, 503, 507),
    ],
    async handle(exchange) {
      const { bytes } = await logWrite(exchange, incomingResource.noun, (options) =>
        records.changeServiceMembers(exchange.params[0] ?? '', awaitSecret, options));
      exchange.sendJson(200, decodeRecord(bytes));
    },
  };
}

/** Throws `conflict` for a webhook that has a secret or gets none in this way. */
function awaitSecret(webhook: JsonObject, nowMs: number): JsonObject {
  if (!bringsSecret(webhook)) {
    throw new AppError('conflict', 'its sender brings no secret with its handshake: set one');
  }
  if (webhook['secret'] !== undefined) {
    throw new AppError('conflict', 'it has a secret: remove that first, with '
      + 'incomingwebhook:update --unset secret');
  }
  return { ...webhook, secretAwaitedUntil: formatTimestamp(nowMs + AWAITED_MS) };
}

/** Resolves with false if the webhook awaits no secret any more, or has another secret. */
export async function storeAwaitedSecret(
  store: Store, id: string, secret: string, nowMs: number,
): Promise<boolean> {
  return store.transact((transaction) => {
    const before = transaction.find(incomingCollection.name, id);
    if (before === undefined) return false;
    const { secretAwaitedUntil: _, ...webhook } = decodeRecord(before);
    if (webhook['secret'] !== undefined) return webhook['secret'] === secret;
    if (!isSecretAwaited(decodeIncomingWebhook(before), nowMs)) return false;
    putNextVersion(
      transaction, incomingCollection, id, before, { ...webhook, secret }, nowMs);
    return true;
  });
}
