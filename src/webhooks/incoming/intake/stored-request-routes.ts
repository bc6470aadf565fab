/** The routes of a webhook as they are now, for a request that was kept. */
import { silentLogger } from '../../../base/log.ts';
import type { AvailableRoutes } from '../../inbox/replay.ts';
import type { StoredRequest } from '../../inbox/stored-request.ts';
import type { ReadyIncomingWebhook } from '../receiving/incoming-webhook-index.ts';
import { KeptCall } from './stored-action-call.ts';
import { createFacts, findMatchingRoutes } from '../receiving/run-webhook-routes.ts';

export function keptRoutes(
  { routes, bodyReading }: ReadyIncomingWebhook, request: StoredRequest, body: () => Buffer,
): AvailableRoutes {
  return {
    names: routes.map(({ name }) => name),
    listMatching() {
      const run = { request, body: body(), reading: bodyReading, attempt: 1,
        holder: { log: silentLogger } };
      return findMatchingRoutes(routes, createFacts(new KeptCall(run, {}))).map(({ name }) => name);
    },
  };
}
