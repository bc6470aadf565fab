/** The document at /openapi.json against the server that gives it: every route, and its answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAppServer } from '../support/app-server.ts';
import { resolvePointer, validate } from '../support/json-schema.ts';
import { assertDescribed, operationsOf } from '../support/open-api.ts';
import type { ApiDocument, PlacedOperation } from '../support/open-api.ts';
import { makeToken } from '../support/make-token.ts';
import { BOUND_SCOPE_OF, SCOPE_OF } from '../support/scopes.ts';
import { ask } from './ask.ts';
import { exerciseResource, exerciseWebhooks, type Described } from './exercise-api.ts';

const TOKEN = 'quite-secret';

/** Serves a new data directory, and gives what calls its operations as its document names them. */
function withDocument(
  environment: Readonly<Record<string, string>>, use: (described: Described) => Promise<void>,
): Promise<void> {
  return withAppServer(async ({ url, data }) => {
    const document = JSON.parse((await ask(`${url}/openapi.json`)).text) as ApiDocument;
    const operations = operationsOf(document);
    const called = new Set<string>();
    await use({
      url, data, document, called,
      async call(operationId, { status = 200, key = 'none', query = '', ...question } = {}) {
        const operation = operations.find((one) => one.operationId === operationId);
        assert.ok(operation !== undefined, `no operation ${operationId}`);
        const path = operation.path.replace(/\{\w+\}/, key);
        const method = question.method ?? operation.method;
        const answer = await ask(`${url}${path}${query}`, { ...question, method });
        assert.equal(answer.status, status, `${operationId} ${answer.text}`);
        assertDescribed(document, operation, answer);
        if (status < 400) called.add(operationId);
        return answer;
      },
    });
  }, environment);
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

test('a rule reads on after "Must be"; what a member means is no rule', () =>
  withDocument({}, ({ document }) => {
    const descriptions = JSON.stringify(document).match(/Must be [^"]{0,40}/g) ?? [];
    assert.ok(descriptions.length > 20);
    assert.deepEqual(descriptions.filter((text) => /^Must be [A-Z`]/.test(text)), []);
    return Promise.resolve();
  }));

test('every operation of the API refuses an unknown query parameter, as the document says', () =>
  withDocument({}, async ({ data, document, call }) => {
    const ofApi = operationsOf(document).filter(({ path }) => path.startsWith('/api/'));
    assert.ok(ofApi.length > 50);
    const isOfCopies = ({ path }: PlacedOperation) => path.startsWith('/api/follow/');
    const question = { status: 400, query: '?zzz=1', key: 'books' };
    for (const operation of ofApi.filter((one) => !isOfCopies(one))) {
      await call(operation.operationId, question);
    }
    // The token closes the API to the calls before.
    const headers = await makeFollowHeaders(data);
    for (const { operationId } of ofApi.filter(isOfCopies)) {
      await call(operationId, { ...question, headers });
    }
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
      'getOpenApi', 'getDocs', 'getConsole', 'listActions', 'reconcileDeliveries', 'getAccess',
      'listTokens', 'getStatus', 'getStatistics', 'listLogLines', 'listSettings', 'listNodes',
      'getIcon',
    ]) await call(operationId);
    const { text: page } = await call('getConsole');
    const [, script = ''] = /data-scripts="([^" ]+)/.exec(page) ?? [];
    await call('getConsoleScript', { key: script });
    await call('getConsoleScript', { key: 'other.js', status: 404 });
    await call('getIndex', { headers: { accept: 'text/html' }, status: 302 });
    await call('getStatistics', { query: '?window=24h' });
    await call('getStatistics', { query: '?window=2h', status: 400 });
    await call('getStatisticsHistory', { query: '?window=7d' });
    await call('getStatisticsHistory', { query: '?window=2d', status: 400 });
    await call('listLogLines', { query: '?level=warning&after=1&requestId=none' });
    await call('listLogLines', { query: '?level=loud', status: 400 });
    // A GET would have no end.
    await call('streamChanges', { method: 'HEAD' });
    await call('streamChanges', { query: '?topics=none', status: 400 });
    await call('getChapter', { key: 'security' });
    await call('getChapter', { key: 'securities', status: 404 });
    const book = await exerciseResource(described, 'Book', 'books', BOOK, { subtitle: 'A' });
    await call('listBooks', { query: '?limit=1&q=emma&sort=-title' });
    await call('countBookFacets', { query: '?by=author,decade&q=emma' });
    await call('countBookFacets');
    await call('countBooksRead', { query: '?by=status' });
    await call('countBooksRead', { query: '?by=years', status: 400 });
    await call('suggestBooks', { query: '?q=e' });
    await call('listDuplicateBooks', { query: '?by=title' });
    await call('listDuplicateBooks', { status: 400 });
    await call('suggestBooks', { query: '?q=', status: 400 });
    await call('listBooks', { query: '?keyword=a&keyword=b&hasIsbn=true&sort=author,-id' });
    await call('getBook', { key: book, query: '?fields=titel', status: 400 });
    await call('listBooks', { query: '?limit=0', status: 400 });
    await call('listBooks', { query: '?explain=false' });
    await call('listBooks', { query: '?explain=maybe', status: 400 });
    await call('listBooks', { query: '?nope=1', status: 400 });
    const jsonl = { 'content-type': 'application/jsonl' };
    await call('importBooks', { body: BOOK, headers: jsonl, query: '?dryRun=true' });
    await call('importBooks', {
      body: BOOK, headers: { 'content-type': 'text/html' }, status: 415,
    });
    await call('importBooks', { body: BOOK, query: '?format=csv', status: 422 });
    await call('findIdentifiers', { key: 'books', query: '?part=0' });
    await call('findIdentifiers', { key: 'books', query: '?piece=0', status: 400 });
    await call('findIdentifiers', { key: 'tokens', query: '?part=0', status: 404 });
    await call('importBooks', { body: BOOK, headers: jsonl, query: '?x=1', status: 400 });
    const { text: added } = await call('addBook', { body: BOOK, status: 201 });
    const from = String(JSON.parse(added).id);
    await call('mergeBooks', { key: book, body: { from, members: ['id'] }, status: 422 });
    await call('mergeBooks', { key: from, body: { from: book, members: ['reading.rating'] } });
    await call('mergeBooks', { key: book, body: { from }, status: 404 });
    await call('deleteBook', { key: from, status: 204 });
    await exerciseWebhooks(described);
    await exerciseFollowing(described);
    const all = operationsOf(document).map(({ operationId }) => operationId);
    assert.deepEqual(all.filter((id) => !called.has(id)), []);
  }));

async function makeFollowHeaders(data: string): Promise<Readonly<Record<string, string>>> {
  return { authorization: `Bearer ${(await makeToken(data, 'follow')).token}` };
}

/** After all others: the token closes the API to them. */
async function exerciseFollowing({ url, data, call }: Described): Promise<void> {
  const headers = await makeFollowHeaders(data);
  const uuid = '00000000-0000-4000-8000-000000000000';
  const query = `?after=0&epoch=${uuid}&copy=${uuid}`;
  await call('followLog', { headers, query, status: 412 });
  await call('followLog', { headers, query: '?after=0', status: 400 });
  // A GET would have no end.
  await call('followLog', { headers, query, method: 'HEAD' });
  const { text } = await call('followBackup', { headers });
  const [, epoch, after] = /\{"id":"([-0-9a-f]{36})","after":(\d+)\}/.exec(text) ?? [];
  assert.ok(epoch !== undefined);
  const progress = { headers, body: { copy: uuid, sequence: Number(after) + 1 } };
  await call('tellFollowProgress', { ...progress, status: 404 });
  await call('tellFollowProgress', { headers, body: { copy: uuid }, status: 422 });
  const controller = new AbortController();
  const known = `?after=${Number(after) + 1}&epoch=${epoch}&copy=${uuid}`;
  const stream = await fetch(`${url}/api/follow/log${known}`,
    { headers, signal: controller.signal });
  assert.equal(stream.status, 200);
  await call('tellFollowProgress', { ...progress, status: 204 });
  controller.abort();
}

const SCOPES_TOLD =
  /^Scope of the token: `(\w+)`(?:; of one that is bound to webhooks: `(\w+)`)?\.$/;

test('the document tells every route and the scope that it needs', () =>
  withDocument({}, ({ document }) => {
    const boundScopes: [string, string][] = [];
    const told = operationsOf(document).map(({ method, path, description, security }) => {
      const [, scope = 'public', boundScope] = SCOPES_TOLD.exec(description ?? '') ?? [];
      if (boundScope !== undefined) boundScopes.push([`${method} ${path}`, boundScope]);
      assert.equal(security.length > 0, scope !== 'public', path);
      // No token at all will do while the service has none, but for what holds every secret.
      const mayLackToken = security.some((one) => Object.keys(one).length === 0);
      assert.equal(mayLackToken, scope !== 'public' && scope !== 'follow', path);
      return [`${method} ${path}`, scope] as const;
    });
    assert.deepEqual(new Map(told), SCOPE_OF);
    assert.deepEqual(new Map(boundScopes), BOUND_SCOPE_OF);
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
