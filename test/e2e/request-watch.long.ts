/** `request:watch` against a real server: what it prints, and what it sends on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeToken } from '../support/make-token.ts';
import { RawConnection } from '../support/raw-http.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { hookshelf, startServer, watch } from './processes.ts';

const TOKEN = 'quite-secret-and-long';

type Taken = { readonly line: string; readonly headers: readonly string[]; readonly body: Buffer };

/** A program under development. */
async function withProgram(
  use: (port: number, taken: readonly Taken[]) => Promise<void>,
): Promise<void> {
  const taken: Taken[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks);
    taken.push({ line: `${request.method} ${request.url}`, headers: request.rawHeaders, body });
    response.statusCode = body.includes('bad') ? 500 : 200;
    response.end('thanks');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port, taken);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function addHook(
  url: string, token: string | null, members: object = {},
): Promise<void> {
  const headers: Record<string, string> =
    token === null ? {} : { authorization: `Bearer ${token}` };
  await addRecord(`${url}/api/action-configurations`,
    { identifier: 'note', actionType: 'log' }, headers);
  await addRecord(`${url}/api/incoming-webhooks`,
    { pathSegment: 'deploy', actionConfiguration: 'note', inbox: 'all', ...members }, headers);
}

const BODY = Buffer.from([0, 255, 10, 13, ...Buffer.from('{"a": "é"}')]);

/** One request with every kind of header, as bytes. */
async function send(port: number, body: Buffer, query = ''): Promise<void> {
  const connection = new RawConnection({ port });
  connection.send([
    `POST /webhook/in/deploy${query} HTTP/1.1`, 'Host: localhost', 'X-Twice: one', 'x-twice: two',
    'Content-Type: application/octet-stream', 'X-Hub-Signature: abc', 'Authorization: Bearer me',
    'X-Mine: 1', 'Connection: X-Mine', 'Accept-Encoding: gzip', `Content-Length: ${body.length}`,
    '', '',
  ].join('\r\n'));
  connection.send(body);
  assert.equal((await connection.answer()).status, 200);
  connection.socket.destroy();
}

test('sends each request on byte for byte, and goes on after a restart of the server', () =>
  inFolder(async (data) => withProgram(async (to, taken) => {
    let server = await startServer(['--data', data]);
    const port = new URL(server.url).port;
    await addHook(server.url, null, { bodyFormat: 'auto' });
    const words = ['--data', data, '--forward', `http://localhost:${to}/hook?mine=1`];
    const watching = await watch('request:watch', words);
    assert.doesNotMatch(watching.notes(), /only requests whose action fails/);
    await send(Number(port), BODY, '?a=%20&b');
    await until('it is printed', () => watching.out().includes('\n'), { seen: watching.notes });
    assert.match(watching.out(),
      /^\d\d:\d\d:\d\d {2}POST {2}deploy {2}- {2}done {2}[\w-]{36} {2}-> 200 OK \(\d+ ms\)\n$/);
    const via = /^1\.1 hookshelf-watch-[0-9a-f]{12}$/;
    assert.match(taken[0]?.headers.find((value) => via.test(value)) ?? '', via);
    const headers = taken[0]?.headers.filter((value) => !via.test(value));
    assert.deepEqual({ ...taken[0], headers }, {
      line: 'POST /hook?mine=1&a=%20&b', body: BODY,
      headers: [
        'Host', `localhost:${to}`, 'X-Twice', 'one', 'x-twice', 'two',
        'Content-Type', 'application/octet-stream', 'X-Hub-Signature', 'abc',
        'Accept-Encoding', 'gzip', 'Via', 'Content-Length', String(BODY.length),
        'Connection', 'close',
      ],
    });
    await server.stop('SIGKILL');
    await until('it has noticed', () => watching.notes().includes('trying to connect again'));
    server = await startServer(['--data', data, '--port', port]);
    // Before the watcher is back: it must not be missed.
    await send(Number(port), Buffer.from('bad'));
    await until('it is sent on', () => taken.length === 2, { seen: watching.notes });
    await until('it is printed', () => watching.out().includes('-> 500 Internal Server Error'));
    assert.equal(watching.out().split('\n').length, 3, 'each is printed once');
    const { code, signal } = await watching.stop();
    assert.ok(signal === 'SIGINT' || code === 130, `${code} ${signal}`);
    await server.stop();
  })));

test('works with --server and a token, and says what a token of scope read leaves out', () =>
  inFolder(async (data) => withProgram(async (to, taken) => {
    const server = await startServer(['--data', data],
      { environment: { HOOKSHELF_API_TOKEN: TOKEN } });
    await addHook(server.url, TOKEN, { bodyFormat: 'auto' });
    const { token: readToken } = await makeToken(data, 'read');
    for (const [name, token] of [['all', TOKEN], ['read', readToken]] as const) {
      writeFileSync(join(data, `${name}.txt`), token, { mode: 0o600 });
    }
    for (const [index, name] of ['all', 'read'].entries()) {
      const watching = await watch('request:watch', ['--server', server.url, '--token-file',
        join(data, `${name}.txt`), '--forward', `http://127.0.0.1:${to}`, '--json',
        '--hook', 'deploy']);
      await send(Number(new URL(server.url).port), BODY);
      await until('it is printed', () => watching.out().endsWith('\n'), { seen: watching.notes });
      const { forwarded, method } = JSON.parse(watching.out());
      assert.deepEqual([forwarded.status, method], [200, 'POST']);
      assert.equal(taken[index]?.headers.includes('X-Hub-Signature'), name === 'all');
      assert.equal(watching.notes().includes('signatures are not sent on'), name === 'read');
      await watching.stop();
    }
    await server.stop();
  })));

test('says what will not be seen, and prints rejected requests without sending them on', () =>
  inFolder(async (data) => withProgram(async (to, taken) => {
    const server = await startServer(['--data', data]);
    await addHook(server.url, null, { inbox: 'failed', secret: 'a-secret-of-ours-0123456789' });
    const watching = await watch('request:watch',
      ['--data', data, '--forward', `http://127.0.0.1:${to}`]);
    assert.match(watching.notes(), /deploy keeps only requests whose action fails.*--inbox all/);
    const refused = await ask(`${server.url}/webhook/in/deploy`, { method: 'POST', body: {} });
    assert.equal(refused.status, 401);
    await until('it is printed', () => watching.out().includes('\n'), { seen: watching.notes });
    assert.match(watching.out(), / rejected \(signature_missing\) .* not sent on\n/);
    assert.equal(taken.length, 0);
    await watching.stop();
    await server.stop();
  })));

test('ends when what it sends on comes back: --forward leads to the server that it watches', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    await addHook(server.url, null, { bodyFormat: 'auto' });
    const watching = await watch('request:watch',
      ['--data', data, '--forward', `${server.url}/webhook/in/deploy`]);
    await send(Number(new URL(server.url).port), BODY);
    const { code, stdout, stderr } = await watching.ended;
    assert.equal(code, 2, stderr);
    assert.match(stderr, /comes back as request [\w-]{36}: --forward leads to a webhook of/);
    assert.equal(stdout.split('\n').length, 2, 'the first one is printed');
    const { headers } = await ask(`${server.url}/api/requests`);
    assert.equal(headers['x-total-count'], '2', 'nothing goes round again');
    await server.stop();
  }));

test('needs a server, and an address to send to that is one', () => inFolder(async (data) => {
  const alone = await hookshelf(['request:watch', '--data', data]);
  assert.equal(alone.code, 2);
  assert.match(alone.stderr, /no server runs: start one with hookshelf serve/);
  const wrong = await hookshelf(['request:watch', '--data', data, '--forward', 'localhost:3000']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /must be a URL such as http:\/\/localhost:3000\/hook/);
}));
