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
import { joinHeaders } from '../joined-headers.ts';
import { areRoutes, type IncomingRoute } from '../routing.ts';
import { KeptCall } from '../intake/kept-call.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { factsOf } from '../receiving/run-routes.ts';
import { rawHeadersOf } from './given-headers.ts';
import { getStored } from './hook.ts';

export type MatchParts = {
  readonly hooks: HookIndex;
  readonly collection: Collection;
  readonly requests: Pick<RequestService, 'find' | 'body'>;
};

/** `given` is what the route takes. Throws `not_found` for a request that is not kept. */
export function findMatches(
  parts: MatchParts, exchange: Exchange, hook: ReadyHook, given: JsonObject,
): object {
  const { request, routes: tried } = given;
  const facts = request === undefined
    ? writtenFacts(hook, given) : keptFacts(parts, exchange, hook, String(request));
  const routes = areRoutes(tried) ? tried : routesOf(parts, hook);
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
  { collection }: MatchParts, hook: ReadyHook,
): readonly Pick<IncomingRoute, 'name' | 'when'>[] {
  return getStored(collection, hook).routes ?? hook.routes.map(({ name }) => ({ name }));
}

function keptFacts(
  { requests }: MatchParts, exchange: Exchange, { reading }: ReadyHook, id: string,
): Facts {
  const request = requests.find(id);
  const body = requests.body(id);
  if (request === undefined || body === null) throw notFoundError('request', id);
  return factsOf(new KeptCall({ request, body, reading, attempt: 1, holder: exchange }, {}));
}

function writtenFacts({ sender }: ReadyHook, given: JsonObject): Facts {
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
