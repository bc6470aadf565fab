/** A server elsewhere, and what stands in its place: each says clearly what is wrong. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../io.ts';
import type { Ran } from '../io.ts';
import { startProxy } from '../../support/proxy.ts';
import { answer, startServer } from '../../support/servers.ts';
import type { ScriptedServer, ServerPlan } from '../../support/servers.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { createCertificate } from '../../support/tls.ts';

const TOKEN = 'hush-hush-hush';
const BOOK = '{"id":"1","title":"Emma"}';
const list = (body: string, ...headers: readonly string[]): string =>
  answer(200, body, ['Content-Type: application/json', ...headers]);

test('paths stand below the path of the server, also those of further pages', () => withServer({
  onRequest: ({ socket, turn, connection }) => socket.end(turn === 1 && connection === 1
    ? list(`[${BOOK}]`, 'Link: <https://elsewhere/shop/api/books?cursor=2>; rel="next"')
    : list(`[${BOOK}]`)),
}, async (server) => {
  const { code, stdout, stderr } = await books(server, '/shop/');
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).length, 2);
  const lines = server.received.map(({ head }) => head.split('\r\n')[0]);
  assert.deepEqual(lines.map((line) => line?.replace(/limit=\d+/, 'limit=n')),
    ['GET /shop/api/books?limit=n HTTP/1.1', 'GET /shop/api/books?cursor=2 HTTP/1.1']);
  for (const { head } of server.received) {
    assert.match(head, new RegExp(`^authorization: Bearer ${TOKEN}$`, 'im'));
    assert.match(head, new RegExp(`^host: 127\\.0\\.0\\.1:${server.port}$`, 'im'));
  }
}));

const HTML = 'Content-Type: text/html';
const NOT_OURS: readonly (readonly [string, string, RegExp])[] = [
  ['a redirect', answer(308, '', ['Location: https://books.example.com/shop?token=a']),
    /redirects to https:\/\/books\.example\.com\/shop \(status 308\), and redirects are not foll/],
  ['a redirect to nowhere', answer(302, ''), /redirects \(status 302\), and redirects are not/],
  ['a web page', answer(200, '<p>hello', [HTML]), /answered GET \/api\/books with 200 \(OK\), and/],
  ['a missing page', answer(404, '<p>none', [HTML]), /with 404 \(Not Found\), and not as/],
  ['a proxy without a server', answer(502, '', [HTML]), /with 502 \(Bad Gateway\), and not/],
  ['other JSON', list('{"hello":1}'), /not the JSON array that hookshelf gives/],
  ['broken JSON', list('{"hello'), /the answer is not JSON/],
  ['another protocol', '220 mail.example.com ESMTP\r\n', /the connection to the server broke/],
  ['a token that is not known', answer(401, '{}', ['Content-Type: application/problem+json']),
    /does not accept the token: it is of another server, revoked or expired .* scope read\)/],
];

for (const [what, bytes, says] of NOT_OURS) {
  test(`says clearly that ${what} answers`, () => withServer({
    onRequest: ({ socket }) => socket.end(bytes),
  }, async (server) => {
    const { code, stdout, stderr } = await books(server);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, says);
    assert.ok(!stderr.includes(TOKEN) && !stderr.includes('token=a'));
    await server.drained();
  }));
}

test('a certificate that nobody vouches for is refused, and accepted without http.verify', () =>
  withServer({
    certificate: createCertificate(), onRequest: ({ socket }) => socket.end(list('[]')),
  }, async (server) => {
    const { code, stderr } = await books(server);
    assert.equal(code, 1);
    assert.match(stderr, /^hookshelf: cannot reach https:\/\/127\.0\.0\.1:\d+: the certificate /);
    assert.match(stderr, /NODE_EXTRA_CA_CERTS/);
    assert.equal(server.received.length, 0);
    const trusted = await books(server, '', { HOOKSHELF_HTTP_VERIFY: 'false' });
    assert.equal(trusted.code, 0, trusted.stderr);
  }));

test('a server that wants a certificate of its clients is told from one that is not there', () =>
  withServer({
    certificate: createCertificate(),
    clientCertificates: { authority: createCertificate(['nobody']).cert },
    onRequest: ({ socket }) => socket.end(list('[]')),
  }, async (server) => {
    const { code, stderr } = await books(server, '', { HOOKSHELF_HTTP_VERIFY: 'false' });
    assert.equal(code, 1);
    assert.match(stderr, /the server wants a client certificate \(.*\): commands have none; name /);
    assert.equal(server.received.length, 0);
  }));

test('requests go through the proxy of the settings, to http and to https', async () => {
  const proxy = await startProxy({ credentials: 'ada:key' });
  const environment = {
    HOOKSHELF_HTTP_PROXY: proxy.url('ada:key'), HOOKSHELF_HTTP_VERIFY: 'false',
  };
  try {
    for (const certificate of [undefined, createCertificate()]) {
      await withServer({
        ...certificate === undefined ? {} : { certificate },
        onRequest: ({ socket }) => socket.end(list('[]')),
      }, async (server) => {
        const { code, stderr } = await books(server, '', environment);
        assert.equal(code, 0, stderr);
        assert.equal(proxy.asked.at(-1)?.startsWith(certificate === undefined
          ? `GET http://127.0.0.1:${server.port}/api/books` : `CONNECT 127.0.0.1:${server.port}`),
        true, proxy.asked.at(-1));
      });
    }
  } finally {
    await proxy.close();
  }
});

test('a server in this machine or network is the caller\'s choice, metadata services never', () =>
  withServer({ onRequest: ({ socket }) => socket.end(list('[]')) }, async (server) => {
    const denied = { HOOKSHELF_HTTP_DENY_ADDRESSES: 'loopback,private,link-local,metadata' };
    const { code, stderr } = await books(server, '', denied);
    assert.equal(code, 0, stderr);
    for (const host of ['169.254.169.254', '[fe80::1]', '100.100.100.200']) {
      const refused = await runCommand(['book:list', '--server', `http://${host}`]);
      assert.match(refused.stderr, /on the list of denied addresses \(http\.denyAddresses\)/, host);
    }
  }));

test('an import that is refused sends none of its books', () => withServer({
  onRequest: ({ socket }) => socket.end(answer(403, JSON.stringify({
    type: 'urn:hookshelf:problem:forbidden', status: 403,
    detail: 'this needs a token of scope write, not read',
  }), ['Content-Type: application/problem+json'])),
}, async (server) => {
  const { code, stderr } = await runCommand(
    ['book:import', '--file', '-', '--format', 'jsonl', '--server', server.url('')],
    { input: `${BOOK}\n` });
  assert.equal(code, 1);
  assert.equal(stderr, 'hookshelf: reading JSON Lines\n'
    + 'hookshelf: this needs a token of scope write, not read\n');
  assert.match(server.received[0]?.head ?? '', /^expect: 100-continue$/im);
  await server.drained();
}));

for (const authorization of ['Basic c2VuZGVy', null]) test('a webhook is tried with what its '
  + `sender sends, and without the token: ${authorization}`, () => withServer({
  onRequest: ({ socket, head }) => {
    const sample = { isAddressLimited: false, method: 'POST', path: '/webhook/in/a', body: null,
      headers: { 'X-A': 'b', ...authorization === null ? {} : { Authorization: authorization } } };
    if (head.startsWith('POST /shop/webhook/in/a ')) return socket.end(answer(401, '{"a":1}'));
    return socket.end(list(JSON.stringify(
      head.startsWith('GET /shop/api/identifiers/') ? ['a-hook'] : sample)));
  },
}, async (server) => {
  const { code, stdout, stderr } = await runWith(server, '/shop/', ['incomingwebhook:test', 'a']);
  assert.equal(code, 1, stderr);
  assert.match(stdout, /^status +401$/m);
  const [found = '', made = '', tried = ''] = server.received.map(({ head }) => head);
  for (const head of [found, made]) assert.ok(head.includes(TOKEN));
  assert.match(made, /^POST \/shop\/api\/incoming-webhooks\/a-hook\/sample /);
  const [, sent = null] = /^authorization: (.*)$/im.exec(tried) ?? [];
  assert.equal(sent, authorization);
  assert.ok(!tried.includes(TOKEN));
}));

function books(
  server: ScriptedServer, path = '', environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return runWith(server, path, ['book:list', '--json'], environment);
}

async function runWith(
  server: ScriptedServer, path: string, words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const folder = createTemporaryFolder();
  const file = join(folder, 'token');
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
  return await runCommand([...words, '--server', server.url(path), '--token-file', file],
    { environment });
}

async function withServer(
  plan: ServerPlan, use: (server: ScriptedServer) => Promise<void>,
): Promise<void> {
  const server = await startServer(plan);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}
