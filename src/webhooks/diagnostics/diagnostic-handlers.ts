/** Answers the routes of diagnostic-routes.ts, which load this file with their first call. */
import { parseObject } from '../../base/fields.ts';
import { notFoundError } from '../../resources/not-found.ts';
import { sendList } from '../../resources/route-specs.ts';
import type { Exchange } from '../../server/http-route.ts';
import { describePresets } from '../senders/presets/describe-presets.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import type { ReadyOutgoingWebhook } from '../outgoing/outgoing-webhook-index.ts';
import {
  receivedRequestSchema, requestToMatchSchema, sampleRequestSchema, type SampleCall,
} from './diagnostic-schema.ts';
import { explainMatches } from './explain-matches.ts';
import { makeSample } from './make-sample.ts';
import { buildOutgoingExamples } from './outgoing-examples.ts';
import { runDiagnosis, type DiagnosisSources } from './run-diagnosis.ts';
import { buildWebhookExamples } from './webhook-examples.ts';

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
