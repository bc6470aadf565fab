/** Who comes in at the door, and which tools he sees. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeBoundToken, makeToken } from '../support/make-token.ts';
import { withAppServer } from '../support/app-server.ts';
import { ask } from '../e2e/ask.ts';
import { OPEN, createSpeaker, listTools } from './speaker.ts';

const LIST_BYTES_MAX = 24_000;

test('each scope sees the tools that it may call, few and short enough for any program', () =>
  withAppServer(async ({ url, data }) => {
    const seen = new Map<string, readonly string[]>();
    for (const scope of ['emit', 'read', 'write', 'admin'] as const) {
      const { token } = await makeToken(data, scope);
      const speaker = createSpeaker(url, token);
      const tools = await listTools(speaker);
      const reply = await speaker.rpc('tools/list');
      assert.ok(Buffer.byteLength(JSON.stringify(reply.result)) <= LIST_BYTES_MAX, scope);
      assert.ok(tools.length <= 40, `${scope}: ${tools.length}`);
      seen.set(scope, tools.map(({ name }) => name));
      const { routes } = await speaker.read('api_describe');
      assert.ok(Array.isArray(routes) && routes.length > 0, scope);
    }
    assert.deepEqual(seen.get('emit'), ['events_emit', 'api_describe', 'api_call']);
    const read = seen.get('read') ?? [];
    assert.ok(read.includes('configuration_plan') && !read.includes('books_create'));
    for (const name of [
      'books_list', 'books_get', 'books_create', 'requests_list', 'requests_replay',
      'deliveries_resend', 'incoming_webhooks_create', 'incoming_webhooks_update',
      'incoming_webhooks_diagnose', 'action_configurations_create', 'outgoing_webhooks_send',
      'events_emit', 'configuration_plan', 'requests_wait', 'webhook_try', 'status_get',
    ]) assert.ok(seen.get('admin')?.includes(name), name);
    const { token } = await makeToken(data, 'read');
    const reader = createSpeaker(url, token);
    for (const tool of await listTools(reader)) {
      assert.equal(tool.annotations['readOnlyHint'], true, tool.name);
    }
    const { error } = await reader.rpc('tools/call', { name: 'books_create', arguments: {} });
    assert.equal(error?.code, -32602);
    assert.match(error?.message ?? '', /needs the scope write/);
    const call = await reader.call('api_call', { route: 'addBook', arguments: { title: 'x' } });
    assert.equal(call.isError, true);
    assert.match(call.content[0]?.text ?? '', /needs the scope write/);
    const applied = await reader.call('api_call', { route: 'applyConfiguration', arguments: {} });
    assert.match(applied.content[0]?.text ?? '', /needs the scope admin/);
    const explained = await reader.call('books_list', { explain: true });
    assert.match(explained.content[0]?.text ?? '', /needs the scope admin/);
  }, OPEN));

test('a copy stays out, and without a token nobody comes in once there is one', () =>
  withAppServer(async ({ url, data }) => {
    const { token } = await makeToken(data, 'follow');
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const headers = { 'mcp-protocol-version': '2025-11-25' };
    const post = (more: Record<string, string>) =>
      ask(`${url}/mcp`, { method: 'POST', body: ping, headers: { ...headers, ...more } });
    assert.equal((await post({ authorization: `Bearer ${token}` })).status, 403);
    assert.equal((await post({})).status, 401);
    assert.equal((await post({ authorization: 'Bearer x' })).status, 401);
    const { token: reader } = await makeToken(data, 'read');
    const foreign = { authorization: `Bearer ${reader}`, origin: 'https://evil.example' };
    assert.equal((await post(foreign)).status, 403);
    assert.equal((await post({ authorization: `Bearer ${reader}` })).status, 200);
  }, OPEN));

test('a page that the settings name comes in, with the headers of the protocol', () =>
  withAppServer(async ({ url }) => {
    const origin = 'https://app.example';
    const preflight = await ask(`${url}/mcp`, {
      method: 'OPTIONS',
      headers: {
        origin, 'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-method',
      },
    });
    assert.equal(preflight.status, 204);
    assert.match(String(preflight.headers['access-control-allow-headers']),
      /MCP-Protocol-Version, Mcp-Method, Mcp-Name/);
    const reply = await ask(`${url}/mcp`, {
      method: 'POST', body: { jsonrpc: '2.0', id: 1, method: 'ping' },
      headers: { origin, 'mcp-protocol-version': '2025-11-25' },
    });
    assert.equal(reply.status, 200);
  }, { ...OPEN, HOOKSHELF_SERVER_CORS_ORIGINS: 'https://app.example' }));

test('a token that is bound to webhooks sees the tools of its routes', () =>
  withAppServer(async ({ url, data }) => {
    const { token } = await makeBoundToken(data, 'read', 'acme');
    const names = (await listTools(createSpeaker(url, token))).map(({ name }) => name);
    assert.ok(names.includes('outgoing_webhooks_list'));
    for (const name of ['books_list', 'requests_list', 'requests_wait', 'webhook_try']) {
      assert.equal(names.includes(name), false, name);
    }
    const speaker = createSpeaker(url, token);
    for (const [name, need] of [
      ['books_list', /not bound to webhooks/], ['deliveries_resend', /the scope resend/],
    ] as const) {
      const { error } = await speaker.rpc('tools/call', { name, arguments: {} });
      assert.match(error?.message ?? '', need);
    }
  }, OPEN));

test('the door is shut unless the setting opens it, and says so', () =>
  withAppServer(async ({ url }) => {
    for (const call of [{ method: 'POST', body: {} }, { method: 'GET' }]) {
      const { status, text } = await ask(`${url}/mcp`, call);
      assert.equal(status, 404);
      assert.match(text, /the setting server\.mcp \(HOOKSHELF_SERVER_MCP=true\) opens it/);
    }
  }));
