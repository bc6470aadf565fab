/** Every tool called with right and with wrong arguments, and what results hold and leave out. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openAppServer, type AppServer } from '../support/app-server.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { ask } from '../e2e/ask.ts';
import { until } from '../support/until.ts';
import {
  OPEN, createSpeaker, listTools, repeatUntilEnd, type Result, type Speaker,
} from './speaker.ts';

const SECRET = 'sesame-never-to-be-seen';
const RESULT_BYTES_MAX = 64 * 1024;

let server: AppServer;
let speaker: Speaker;
/** Identifiers that the steps before have made, by the name of the tool. */
const made = new Map<string, string>();

before(async () => {
  server = await openAppServer(createTemporaryFolder(), OPEN);
  speaker = createSpeaker(server.url);
});

after(() => server.close());

/** In an order in which each finds what it needs. */
const RIGHT: readonly (readonly [name: string, args: () => object])[] = [
  ['books_create', () => ({ title: 'Emma', authors: [{ name: 'Jane Austen' }] })],
  ['books_list', () => ({ q: 'emma', limit: 5 })],
  ['books_get', () => ({ id: made.get('books_create') })],
  ['books_update', () => ({ id: made.get('books_create'), subtitle: 'A novel' })],
  ['verification_presets_list', () => ({ limit: 3 })],
  ['actions_list', () => ({})],
  ['action_configurations_create',
    () => ({ identifier: 'to-log', actionType: 'log', options: {} })],
  ['action_configurations_list', () => ({})],
  ['action_configurations_get', () => ({ identifier: 'to-log' })],
  ['action_configurations_update', () => ({ identifier: 'to-log', description: 'x' })],
  ['incoming_webhooks_create', () => ({
    pathSegment: 'gh', secret: SECRET, verification: { preset: 'github' }, inbox: 'all',
    actionConfiguration: 'to-log',
  })],
  ['incoming_webhooks_list', () => ({ q: 'gh' })],
  ['incoming_webhooks_get', () => ({ identifier: 'gh' })],
  ['incoming_webhooks_update', () => ({ identifier: 'gh', description: 'of GitHub' })],
  ['webhook_try', () => ({ identifier: 'gh', event: 'push' })],
  ['requests_list', () => ({ hook: 'gh' })],
  ['requests_get', () => ({ id: made.get('requests_list') })],
  ['requests_body', () => ({ id: made.get('requests_list') })],
  ['requests_replay', () => ({ id: made.get('requests_list') })],
  ['incoming_webhooks_diagnose',
    () => ({ identifier: 'gh', request: made.get('requests_list') })],
  ['incoming_webhooks_match', () => ({ identifier: 'gh', payload: {} })],
  ['outgoing_webhooks_create', () => ({
    name: 'out', targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'a.b', secret: SECRET,
  })],
  ['outgoing_webhooks_list', () => ({})],
  ['outgoing_webhooks_get', () => ({ identifier: 'out' })],
  ['outgoing_webhooks_update', () => ({ identifier: 'out', timeout: 1 })],
  ['outgoing_webhooks_send', () => ({ identifier: 'out', retries: 0 })],
  ['events_emit', () => ({ name: 'a.b', payload: { n: 1 } })],
  ['events_list', () => ({})],
  ['deliveries_list', () => ({ hook: 'out', order: 'newest' })],
  ['deliveries_get', () => ({ identifier: made.get('deliveries_list') })],
  ['deliveries_resend', () => ({ identifier: made.get('deliveries_list') })],
  ['configuration_plan', () => ({ incomingWebhooks: [] })],
  ['status_get', () => ({})],
  ['requests_wait', () => ({ hook: 'gh', seconds: 0 })],
  ['api_describe', () => ({ route: 'addIncomingWebhook' })],
  ['api_call', () => ({ route: 'getAccess' })],
  ['books_delete', () => ({ id: made.get('books_create') })],
];

test('every tool answers an object to right arguments, and none tells a secret', async () => {
  const tools = await listTools(speaker);
  assert.deepEqual(tools.map(({ name }) => name).sort(), RIGHT.map(([name]) => name).sort());
  for (const [name, args] of RIGHT) {
    const result = await speaker.call(name, args());
    assert.equal(result.isError, undefined, `${name}: ${result.content[0]?.text}`);
    const { structuredContent = {}, content } = result;
    assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent, name);
    assert.ok(Buffer.byteLength(JSON.stringify(result)) <= RESULT_BYTES_MAX, name);
    assert.equal(JSON.stringify(result).includes(SECRET), false, name);
    const { items, id, identifier } = Object(structuredContent);
    const [first] = Array.isArray(items) ? items : [];
    made.set(name, String(id ?? identifier ?? first?.id ?? first?.identifier ?? ''));
  }
  assert.equal(server.log().includes(SECRET), false);
});

test('every tool says in a sentence what is wrong with its arguments', async () => {
  for (const { name, inputSchema } of await listTools(speaker)) {
    const wrong = [{ nothing: SECRET }, ...inputSchema.required === undefined ? [] : [{}]];
    for (const args of wrong) {
      const result = await speaker.call(name, args);
      assert.equal(result.isError, true, name);
      assert.equal(result.structuredContent, undefined, name);
      assert.match(result.content[0]?.text ?? '', /^[^\s{].* /, name);
      assert.equal(JSON.stringify(result).includes(SECRET), false, name);
    }
  }
  const many = await speaker.call('books_create', { title: 3, isbn: 'x' });
  assert.match(many.content[0]?.text ?? '', /\/title: must be a string.*\/isbn/);
  const missing = await speaker.call('books_get', { id: 'nobody' });
  assert.match(missing.content[0]?.text ?? '', /no book/);
  const { error } = await speaker.rpc('tools/call', { name: 'books_lits', arguments: {} });
  assert.equal(error?.code, -32602);
  assert.match(error?.message ?? '', /books_list/);
});

test('hints follow the method, but where a row says otherwise', async () => {
  const hints = new Map((await listTools(speaker)).map((tool) => [tool.name, tool.annotations]));
  for (const name of ['books_list', 'incoming_webhooks_diagnose', 'incoming_webhooks_match',
    'configuration_plan', 'requests_wait']) {
    assert.equal(hints.get(name)?.['readOnlyHint'], true, name);
  }
  for (const name of ['books_delete', 'books_update', 'api_call']) {
    assert.equal(hints.get(name)?.['destructiveHint'], true, name);
  }
  assert.deepEqual(hints.get('books_create'), { readOnlyHint: false, destructiveHint: false });
});

test('api_describe tells the whole of a route, also what the list of tools omits', async () => {
  let text = '';
  let from = 0;
  for (let total = 1; from < total;) {
    const piece = await speaker.read('api_describe', { route: 'patchIncomingWebhook', from });
    assert.ok(typeof piece['json'] === 'string', 'it is too long for one result');
    total = Number(piece['total']);
    from += piece['json'].length;
    text += piece['json'];
  }
  const { arguments: described, answer, $defs } = JSON.parse(text);
  const { allowedAddresses, verification } = described.properties;
  assert.match(allowedAddresses.description, /^Who may call: IP addresses/);
  assert.equal(allowedAddresses.items.type, 'string');
  for (const { $ref } of [verification, answer]) assert.ok($ref.replace('#/$defs/', '') in $defs);
});

test('neither way reaches what is a secret, has no end, or is no data', async () => {
  const { routes } = await speaker.read('api_describe');
  const text = JSON.stringify(routes);
  for (const path of ['/sample', 'rotate-secret', '/follow', '/stream', '/import', '/metrics',
    '/control', '/console', '/docs', '/mcp']) {
    assert.equal(text.includes(`${path}:`), false, path);
  }
  for (const route of ['makeSampleRequest', 'rotateOutgoingWebhookSecret', 'followLog',
    'streamChanges', 'importBooks', 'getMetrics', 'relayMcp', 'createToken']) {
    assert.equal((await speaker.call('api_call', { route })).isError, true, route);
  }
});

test('a change is in the log with who made it, and that a program did', async () => {
  const before = server.log().length;
  await speaker.read('books_create', { title: 'Logged' });
  await speaker.read('incoming_webhooks_update', { identifier: 'gh', description: 'again' });
  const lines = server.log().slice(before).trim().split('\n').map((line) => JSON.parse(line));
  const changes = lines.filter(({ via, who }) => via === 'mcp' && who === 'local');
  assert.ok(changes.some(({ path, method }) => path === '/api/books' && method === 'POST'));
  assert.ok(changes.some(({ message }) => message === 'incoming webhook changed'));
});

test('a page that would be too long is shorter, and its cursor leads to the rest', async () => {
  for (let index = 0; index < 25; index += 1) {
    await speaker.read('books_create', { title: `Long ${index}`, description: 'é"'.repeat(3000) });
  }
  const titles = new Set<unknown>();
  let cursor: unknown;
  do {
    const result = await speaker.call('books_list', { q: 'long', cursor, limit: 25 });
    assert.ok(Buffer.byteLength(JSON.stringify(result)) <= RESULT_BYTES_MAX);
    const { items, next, total } = Object(result.structuredContent);
    assert.equal(total, 25);
    for (const { title } of items) titles.add(title);
    cursor = next;
  } while (cursor !== undefined);
  assert.equal(titles.size, 25);
});

test('a limit of null is the usual limit, and not the whole list', async () => {
  const { items, total } = Object(
    await speaker.read('books_list', { q: 'long', fields: 'id', limit: null }));
  assert.deepEqual([items.length, total], [20, 25]);
  const { items: presets } = Object(
    await speaker.read('verification_presets_list', { limit: null, cursor: null }));
  assert.equal(presets.length, 20);
});

test('what is cut is named, with the call that goes on', async () => {
  const body = JSON.stringify({ text: 'ü"\\'.repeat(60_000) });
  await speaker.read('incoming_webhooks_create',
    { pathSegment: 'long', inbox: 'all', actionConfiguration: 'to-log' });
  await ask(`${server.url}/webhook/in/long`, { method: 'POST', raw: body });
  const list = await speaker.read('requests_list', { hook: 'long' });
  const id = Object(list)['items'][0].id;
  let text = '';
  let result: Result = await speaker.call('requests_body', { id });
  for (;;) {
    assert.ok(Buffer.byteLength(JSON.stringify(result)) <= RESULT_BYTES_MAX);
    const { text: piece, total } = Object(result.structuredContent);
    text += piece;
    assert.equal(total, body.length);
    const [, from] = /go on by api_call of getRequestBody .* from: (\d+)$/.exec(
      result.content.at(-1)?.text ?? '') ?? [];
    if (from === undefined) break;
    result = await speaker.call('api_call',
      { route: 'getRequestBody', arguments: { id }, from: Number(from) });
  }
  assert.equal(text, body);
});

test('a call that has acted is not named for the rest of its answer, nor made again', async () => {
  const book = { title: 'Once', description: '"'.repeat(20_000) };
  const result = await speaker.call('books_create', book);
  assert.match(result.content.at(-1)?.text ?? '', /was done once: read the record/);
  const again = await speaker.call('api_call', { route: 'addBook', arguments: book, from: 9 });
  assert.match(again.content[0]?.text ?? '', /`from` is for calls that only read/);
  const { text } = await ask(`${server.url}/api/books?q=once&fields=id`);
  assert.equal(JSON.parse(text).length, 1);
});

test('the answer to a handshake is not shown, as it would be signed', async () => {
  await speaker.read('incoming_webhooks_create', {
    pathSegment: 'zoom', secret: SECRET, verification: { preset: 'zoom' },
    actionConfiguration: 'to-log',
  });
  const tried = await speaker.read('webhook_try', { identifier: 'zoom' });
  assert.deepEqual(tried['answer'], { success: true, message: '', data: {} });
  const payload = { event: 'endpoint.url_validation', payload: { plainToken: 'v0:1:x' } };
  const challenged = await speaker.read('webhook_try', { identifier: 'zoom', payload });
  assert.deepEqual([challenged['accepted'], challenged['answer']], [true, undefined]);
  const result = await speaker.call('webhook_try', { identifier: 'gh', handshake: true });
  assert.match(result.content[0]?.text ?? '', /no argument "handshake"/);
});

test('bytes that are no text are not shown', async () => {
  await ask(`${server.url}/webhook/in/long`, {
    method: 'POST', raw: 'a\0b', headers: { 'content-type': 'application/octet-stream' },
  });
  const list = await speaker.read('requests_list', { hook: 'long', limit: 1 });
  const answer = await speaker.read('requests_body', { id: Object(list)['items'][0].id });
  assert.deepEqual(answer, { mediaType: 'application/octet-stream', bytes: 3, isText: false });
});

test('a wait ends with the next request, and with null when none came', async () => {
  assert.deepEqual(await speaker.read('requests_wait', { hook: 'long', seconds: 0 }),
    { request: null });
  const send = (n: number) =>
    ask(`${server.url}/webhook/in/long`, { method: 'POST', body: { n } });
  const { request: first } = Object(await repeatUntilEnd(
    speaker.read('requests_wait', { hook: 'long', seconds: 20 }), () => send(1)));
  assert.equal(first.path, '/webhook/in/long');
  const { items: [request] } = Object(await speaker.read('requests_list', { hook: 'long' }));
  // What came between two waits is not missed.
  await send(2);
  await send(3);
  const { request: second } = Object(
    await speaker.read('requests_wait', { hook: 'long', after: request.id, seconds: 20 }));
  const { request: third } = Object(
    await speaker.read('requests_wait', { hook: 'long', after: second.id, seconds: 20 }));
  assert.ok(request.id < second.id && second.id < third.id);
  const long = await speaker.call('requests_wait', { seconds: 61 });
  assert.equal(long.isError, true);
});

test('at most 20 calls wait, and one whose caller goes makes room', async () => {
  const controllers = Array.from({ length: 20 }, () => new AbortController());
  const body = JSON.stringify({
    jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: 'requests_wait', arguments: { seconds: 60 } },
  });
  const waits = controllers.map(({ signal }) => fetch(`${server.url}/mcp`, {
    method: 'POST', body, signal,
    headers: { 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' },
  }).catch(() => null));
  const isFull = async (): Promise<boolean> =>
    (await speaker.call('requests_wait', { seconds: 0 })).isError === true;
  await until('20 calls wait', isFull);
  controllers[0]?.abort();
  await until('there is room', async () => !await isFull());
  for (const controller of controllers) controller.abort();
  await Promise.all(waits);
});

test('a caller who wants progress gets a stream that ends with the answer', async () => {
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0', id: 7, method: 'tools/call', params: {
        name: 'requests_wait', arguments: { seconds: 1 }, _meta: { progressToken: 'p' },
      },
    }),
    headers: {
      'content-type': 'application/json', 'accept': 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)));
  assert.deepEqual(events[0]?.params, { progressToken: 'p', progress: 0, total: 1 });
  assert.equal(events.at(-1)?.id, 7);
});
