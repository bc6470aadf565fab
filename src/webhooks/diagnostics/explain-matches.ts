/**
 * Explains which routes of a webhook a request would run: a stored one, or one that is described.
 */
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { explainCondition } from '../members/filters/explain-condition.ts';
import { Facts } from '../members/filters/facts.ts';
import { createEmptyPayload, toPayload } from '../actions/action-payload.ts';
import { createRequestReader } from '../senders/request/request-reader.ts';
import { joinHeaders } from '../incoming/join-headers.ts';
import { hasRoutes, type WebhookRoute } from '../incoming/routes-member.ts';
import { createStoredFacts } from '../inbox/intake/stored-facts.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import { parseRawHeaders } from './diagnosed-request.ts';
import type { DiagnosisSources } from './run-diagnosis.ts';

/** `input` is the body of the call. Throws `not_found` for a request that is not stored. */
export function explainMatches(
  sources: Pick<DiagnosisSources, 'requests'>, webhook: ReadyIncomingWebhook, input: JsonObject,
): object {
  const { request, routes: candidateRoutes } = input;
  const facts = request === undefined
    ? createDescribedFacts(webhook, input)
    : findStoredFacts(sources, webhook, String(request));
  const routes: readonly Pick<WebhookRoute, 'name' | 'when'>[] =
    hasRoutes(candidateRoutes) ? candidateRoutes : webhook.routes;
  return {
    event: facts.event() ?? null,
    routes: routes.map(({ name, when }, index) => {
      const failedConditions = when === undefined ? []
        : explainCondition(when, facts, `/routes/${index}/when`);
      return { name, matches: failedConditions.length === 0, failed: failedConditions };
    }),
  };
}

function findStoredFacts(
  { requests }: Pick<DiagnosisSources, 'requests'>, { bodyReading }: ReadyIncomingWebhook,
  id: string,
): Facts {
  const request = requests.find(id);
  const body = requests.findBody(id);
  if (request === undefined || body === null) throw notFoundError('request', id);
  return createStoredFacts(request, body, bodyReading);
}

function createDescribedFacts({ sender }: ReadyIncomingWebhook, input: JsonObject): Facts {
  const { payload = null, event, query, method } = input;
  const rawHeaders = parseRawHeaders(input['headers']);
  const request = {
    method: String(method ?? 'POST'), headers: joinHeaders(rawHeaders), rawHeaders,
    search: String(query ?? ''), body: Buffer.from(encodeJson(payload)),
  };
  const readEvent = (): string | null => {
    const scheme = sender?.verifier.scheme;
    return scheme?.event === undefined ? null
      : createRequestReader(scheme, request).read(scheme.event);
  };
  return new Facts({
    payload: () => toPayload(payload) ?? createEmptyPayload(),
    event: () => event === undefined ? readEvent() : String(event),
    headers: request.headers, query: request.search, method: request.method,
  });
}
