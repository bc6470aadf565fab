/** Calls of every route of the webhooks, and of any resource, for the test of the document. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../support/until.ts';
import type { ApiDocument, GivenAnswer } from '../support/open-api.ts';
import type { Question } from './ask.ts';

export type Described = {
  readonly url: string;
  /** The data directory of the server. */
  readonly data: string;
  readonly document: ApiDocument;
  /** Calls an operation and checks the answer against the document. */
  call(operationId: string, given?: Call): Promise<GivenAnswer>;
  readonly called: ReadonlySet<string>;
};

type Call = Question & {
  readonly status?: number; readonly key?: string; readonly query?: string;
};

/** Applies documents beside the records that are there, and leaves none of its own. */
async function exerciseConfiguration({ call }: Described): Promise<void> {
  const document = {
    actionConfigurations: [{ identifier: 'applied', actionType: 'log' }],
    incomingWebhooks: [{ pathSegment: 'applied', actionConfiguration: 'applied', secret: 'hush' }],
    outgoingWebhooks: [{ name: 'applied', targetUrl: 'http://127.0.0.1:1/', headers: { a: 'b' } }],
  };
  const { headers: { etag = '' } } =
    await call('applyConfiguration', { body: { ...document, dryRun: true } });
  await call('applyConfiguration', { body: document, headers: { 'If-Match': etag } });
  await call('applyConfiguration',
    { body: document, headers: { 'If-Match': etag }, status: 412 });
  await call('applyConfiguration', { body: { ...document, outgoingWebhooks: [] } });
  await call('applyConfiguration', { body: { incomingWebhooks: [{}] }, status: 422 });
  const { headers: { etag: version = '' } } = await call('exportConfiguration');
  await call('exportConfiguration', { headers: { 'If-None-Match': version }, status: 304 });
  await call('exportConfiguration', { query: '?onlyApplied=true' });
  await call('exportConfiguration', { query: '?onlyApplied=1', status: 400 });
  await call('applyConfiguration', { body: { prune: true } });
}

export async function exerciseWebhooks(described: Described): Promise<void> {
  const { call } = described;
  const note = await exerciseResource(described, 'WebhookActionConfiguration',
    'action-configurations', { actionType: 'log', options: { level: 'debug' } },
    { options: { level: 'info' } });
  const incoming = await exerciseResource(described, 'IncomingWebhook', 'incoming-webhooks', {
    pathSegment: 'shop', actionConfiguration: note, secret: 'hush', inbox: 'all',
    allowedMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  }, { secret: null });
  await call('receiveWebhookByPost', { key: 'shop', body: { a: 1 } });
  for (const method of ['Get', 'Post', 'Put', 'Patch', 'Delete']) {
    await call(`receiveWebhookBy${method}`, { key: 'shop' });
    await call(`receiveWebhookBy${method}`, { key: 'none', status: 404 });
  }
  await call('receiveWebhookByPost',
    { key: 'shop', status: 413, body: 'x'.repeat(1_100_000) });
  await call('getIncomingWebhookExamples', { key: incoming });
  await call('getIncomingWebhookExamples', { status: 404 });
  await call('listVerificationPresets');
  await call('diagnoseIncomingWebhook', { key: incoming, body: { headers: { 'X-A': 'b' } } });
  await call('diagnoseIncomingWebhook', { key: incoming, body: {}, status: 422 });
  await call('diagnoseIncomingWebhook', { body: { headers: {} }, status: 404 });
  await call('matchIncomingWebhook', { key: incoming, body: { payload: { a: 1 }, event: 'b' } });
  await call('matchIncomingWebhook', { key: incoming, body: {}, status: 422 });
  await call('matchIncomingWebhook', { body: { payload: {} }, status: 404 });
  await call('makeSampleRequest', { key: incoming, body: {} });
  await call('makeSampleRequest', { key: incoming, body: { nope: 1 }, status: 422 });
  await call('makeSampleRequest', { body: {}, status: 404 });
  const leaf = { path: 'payload.a', op: 'eq', value: null };
  const routed = { pathSegment: 'routed', deduplicate: { header: 'X-Id' }, routes: [
    { name: 'some', when: { all: [leaf, { not: { any: [leaf] } }] }, actionConfiguration: note },
  ] };
  const { headers: { location = '' } } = await call('addIncomingWebhook',
    { body: routed, status: 201 });
  await call('deleteIncomingWebhook', { key: location.split('/').at(-1) ?? '', status: 204 });
  await exerciseHandshakes(described, note);
  for (const overlapHours of [0, 1]) {
    await call('rotateIncomingWebhookSecret', { key: incoming, body: { overlapHours } });
  }
  await call('rotateIncomingWebhookSecret', { key: incoming, body: {}, status: 409 });
  await call('deleteWebhookActionConfiguration', { key: note, status: 409 });
  const outgoing = await exerciseResource(described, 'OutgoingWebhook', 'outgoing-webhooks',
    {
      targetUrl: 'http://127.0.0.1:1/', triggerEvents: ['shop.*', '*'], retrySchedule: [0.5],
      timeout: 2.5, maxInFlight: 1, disableAfterHours: 0, retryOn: ['5xx', 429],
      rate: { limit: 10_000, seconds: 1 },
    }, { headers: { 'X-A': 'b' } });
  await call('sendOutgoingWebhook', { key: outgoing, body: { payload: [1] } });
  await call('sendOutgoingWebhook', { key: outgoing });
  await call('sendOutgoingWebhook', { body: {}, status: 404 });
  await call('acknowledgeOutgoingWebhook', { key: outgoing, status: 409 });
  await exerciseAcknowledgement(described);
  await call('getOutgoingWebhookStatistics', { key: outgoing, query: '?window=7d' });
  await call('getOutgoingWebhookStatistics', { key: outgoing, query: '?window=2d', status: 400 });
  await call('getOutgoingWebhookStatistics', { status: 404 });
  await call('getOutgoingWebhookExamples', { key: outgoing });
  await call('getOutgoingWebhookExamples', { status: 404 });
  await call('rotateOutgoingWebhookSecret', { key: outgoing, body: {} });
  await call('rotateOutgoingWebhookSecret', { key: outgoing, body: { nope: 1 }, status: 422 });
  await exerciseConfiguration(described);
  const { text } = await call('emitEvent',
    { body: { name: 'shop.opened', payload: { at: 9 } }, status: 202 });
  const { deliveries: [delivery = ''] } = JSON.parse(text) as { deliveries: string[] };
  await exerciseDelays(described, outgoing);
  await exerciseEvents(described);
  await call('listDeliveries', { query: '?limit=1&status=pending' });
  await call('listDeliveries', { query: '?q=shop&where=payload.at=9&where=payload.at<10' });
  await call('listDeliveries', { query: '?status=nope', status: 400 });
  await call('listDeliveries', { query: '?where=payload', status: 400 });
  await call('getDelivery', { key: delivery });
  await call('resendDelivery', { key: delivery, status: 202 });
  await call('getDeliveryBody', { status: 404 });
  await untilAttempted(described, delivery);
  await call('getDeliveryBody', { key: delivery });
  await call('retryDelivery', { key: delivery, status: 202 });
  await call('cancelDelivery', { key: delivery, status: 202 });
  await call('retryFailedDeliveries', { status: 202 });
  await exerciseRequests(described);
  await exerciseJobs(described);
  await call('deleteOutgoingWebhook', { key: outgoing, status: 204 });
  await call('deleteIncomingWebhook', { key: incoming, status: 204 });
  await call('deleteWebhookActionConfiguration', { key: note, status: 204 });
}

async function exerciseDelays({ call }: Described, outgoing: string): Promise<void> {
  const { text } = await call('emitEvent',
    { body: { name: 'shop.closes', key: 'shop', delaySeconds: 3600 }, status: 202 });
  const { event = '' } = JSON.parse(text) as { event?: string };
  await call('cancelEvent', { key: event, status: 204 });
  await call('cancelEvent', { key: event, status: 404 });
  const send = (body: object, status: number): Promise<unknown> =>
    call('sendOutgoingWebhookDurably', { key: outgoing, body, status });
  await send({ payload: { at: 9 }, event: 'shop.opened', key: 'shop' }, 202);
  await send({ deliverAt: '2000-01-01T00:00:00+01:00' }, 202);
  await send({ payload: 1, delaySeconds: -1 }, 422);
  await call('sendOutgoingWebhookDurably', { body: { payload: 1 }, status: 404 });
}

async function exerciseEvents({ call }: Described): Promise<void> {
  const { text } = await call('listEvents', { query: '?name=shop.*&source=api&heard=true' });
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  await call('listEvents', { query: '?q=shop&where=payload.at=9&limit=1' });
  for (const query of ['?heard=perhaps', '?name=*.shop', '?where=payload', '?since=noon']) {
    await call('listEvents', { query, status: 400 });
  }
  const { headers } = await call('getEvent', { key: id });
  await call('getEvent', {
    key: id, headers: { 'if-none-match': headers.etag ?? '' }, status: 304,
  });
  await call('getEventPayload', { key: id });
  await call('cancelEvent', { key: id, status: 409 });
  for (const operationId of ['getEvent', 'getEventPayload']) {
    await call(operationId, { status: 404 });
  }
}

/** Backfills a webhook, which is left. */
async function exerciseBackfill({ call }: Described): Promise<void> {
  const { headers: { location = '' } } = await call('addOutgoingWebhook', {
    body: { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.*' }, status: 201,
  });
  const key = location.split('/').at(-1) ?? '';
  const since = '2026-01-31T12:00:00Z';
  await call('backfillOutgoingWebhook', { key, body: { since, dryRun: true } });
  await call('backfillOutgoingWebhook', { key, body: { since, name: 'order.*' }, status: 202 });
  await call('backfillOutgoingWebhook', { key, body: {}, status: 422 });
  await call('backfillOutgoingWebhook', { body: { since }, status: 404 });
}

async function untilAttempted({ call }: Described, key: string): Promise<void> {
  for (let looks = 0; looks < 1000; looks += 1) {
    const { sent } = JSON.parse((await call('getDelivery', { key })).text) as { sent: unknown };
    if (sent !== null) return;
    await wait(20);
  }
  assert.fail(`delivery ${key} is not attempted`);
}

/** Acknowledges that a webhook is off as every attempt has failed. */
async function exerciseAcknowledgement({ call }: Described): Promise<void> {
  const { text } = await call('addOutgoingWebhook', {
    body: {
      targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.fails', disableAfterHours: 1e-7,
      retrySchedule: [0, 0, 0],
    }, status: 201,
  });
  const { identifier: key = '' } = JSON.parse(text) as { identifier?: string };
  await call('emitEvent', { body: { name: 'shop.fails' }, status: 202 });
  await until('it is off', async () =>
    (await call('getOutgoingWebhook', { key })).text.includes('"disabledReason":"failing"'));
  await call('acknowledgeOutgoingWebhook', { key });
  await call('deleteOutgoingWebhook', { key, status: 204 });
}

async function exerciseRequests({ call }: Described): Promise<void> {
  await call('listRequests', { query: '?hook=shop&q=json&where=method=POST' });
  const { text } = await call('listRequests', { query: '?hook=shop&status=done&limit=1' });
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  await call('listRequests', { query: '?eventId=evt_1' });
  await call('listRequests', { query: '?since=noon', status: 400 });
  const { headers } = await call('getRequest', { key: id });
  await call('getRequest', {
    key: id, headers: { 'if-none-match': headers.etag ?? '' }, status: 304,
  });
  await call('getRequestBody', { key: id });
  await call('getRequestHeaders', { key: id });
  await call('reconcileRequests');
  for (const operationId of ['getRequest', 'getRequestBody', 'replayRequest', 'deleteRequest']) {
    await call(operationId, { status: 404 });
  }
  await call('patchRequest', { key: id, body: { pinned: true } });
  await call('patchRequest', { key: id, body: { status: 'done' }, status: 422 });
  const made = await call('replayRequest', { key: id, body: { as: 'new' }, status: 202 });
  await call('replayRequest', { key: id, body: { routes: ['none'] }, status: 422 });
  await call('deleteRequest', { key: id, status: 204 });
  await call('restoreRequest', { key: id });
  await call('restoreRequest', { key: id, status: 404 });
  assert.equal((JSON.parse(made.text) as { replayOf: string }).replayOf, id);
}

async function exerciseJobs(described: Described): Promise<void> {
  const { call } = described;
  await call('replayRequests', { body: { status: 'failed', dryRun: true } });
  await call('replayRequests', { body: { status: 'rejected' }, status: 422 });
  const asked = { body: { status: 'failed', since: '2026-01-31T12:00:00+01:00' }, status: 202 };
  const { text, headers } = await call('replayRequests', asked);
  const { id: job } = JSON.parse(text) as { id: string };
  assert.equal(headers.location, `/api/jobs/${job}`);
  await call('resendDeliveries', { body: { dryRun: true } });
  await call('resendDeliveries', { body: { status: 'done' }, status: 422 });
  await call('resendDeliveries', { body: { status: 'delivered', as: 'new' }, status: 202 });
  await call('cancelDeliveries', { body: { dryRun: true } });
  await call('cancelDeliveries', { body: { status: 'delivered' }, status: 422 });
  await call('cancelDeliveries', { body: { event: 'nobody.heard' }, status: 202 });
  await exerciseBackfill(described);
  await call('listJobs');
  await call('listJobs', { query: '?status=done', status: 400 });
  for (const operationId of ['getJob', 'cancelJob']) {
    await call(operationId, { key: job });
    await call(operationId, { status: 404 });
  }
}

/** Reads and writes one resource in every way, and leaves it there; its key. */
export async function exerciseResource(
  { call }: Described, name: string, collection: string, body: object, patch: object,
): Promise<string> {
  const added = await call(`add${name}`, { body, status: 201 });
  const key = added.headers.location?.split('/').at(-1) ?? '';
  assert.equal(added.headers.location, `/api/${collection}/${key}`);
  const etag = (await call(`get${name}`, { key })).headers.etag ?? '';
  await call(`list${name}s`);
  await call(`get${name}`, { key, headers: { 'if-none-match': etag }, status: 304 });
  await call(`get${name}`, { key, headers: { 'if-match': '"x"' }, status: 412 });
  await call(`replace${name}`, { key, body, headers: { 'if-match': etag } });
  await call(`replace${name}`, { key, body, headers: { 'if-match': etag }, status: 412 });
  await call(`patch${name}`, { key, body: patch });
  for (const verb of ['replace', 'patch', 'delete', 'get'] as const) {
    const sent = verb === 'replace' || verb === 'patch' ? { body } : {};
    await call(`${verb}${name}`, { ...sent, status: 404 });
    await call(`${verb}${name}`, { ...sent, key: '%zz', status: 400 });
    if (verb !== 'get') {
      await call(`${verb}${name}`,
        { ...sent, key, headers: { origin: 'http://evil.test' }, status: 403 });
    }
    await call(`${verb}${name}`, { ...sent, key, headers: { host: 'evil.test' }, status: 421 });
  }
  for (const [operationId, at] of [[`add${name}`, ''], [`replace${name}`, key],
    [`patch${name}`, key]] as const) {
    await call(operationId, { key: at, body, headers: { 'content-type': 'text/x' }, status: 415 });
    await call(operationId, { key: at, body: { nope: 1 }, status: 422 });
    await call(operationId, { key: at, body: { a: 'x'.repeat(1_100_000) }, status: 413 });
  }
  await call(`delete${name}`, { key, status: 204 });
  await call(`restore${name}`, { key });
  await call(`restore${name}`, { key, status: 404 });
  return key;
}

async function exerciseHandshakes(
  { call }: Described, actionConfiguration: string,
): Promise<void> {
  const { headers: { location = '' } } = await call('addIncomingWebhook', {
    status: 201,
    body: { pathSegment: 'shaken', verification: { preset: 'asana' }, actionConfiguration },
  });
  const key = location.split('/').at(-1) ?? '';
  await call('awaitIncomingWebhookSecret', { key });
  await call('awaitIncomingWebhookSecret', { status: 404 });
  await call('deleteIncomingWebhook', { key, status: 204 });
}
