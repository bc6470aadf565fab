/** Which routes of a webhook a request would run: one that is kept, or one that is written down. */
import type { JsonObject } from '../../../base/schema.ts';
import { notFoundError } from '../../../resources/not-found.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { Collection } from '../../../store/store-port.ts';
import { explainCondition } from '../../filters/explain.ts';
import { Facts } from '../../filters/facts.ts';
import { noPayload, toPayload } from '../../actions/payload.ts';
import type { RequestService } from '../../requests/service.ts';
import { readerOf } from '../../senders/request/reader.ts';
import { joinHeaders } from '../join-headers.ts';
import { hasRoutes, type WebhookRoute } from '../webhook-routes.ts';
import { KeptCall } from '../intake/stored-action-call.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../receiving/incoming-webhook-index.ts';
import { createFacts } from '../receiving/run-webhook-routes.ts';
import { rawHeadersOf } from './headers-input.ts';
import { getStored } from './get-webhook.ts';

export type MatchParts = {
  readonly hooks: IncomingWebhookIndex;
  readonly collection: Collection;
  readonly requests: Pick<RequestService, 'find' | 'body'>;
};

/** `given` is what the route takes. Throws `not_found` for a request that is not kept. */
export function findMatches(
  parts: MatchParts, exchange: Exchange, hook: ReadyIncomingWebhook, given: JsonObject,
): object {
  const { request, routes: tried } = given;
  const facts = request === undefined
    ? writtenFacts(hook, given) : keptFacts(parts, exchange, hook, String(request));
  const routes = hasRoutes(tried) ? tried : routesOf(parts, hook);
  return {
    event: facts.event() ?? null,
    routes: routes.map(({ name, when }, index) => {
      const failed = when === undefined ? []
        : explainCondition(when, facts, `/routes/${index}/when`);
      return { name, matches: failed.length === 0, failed };
    }),
  };
}

function routesOf(
  { collection }: MatchParts, hook: ReadyIncomingWebhook,
): readonly Pick<WebhookRoute, 'name' | 'when'>[] {
  return getStored(collection, hook).routes ?? hook.routes.map(({ name }) => ({ name }));
}

function keptFacts(
  { requests }: MatchParts, exchange: Exchange, { bodyReading }: ReadyIncomingWebhook, id: string,
): Facts {
  const request = requests.find(id);
  const body = requests.body(id);
  if (request === undefined || body === null) throw notFoundError('request', id);
  const run = { request, body, reading: bodyReading, attempt: 1, holder: exchange };
  return createFacts(new KeptCall(run, {}));
}

function writtenFacts({ sender }: ReadyIncomingWebhook, given: JsonObject): Facts {
  const { payload = null, event, query, method } = given;
  const rawHeaders = rawHeadersOf(given['headers']);
  const request = {
    method: String(method ?? 'POST'), headers: joinHeaders(rawHeaders), rawHeaders,
    search: String(query ?? ''), body: Buffer.from(JSON.stringify(payload)),
  };
  const readEvent = (): string | null => {
    const scheme = sender?.verifier.scheme;
    return scheme?.event === undefined ? null : readerOf(scheme, request).read(scheme.event);
  };
  return new Facts({
    payload: () => toPayload(payload) ?? noPayload(),
    event: () => event === undefined ? readEvent() : String(event),
    headers: request.headers, query: request.search, method: request.method,
  });
}
