/** Answers the routes of diagnostic-routes.ts, which load this file with their first call. */
import { parseObject } from '../../base/fields.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { sendList } from '../../resources/route-specs.ts';
import type { Exchange } from '../../server/http-route.ts';
import { describePresets } from '../senders/presets/describe-presets.ts';
import { readNameOrId } from '../incoming/receiving/admitted-request.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import {
  receivedRequestSchema, requestToMatchSchema, sampleRequestSchema, type SampleCall,
} from './diagnostic-schema.ts';
import { makeSample } from './make-sample.ts';
import { buildOutgoingExamples, buildWebhookExamples } from './examples.ts';
import { runDiagnosis, type DiagnosisSources } from './run-diagnosis.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject } from '../../base/schema.ts';
import { Facts } from '../members/filters/facts.ts';
import { createEmptyPayload, toPayload } from '../actions/action-payload.ts';
import { createRequestReader } from '../senders/request/request-reader.ts';
import { joinHeaders } from '../incoming/join-headers.ts';
import { explainRoutes } from '../incoming/explain-routes.ts';
import { hasRoutes } from '../incoming/routes-member.ts';
import { createStoredFacts } from '../inbox/intake/stored-facts.ts';
import { parseRawHeaders } from './diagnosed-request.ts';

export function sendExamples(exchange: Exchange, sources: DiagnosisSources): void {
  const webhook = getReadyWebhook(exchange, sources);
  const { identifier, pathSegment, hasSecret } = webhook;
  const url = `${sources.baseUri()}/webhook/in/${pathSegment}`;
  exchange.sendJson(200,
    { identifier, pathSegment, hasSecret, ...buildWebhookExamples(webhook, url) });
}

export function sendOutgoingExamples(exchange: Exchange, webhook: ReadyOutgoingWebhook): void {
  exchange.sendJson(200, buildOutgoingExamples(webhook));
}

export function sendPresets(exchange: Exchange): void {
  sendList(exchange, describePresets());
}

export async function sendSample(exchange: Exchange, sources: DiagnosisSources): Promise<void> {
  const webhook = getReadyWebhook(exchange, sources);
  const input = parseObject(sampleRequestSchema, await exchange.readJson());
  const inputs = { id: sources.makeId(), atMs: sources.clock.now() };
  const sample: SampleCall = {
    ...makeSample(webhook, input, inputs),
    isAddressLimited: webhook.addresses !== null,
  };
  exchange.sendJson(200, sample);
}

export async function sendDiagnosis(exchange: Exchange, sources: DiagnosisSources): Promise<void> {
  const webhook = getReadyWebhook(exchange, sources);
  const input = parseObject(receivedRequestSchema, await exchange.readJson());
  exchange.sendJson(200, await runDiagnosis(sources, webhook, input));
}

export async function sendMatches(exchange: Exchange, sources: DiagnosisSources): Promise<void> {
  const webhook = getReadyWebhook(exchange, sources);
  const input = parseObject(requestToMatchSchema, await exchange.readJson());
  exchange.sendJson(200, explainMatches(sources, webhook, input));
}

/** Throws `not_found` for a path without a webhook. */
function getReadyWebhook(
  { params: [name = ''] }: Exchange, { webhooks }: DiagnosisSources,
): ReadyIncomingWebhook {
  const webhook = webhooks.findNamed(name);
  if (webhook === undefined) throw notFoundError('incoming webhook', name);
  return webhook;
}

/**
 * Says which routes of a webhook a request would run, a stored one or one that is described.
 * `input` is the body of the call. Throws `not_found` for a request that is not stored.
 */
function explainMatches(
  sources: Pick<DiagnosisSources, 'requests'>, webhook: ReadyIncomingWebhook, input: JsonObject,
): object {
  const { request, routes: candidateRoutes } = input;
  const facts = request === undefined
    ? createDescribedFacts(webhook, input)
    : findStoredFacts(sources, webhook, String(request));
  return {
    event: facts.event() ?? null,
    routes: explainRoutes(hasRoutes(candidateRoutes) ? candidateRoutes : webhook.routes, facts),
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
  const scheme = sender?.verifier.scheme;
  const readEvent = (): string | null => scheme === undefined ? null
    : readNameOrId(createRequestReader(scheme, request), scheme.event);
  return new Facts({
    payload: () => toPayload(payload) ?? createEmptyPayload(),
    event: () => event === undefined ? readEvent() : String(event),
    headers: request.headers, query: request.search, method: request.method,
  });
}
