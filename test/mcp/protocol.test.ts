/** The two eras of the protocol over HTTP: versions, headers, methods, and what is no message. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openAppServer, type AppServer } from '../support/app-server.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { ask } from '../e2e/ask.ts';
import { META, OPEN, VERSION, createSpeaker, type Speaker } from './speaker.ts';

let server: AppServer;
let speaker: Speaker;

before(async () => {
  server = await openAppServer(createTemporaryFolder(), OPEN);
  speaker = createSpeaker(server.url);
});

after(() => server.close());

const NEW = { 'mcp-protocol-version': VERSION };
const message = (method: string, params: object = {}, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

type Expectation = readonly [
  what: string, body: string, headers: Record<string, string>, status: number, code: number | null,
];

const withMeta = { _meta: META };
const unknownMeta = { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': 'v9' } };
const OLD = { 'mcp-protocol-version': '2025-11-25' };
const CALL = { ...withMeta, name: 'status_get', arguments: {} };

const EXPECTATIONS: readonly Expectation[] = [
  ['new', message('tools/list', withMeta), { ...NEW, 'mcp-method': 'tools/list' }, 200, null],
  ['method as another', message('tools/list', withMeta), { ...NEW, 'mcp-method': 'ping' },
    400, -32020],
  ['no method', message('tools/list', withMeta), NEW, 400, -32020],
  ['method in capitals', message('tools/list', withMeta), { ...NEW, 'mcp-method': 'TOOLS/LIST' },
    400, -32020],
  ['no header at all', message('tools/list', withMeta), {}, 400, -32020],
  ['an old header, a new body', message('tools/list', withMeta),
    { ...OLD, 'mcp-method': 'tools/list' }, 400, -32020],
  ['a new header, no _meta', message('tools/list'), { ...NEW, 'mcp-method': 'tools/list' },
    400, -32602],
  ['no capabilities', message('tools/list',
    { _meta: { 'io.modelcontextprotocol/protocolVersion': VERSION } }),
    { ...NEW, 'mcp-method': 'tools/list' }, 400, -32602],
  ['an unknown version', message('tools/list', unknownMeta),
    { 'mcp-protocol-version': 'v9', 'mcp-method': 'tools/list' }, 400, -32022],
  ['an unknown version, and a known header', message('tools/list', unknownMeta),
    { ...NEW, 'mcp-method': 'tools/list' }, 400, -32020],
  ['an unknown version alone', message('tools/list'), { 'mcp-protocol-version': '2024-11-05' },
    400, -32022],
  ['no version', message('tools/list'), {}, 400, -32020],
  ['initialize, new', message('initialize', withMeta), { ...NEW, 'mcp-method': 'initialize' },
    404, -32601],
  ['ping, new', message('ping', withMeta), { ...NEW, 'mcp-method': 'ping' }, 404, -32601],
  ['unknown, new', message('x/y', withMeta), { ...NEW, 'mcp-method': 'x/y' }, 404, -32601],
  ['listen', message('subscriptions/listen', withMeta),
    { ...NEW, 'mcp-method': 'subscriptions/listen' }, 404, -32601],
  ['name', message('tools/call', CALL),
    { ...NEW, 'mcp-method': 'tools/call', 'mcp-name': 'status_get' }, 200, null],
  ['name in base64', message('tools/call', CALL), { ...NEW, 'mcp-method': 'tools/call',
    'mcp-name': `=?base64?${Buffer.from('status_get').toString('base64')}?=` }, 200, null],
  ['another name', message('tools/call', CALL),
    { ...NEW, 'mcp-method': 'tools/call', 'mcp-name': 'books_list' }, 400, -32020],
  ['no name', message('tools/call', CALL), { ...NEW, 'mcp-method': 'tools/call' }, 400, -32020],
  ['old', message('tools/list'), OLD, 200, null],
  ['older', message('tools/list'), { 'mcp-protocol-version': '2025-06-18' }, 200, null],
  ['initialize, old', message('initialize', { protocolVersion: '2025-06-18' }), {}, 200, null],
  ['ping, old', message('ping'), OLD, 200, null],
  ['unknown, old', message('x/y'), OLD, 200, -32601],
  ['discover, old', message('server/discover'), OLD, 200, -32601],
  ['a session is ignored', message('ping'), { ...OLD, 'mcp-session-id': 'x', 'last-event-id': '1' },
    200, null],
  ['a resource that is not', message('resources/read', { uri: 'hookshelf://manual/x' }), OLD,
    200, -32002],
  ['no JSON', '{', OLD, 400, -32700],
  ['a batch', `[${message('ping')}]`, OLD, 400, -32600],
  ['a text', '"x"', OLD, 400, -32600],
  ['null as id', message('ping', {}, null), OLD, 400, -32600],
  ['a fraction as id', message('ping', {}, 1.5), OLD, 400, -32600],
  ['an object as id', message('ping', {}, {}), OLD, 400, -32600],
  ['no method', '{"jsonrpc":"2.0","id":1}', OLD, 400, -32600],
  ['another JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', OLD, 400, -32600],
  ['params that are an array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', OLD,
    400, -32600],
];

test('a message gets the status and the code of its era', async () => {
  for (const [what, body, headers, status, code] of EXPECTATIONS) {
    const reply = await speaker.post(body, headers);
    const answer = JSON.parse(reply.text);
    assert.deepEqual([reply.status, answer.error?.code ?? null], [status, code],
      `${what}: ${reply.text}`);
    if (code === null || ![-32700, -32600].includes(code)) assert.equal(answer.id, 1, what);
    if (code === -32022) {
      assert.deepEqual(answer.error.data.supported, [VERSION, '2025-11-25', '2025-06-18']);
      assert.match(answer.error.data.requested, /^(v9|2024-11-05)$/);
    }
    assert.equal(reply.headers['mcp-session-id'], undefined);
  }
});

test('an id comes back as it came, with all its digits', async () => {
  for (const id of ['"x"', '0', '-7', '9007199254740993', '""']) {
    const { text } = await speaker.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, OLD);
    assert.equal(text, `{"jsonrpc":"2.0","id":${id},"result":{}}`);
  }
});

test('a notification is accepted without an answer, whatever its method', async () => {
  for (const method of ['notifications/initialized', 'notifications/cancelled', 'x']) {
    const reply = await speaker.post(JSON.stringify({ jsonrpc: '2.0', method }));
    assert.deepEqual([reply.status, reply.text], [202, '']);
  }
});

test('results say what the new era wants of them, and in the old era nothing of it', async () => {
  const { result: discovered = {} } = await speaker.rpc('server/discover');
  assert.deepEqual(Object(discovered)['supportedVersions'],
    [VERSION, '2025-11-25', '2025-06-18']);
  assert.deepEqual(Object(discovered)['capabilities'], { tools: {}, resources: {}, prompts: {} });
  for (const method of ['tools/list', 'resources/list', 'prompts/list', 'server/discover']) {
    const { result = {} } = await speaker.rpc(method);
    const { resultType, ttlMs, cacheScope, _meta: meta } = Object(result);
    assert.equal(resultType, 'complete');
    assert.ok(Number.isInteger(ttlMs) && ttlMs >= 0, method);
    assert.equal(cacheScope, method === 'tools/list' ? 'private' : 'public');
    assert.equal(meta['io.modelcontextprotocol/serverInfo'].name, 'hookshelf');
    const old = JSON.parse((await speaker.post(message(method), OLD)).text).result ?? {};
    for (const name of ['resultType', 'ttlMs', 'cacheScope', '_meta']) {
      assert.equal(Object.hasOwn(old, name), false, `${method} ${name}`);
    }
  }
});

test('an old client gets the version that it asks for, or the newest of its era', async () => {
  for (const [asked, given] of [['2025-06-18', '2025-06-18'], ['2024-11-05', '2025-11-25']]) {
    const reply = await speaker.post(message('initialize', { protocolVersion: asked }));
    assert.equal(JSON.parse(reply.text).result.protocolVersion, given);
  }
});

test('the chapters of the manual are resources, and the prompts are filled in', async () => {
  const { result: list } = await speaker.rpc('resources/list');
  const [first] = Object(list)['resources'];
  assert.equal(first.mimeType, 'text/markdown');
  const { result: read } = await speaker.rpc('resources/read', { uri: first.uri });
  assert.match(Object(read)['contents'][0].text, /^# /);
  const { error } = await speaker.rpc('resources/read', { uri: 'hookshelf://manual/nothing' });
  assert.equal(error?.code, -32602);
  const { result: prompts } = await speaker.rpc('prompts/list');
  assert.deepEqual(Object(prompts)['prompts'].map((prompt: { name: string }) => prompt.name),
    ['connect-a-sender', 'find-out-why-it-failed']);
  const { result: prompt } =
    await speaker.rpc('prompts/get', { name: 'connect-a-sender', arguments: { sender: 'github' } });
  assert.match(Object(prompt)['messages'][0].content.text, /"github"/);
  const { error: missing } = await speaker.rpc('prompts/get', { name: 'connect-a-sender' });
  assert.equal(missing?.code, -32602);
  const { error: unread } =
    await speaker.rpc('prompts/get', { name: 'connect-a-sender', arguments: [] });
  assert.match(String(unread?.message), /`arguments` must be an object/);
});

test('the door takes POST of JSON, from no page elsewhere, up to the limit of bodies', async () => {
  const url = `${server.url}/mcp`;
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const reply = await ask(url, { method });
    assert.deepEqual([reply.status, reply.headers.allow], [405, 'OPTIONS, POST'], method);
  }
  const text =
    await ask(url, { method: 'POST', raw: '{}', headers: { 'content-type': 'text/plain' } });
  assert.equal(text.status, 415);
  assert.equal((await speaker.post(' '.repeat(10 << 20), OLD)).status, 413);
  const foreign = { ...OLD, origin: 'http://evil.example' };
  assert.equal((await speaker.post(message('ping'), foreign)).status, 403);
  assert.equal((await speaker.post(message('ping'), { ...OLD, origin: server.url })).status, 200);
  const rebound = await ask(url, { method: 'POST', raw: '{}', headers: { host: 'evil.example' } });
  assert.equal(rebound.status, 421);
});
