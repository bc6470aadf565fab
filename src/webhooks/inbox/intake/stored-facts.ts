/** The facts of a stored request, for conditions and keys. */
import { createEmptyPayload } from '../../actions/action-payload.ts';
import { Facts } from '../../members/filters/facts.ts';
import type { AvailableRoutes } from '../replay.ts';
import type { StoredRequestHead } from '../../incoming/stored-request.ts';
import { resolveBodyReading, type BodyReading } from '../../incoming/body-format.ts';
import { joinStoredHeaders } from '../../incoming/join-headers.ts';
import { IncomingBody, type LastBody } from '../../incoming/receiving/incoming-body.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../../incoming/receiving/incoming-webhook-index.ts';
import { findMatchingRoutes } from '../../incoming/run-webhook-routes.ts';

/** `lastBody` is what its routes share; absent: nothing is shared. */
export function createStoredFacts(
  request: StoredRequestHead, received: Buffer, reading: BodyReading, lastBody?: LastBody,
): Facts {
  const { id, query, method, event } = request;
  const headers = joinStoredHeaders(request);
  return new Facts({
    payload: () => {
      const create = () => new IncomingBody(received, headers, reading);
      const body = lastBody === undefined ? create() : lastBody.share(id, reading, create);
      return body.readPayload() ?? createEmptyPayload();
    },
    event: () => event, headers, query, method,
  });
}

/** Does as `createStoredFacts` for a request whose webhook may have been removed. */
export function createSearchedFacts(
  webhooks: Pick<IncomingWebhookIndex, 'find' | 'bodyBytesMax'>, request: StoredRequestHead,
  body: Buffer,
): Facts {
  const bodyMembers = request.verdict.preset === null ? {} : { bodyFormat: 'auto' as const };
  return createStoredFacts(request, body, webhooks.find(request.hook)?.bodyReading
    ?? resolveBodyReading(bodyMembers, null, webhooks.bodyBytesMax));
}

/** The current routes of a webhook, and which of them match a stored request. */
export function findStoredRequestRoutes(
  { routes, bodyReading }: ReadyIncomingWebhook, request: StoredRequestHead, readBody: () => Buffer,
): AvailableRoutes {
  return {
    names: routes.map(({ name }) => name),
    listMatching: () =>
      findMatchingRoutes(routes, createStoredFacts(request, readBody(), bodyReading))
        .map(({ name }) => name),
  };
}
