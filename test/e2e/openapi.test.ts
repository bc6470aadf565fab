/** The document at /openapi.json against the server that gives it: every route, and its answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { resolvePointer, validate } from '../support/json-schema.ts';
import { assertDescribed, operationsOf } from '../support/open-api.ts';
import type { ApiDocument, GivenAnswer, PlacedOperation } from '../support/open-api.ts';
import { SCOPE_OF } from '../support/scopes.ts';
import { ask } from './ask.ts';
import type { Question } from './ask.ts';
import { inFolder, startServer } from './processes.ts';

const TOKEN = 'quite-secret';

type Described = {
  readonly url: string;
  readonly document: ApiDocument;
  /** Calls an operation and checks the answer against the document. */
  call(operationId: string, given?: Call): Promise<GivenAnswer>;
  readonly called: ReadonlySet<string>;
};

type Call = Question & {
  readonly status?: number; readonly key?: string; readonly query?: string;
};

async function withDocument(
  environment: Readonly<Record<string, string>>, use: (described: Described) => Promise<void>,
): Promise<void> {
  await inFolder(async (data) => {
    const server = await startServer(['--data', data], { environment });
    try {
      const { text } = await ask(`${server.url}/openapi.json`);
      const document = JSON.parse(text) as ApiDocument;
      const operations = operationsOf(document);
      const called = new Set<string>();
      await use({
        url: server.url, document, called,
        async call(operationId, { status = 200, key = 'none', query = '', ...question } = {}) {
          const operation = operations.find((one) => one.operationId === operationId);
          assert.ok(operation !== undefined, `no operation ${operationId}`);
          const path = operation.path.replace(/\{\w+\}/, key);
          const method = question.method ?? operation.method;
          const answer = await ask(`${server.url}${path}${query}`, { ...question, method });
          assert.equal(answer.status, status, `${operationId} ${answer.text}`);
          assertDescribed(document, operation, answer);
          if (status < 400) called.add(operationId);
          return answer;
        },
      });
    } finally {
      await server.stop();
    }
  });
}

test('the document is sound: ids, references, parameters and examples', () =>
  withDocument({}, ({ document }) => {
    const operations = operationsOf(document);
    assert.equal(new Set(operations.map((one) => one.operationId)).size, operations.length);
    for (const operation of operations) assertSound(document, operation);
    for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
      resolvePointer(document, reference ?? '');
    }
    return Promise.resolve();
  }));

function assertSound(document: ApiDocument, operation: PlacedOperation): void {
  const { operationId, path, parameters = [], responses, requestBody } = operation;
  assert.ok(operation.summary !== '', operationId);
  assert.ok(Object.keys(responses).some((status) => /^2/.test(status)), operationId);
  const inPath = parameters.filter((one) => one.in === 'path' && one.required);
  assert.deepEqual(inPath.map(({ name }) => name),
    [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]), operationId);
  for (const { description, schema } of parameters) {
    assert.ok(description !== '', operationId);
    validate(null, schema, document);
  }
  const bodies = Object.values(requestBody?.content ?? {});
  for (const { example, schema } of bodies) {
    if (example !== undefined) assert.deepEqual(validate(example, schema, document), []);
  }
}

test('every example is accepted', () => withDocument({}, async ({ document, url }) => {
  let count = 0;
  for (const operation of operationsOf(document)) {
    for (const [mediaType, media] of Object.entries(operation.requestBody?.content ?? {})) {
      if (media.example === undefined || operation.method !== 'POST') continue;
      const answer = await ask(`${url}${operation.path}`, {
        method: 'POST', body: media.example, headers: { 'content-type': mediaType },
      });
      assert.ok(answer.status < 300, `${operation.operationId} ${answer.text}`);
      count += 1;
    }
  }
  assert.ok(count > 0);
}));

const BOOK = {
  title: 'Emma', authors: [{ name: 'Jane Austen', address: { addressCountry: 'GB' } }],
  isbn: '978-0-14-143958-7', metadata: { shelf: [1, null] },
};

test('every route answers as the document says, when all is well and when it is not', () =>
  withDocument({}, async (described) => {
    const { call, document, called } = described;
    for (const operationId of ['getIndex', 'getHealth', 'getReadiness', 'getMetrics',
      'getOpenApi', 'getDocs', 'listActions', 'reconcileDeliveries']) await call(operationId);
    // A GET would have no end.
    await call('streamChanges', { method: 'HEAD' });
    await call('streamChanges', { query: '?topics=none', status: 400 });
    await call('getChapter', { key: 'security' });
    await call('getChapter', { key: 'securities', status: 404 });
    const book = await exerciseResource(described, 'Book', 'books', BOOK, { subtitle: 'A' });
    await call('listBooks', { query: '?limit=1&q=emma&sort=-title' });
    await call('listBooks', { query: '?limit=0', status: 400 });
    await call('listBooks', { query: '?nope=1', status: 400 });
    const jsonl = { 'content-type': 'application/jsonl' };
    await call('importBooks', { body: BOOK, headers: jsonl, query: '?dryRun=true' });
    await call('importBooks', { body: BOOK, status: 415 });
    await call('findIdentifiers', { key: 'books', query: '?part=0' });
    await call('findIdentifiers', { key: 'books', query: '?piece=0', status: 400 });
    await call('findIdentifiers', { key: 'tokens', query: '?part=0', status: 404 });
    await call('importBooks', { body: BOOK, headers: jsonl, query: '?x=1', status: 400 });
    await call('deleteBook', { key: book, status: 204 });
    await exerciseWebhooks(described);
    const all = operationsOf(document).map(({ operationId }) => operationId);
    assert.deepEqual(all.filter((id) => !called.has(id)), []);
  }));

async function exerciseWebhooks(described: Described): Promise<void> {
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
  const leaf = { path: 'payload.a', op: 'eq', value: null };
  const routed = { pathSegment: 'routed', deduplicate: { header: 'X-Id' }, routes: [
    { name: 'some', when: { all: [leaf, { not: { any: [leaf] } }] }, actionConfiguration: note },
  ] };
  const { headers: { location = '' } } = await call('addIncomingWebhook',
    { body: routed, status: 201 });
  await call('deleteIncomingWebhook', { key: location.split('/').at(-1) ?? '', status: 204 });
  for (const overlapHours of [0, 1]) {
    await call('rotateIncomingWebhookSecret', { key: incoming, body: { overlapHours } });
  }
  await call('rotateIncomingWebhookSecret', { key: incoming, body: {}, status: 409 });
  await call('deleteWebhookActionConfiguration', { key: note, status: 409 });
  const outgoing = await exerciseResource(described, 'OutgoingWebhook', 'outgoing-webhooks',
    {
      targetUrl: 'http://127.0.0.1:1/', triggerEvents: ['shop.*', '*'], retrySchedule: [0.5],
      timeout: 2.5, maxInFlight: 1, disableAfterHours: 0,
    }, { headers: { 'X-A': 'b' } });
  await call('sendOutgoingWebhook', { key: outgoing, body: { payload: [1] } });
  await call('sendOutgoingWebhook', { key: outgoing });
  await call('sendOutgoingWebhook', { body: {}, status: 404 });
  await call('rotateOutgoingWebhookSecret', { key: outgoing, body: {} });
  await call('rotateOutgoingWebhookSecret', { key: outgoing, body: { nope: 1 }, status: 422 });
  const { text } = await call('emitEvent',
    { body: { name: 'shop.opened', payload: { at: 9 } }, status: 202 });
  const { deliveries: [delivery = ''] } = JSON.parse(text) as { deliveries: string[] };
  await call('listDeliveries', { query: '?limit=1&status=pending' });
  await call('listDeliveries', { query: '?status=nope', status: 400 });
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

async function untilAttempted({ call }: Described, key: string): Promise<void> {
  for (let looks = 0; looks < 1000; looks += 1) {
    const { sent } = JSON.parse((await call('getDelivery', { key })).text) as { sent: unknown };
    if (sent !== null) return;
    await wait(20);
  }
  assert.fail(`delivery ${key} is not attempted`);
}

async function exerciseRequests({ call }: Described): Promise<void> {
  const { text } = await call('listRequests', { query: '?hook=shop&status=done&limit=1' });
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  await call('listRequests', { query: '?since=noon', status: 400 });
  const { headers } = await call('getRequest', { key: id });
  await call('getRequest', {
    key: id, headers: { 'if-none-match': headers.etag ?? '' }, status: 304,
  });
  await call('getRequestBody', { key: id });
  await call('reconcileRequests');
  for (const operationId of ['getRequest', 'getRequestBody', 'replayRequest', 'deleteRequest']) {
    await call(operationId, { status: 404 });
  }
  await call('patchRequest', { key: id, body: { pinned: true } });
  await call('patchRequest', { key: id, body: { status: 'done' }, status: 422 });
  const made = await call('replayRequest', { key: id, body: { as: 'new' }, status: 202 });
  await call('replayRequest', { key: id, body: { routes: ['none'] }, status: 422 });
  await call('deleteRequest', { key: id, status: 204 });
  assert.equal((JSON.parse(made.text) as { replayOf: string }).replayOf, id);
}

async function exerciseJobs({ call }: Described): Promise<void> {
  await call('replayRequests', { body: { status: 'failed', dryRun: true } });
  await call('replayRequests', { body: { status: 'rejected' }, status: 422 });
  const asked = { body: { status: 'failed', since: '2026-01-31T12:00:00+01:00' }, status: 202 };
  const { text, headers } = await call('replayRequests', asked);
  const { id: job } = JSON.parse(text) as { id: string };
  assert.equal(headers.location, `/api/jobs/${job}`);
  await call('resendDeliveries', { body: { dryRun: true } });
  await call('resendDeliveries', { body: { status: 'done' }, status: 422 });
  await call('resendDeliveries', { body: { status: 'delivered', as: 'new' }, status: 202 });
  await call('listJobs');
  await call('listJobs', { query: '?status=done', status: 400 });
  for (const operationId of ['getJob', 'cancelJob']) {
    await call(operationId, { key: job });
    await call(operationId, { status: 404 });
  }
}

/** Reads and writes one resource in every way but DELETE; its key. */
async function exerciseResource(
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
  return key;
}

test('the document tells every route and the scope that it needs', () =>
  withDocument({}, ({ document }) => {
    const told = operationsOf(document).map(({ method, path, description, security }) => {
      const scope = /^Scope of the token: `(\w+)`\.$/.exec(description ?? '')?.[1] ?? 'public';
      assert.equal(security.length > 0, scope !== 'public', path);
      return [`${method} ${path}`, scope] as const;
    });
    assert.deepEqual(new Map(told), SCOPE_OF);
    return Promise.resolve();
  }));

test('with a token, every route that needs it says so', () =>
  withDocument({ HOOKSHELF_API_TOKEN: TOKEN }, async ({ document, call }) => {
    const isClosed = ({ method, path }: PlacedOperation) =>
      SCOPE_OF.get(`${method} ${path}`) !== 'public';
    for (const operation of operationsOf(document).filter(isClosed)) {
      await call(operation.operationId, { status: 401 });
      await call(operation.operationId,
        { status: 401, headers: { authorization: 'Bearer other' } });
    }
    for (const operationId of ['getIndex', 'getHealth', 'getReadiness']) await call(operationId);
    await call('listBooks', { headers: { authorization: `Bearer ${TOKEN}` } });
  }));
