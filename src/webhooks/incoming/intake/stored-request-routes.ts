/** Finds the current routes of a webhook for a stored request. */
import { silentLogger } from '../../../base/log.ts';
import type { AvailableRoutes } from '../../inbox/replay.ts';
import type { StoredRequest } from '../../inbox/stored-request.ts';
import type { ReadyIncomingWebhook } from '../receiving/incoming-webhook-index.ts';
import { StoredActionCall } from './stored-action-call.ts';
import { createFacts, findMatchingRoutes } from '../receiving/run-webhook-routes.ts';

export function findStoredRequestRoutes(
  { routes, bodyReading }: ReadyIncomingWebhook, request: StoredRequest, body: () => Buffer,
): AvailableRoutes {
  return {
    names: routes.map(({ name }) => name),
    listMatching() {
      const run = { request, body: body(), bodyReading, attempt: 1,
        holder: { log: silentLogger } };
      const facts = createFacts(new StoredActionCall(run, {}));
      return findMatchingRoutes(routes, facts).map(({ name }) => name);
    },
  };
}
