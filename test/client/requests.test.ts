import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { HttpRequest } from '../../src/client/http-client.ts';
import { answer, startServer } from '../support/servers.ts';
import type { ScriptedServer } from '../support/servers.ts';
import { failure, setUp } from './setup.ts';

const MEBIBYTE = 1024 * 1024;

test('a body goes out byte for byte with its length, whatever its bytes', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client } = setUp(context, [server]);
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  for (const body of [Buffer.alloc(0), every, randomBytes(300_000)]) {
    const response = await client.request({ method: 'POST', url: server.url('/a'), body });
    assert.equal(response.statusCode, 200);
    const received = server.received.at(-1);
    assert.deepEqual(received?.body, body);
    assert.match(received?.head ?? '', new RegExp(`^Content-Length: ${body.length}$`, 'm'));
    assert.doesNotMatch(received?.head ?? '', /transfer-encoding/i);
  }
});

test('a body of text goes out in UTF-8, with its length in bytes', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client } = setUp(context, [server]);
  for (const body of ['{"é":"☃"}', new TextEncoder().encode('ü')]) {
    await client.request({ method: 'POST', url: server.url('/a'), body });
    assert.deepEqual(server.received.at(-1)?.body, Buffer.from(body));
    assert.match(server.received.at(-1)?.head ?? '',
      new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'));
  }
  assert.equal(server.accepted, 1);
});

type HeadRow = { readonly method: string; readonly body?: Buffer; readonly length: string | null };
const HEADS: readonly HeadRow[] = [
  { method: 'GET', length: null },
  { method: 'HEAD', length: null },
  { method: 'DELETE', length: null },
  { method: 'delete', body: Buffer.from('x'), length: '1' },
  { method: 'POST', length: '0' },
  { method: 'PUT', length: '0' },
  { method: 'PATCH', body: Buffer.from('xyz'), length: '3' },
];

for (const { method, body, length } of HEADS) {
  const title = `${method} with ${body?.length ?? 'no'} body bytes`;
  test(`${title} has Content-Length ${length ?? 'absent'}`, async (context) => {
    const server = await startServer({
      onRequest: ({ socket }) => socket.write(answer(200, method === 'HEAD' ? '' : 'ok')),
    });
    const { client } = setUp(context, [server]);
    await client.request({ method, url: server.url('/p?q=%20#f'), body });
    const [line, ...headers] = server.received[0]?.head.split('\r\n') ?? [];
    assert.equal(line, `${method.toUpperCase()} /p?q=%20 HTTP/1.1`);
    const found = headers.find((header) => header.startsWith('Content-Length'));
    assert.equal(found, length === null ? undefined : `Content-Length: ${length}`);
    assert.ok(headers.includes(`Host: 127.0.0.1:${server.port}`));
  });
}

test('headers arrive as given; a URL\'s credentials become Basic ones', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client } = setUp(context, [server]);
  const url = server.url('/x').replace('//', '//us%3Aer:p%C3%A9@');
  await client.request({ method: 'GET', url, headers: { 'X-One': 'a', 'x-two': ['b', 'c'] } });
  await client.request({ method: 'GET', url, headers: { authorization: 'Bearer own' } });
  const [first, second] = server.received.map(({ head }) => head);
  const basic = Buffer.from('us:er:pé').toString('base64');
  for (const line of ['X-One: a', 'x-two: b', 'x-two: c', `Authorization: Basic ${basic}`]) {
    assert.ok(first?.includes(`\r\n${line}`), line);
  }
  assert.deepEqual(second?.match(/authorization: .*/gi), ['authorization: Bearer own']);
  assert.ok(!first?.includes('@'));
});

/** What a custom action, which nobody checks the types of, may give. */
const untyped = (request: object): Partial<HttpRequest> => request;

const INVALID: readonly (readonly [string, Partial<HttpRequest>])[] = [
  ['an object for a body', untyped({ body: { hush: 1 } })],
  ['an array for a body', untyped({ body: ['hush'] })],
  ['a number for a body', untyped({ body: 5 })],
  ['a number for a value', untyped({ headers: { 'X-A': 5 } })],
  ['an object for a value', untyped({ headers: { 'X-A': { hush: 1 } } })],
  ['a number for a method', untyped({ method: 5 })],
  ['a line break in a value', { headers: { 'X-A': 'hush\r\nX-B: 1' } }],
  ['a bare line feed in a value', { headers: { 'X-A': 'hush\n' } }],
  ['a NUL in a value', { headers: { 'X-A': 'hush\0' } }],
  ['a character beyond Latin-1', { headers: { 'X-A': 'hush ☃' } }],
  ['a line break in a second value', { headers: { 'X-A': ['fine', 'hush\r'] } }],
  ['a line break in a name', { headers: { 'X-A\r\nX-B': 'hush' } }],
  ['an empty name', { headers: { '': 'hush' } }],
  ['a space in a name', { headers: { 'X A': 'hush' } }],
  ['Host', { headers: { host: 'hush' } }],
  ['Content-Length', { headers: { 'CONTENT-LENGTH': '5' } }],
  ['Transfer-Encoding', { headers: { 'Transfer-Encoding': 'chunked' } }],
  ['Connection', { headers: { connection: 'close' } }],
  ['Upgrade', { headers: { upgrade: 'websocket' } }],
  ['Proxy-Authorization', { headers: { 'proxy-authorization': 'hush' } }],
  ['Expect', { headers: { expect: '100-continue' } }],
  ['CONNECT', { method: 'CONNECT' }],
  ['trace', { method: 'trace' }],
  ['a method that is no token', { method: 'GET / HTTP/1.1\r\nX: hush' }],
  ['another scheme', { url: 'ftp://u:hush@127.0.0.1/' }],
  ['a path for a URL', { url: '/hush' }],
  ['a URL without a host', { url: 'http://u:hush@/' }],
];

for (const [what, part] of INVALID) {
  test(`a request with ${what} is refused before anything is sent`, async (context) => {
    const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
    const { client } = setUp(context, [server]);
    const error = await failure(client, { method: 'GET', url: server.url(), ...part });
    assert.equal(error.code, 'EINVAL');
    assert.doesNotMatch(error.message, /hush/);
    assert.equal(error.cause, undefined);
    assert.equal(server.accepted, 0);
  });
}

test('a redirect is an answer like any other and is not followed', async (context) => {
  const server: ScriptedServer = await startServer({
    onRequest: ({ socket }) => socket.write(answer(302, '', ['Location: /elsewhere'])),
  });
  const { client } = setUp(context, [server]);
  const response = await client.request({ method: 'POST', url: server.url('/first') });
  assert.equal(response.statusCode, 302);
  assert.equal(response.headers.location, '/elsewhere');
  assert.equal(server.received.length, 1);
});

const ANSWERS: readonly (readonly [string, string, number, string])[] = [
  ['with its length', answer(201, 'made'), 201, 'made'],
  ['in chunks', ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '2', 'ab', '1', 'c', '0', '',
    ''].join('\r\n'), 200, 'abc'],
  ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
  ['not modified', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', 304, ''],
  ['after interim ones', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n${
    answer(200, 'late')}`, 200, 'late'],
];

for (const [what, bytes, statusCode, body] of ANSWERS) {
  test(`an answer ${what} is read and its connection used again`, async (context) => {
    const server = await startServer({ onRequest: ({ socket }) => socket.write(bytes) });
    const { client } = setUp(context, [server]);
    for (let count = 0; count < 3; count += 1) {
      const response = await client.request({ method: 'POST', url: server.url() });
      assert.equal(response.statusCode, statusCode);
      assert.equal(response.body.toString(), body);
      assert.equal(response.isTruncated, false);
    }
    assert.equal(server.accepted, 1);
  });
}

for (const [what, method, bytes, statusCode] of [
  ['204', 'POST', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}', 204],
  ['204, in chunks', 'POST',
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n', 204],
  ['304', 'POST', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n{}', 304],
  ['HEAD', 'HEAD', answer(200, '{}'), 200],
  ['what ended before', 'POST', `${answer(200, '')}{}`, 200],
] as const) {
  test(`an answer counts, on a connection of its own, where a body follows ${what}`, async (t) => {
    const server = await startServer({ onRequest: ({ socket }) => socket.write(bytes) });
    const { client } = setUp(t, [server]);
    for (let count = 1; count <= 2; count += 1) {
      const response = await client.request({ method, url: server.url() });
      assert.deepEqual([response.statusCode, response.body.length], [statusCode, 0]);
      assert.equal(server.received.length, count);
    }
    assert.equal(server.accepted, 2);
  });
}

for (const [what, head, ending] of [
  ['Connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\n', false],
  ['an end by closing', 'HTTP/1.1 200 OK\r\n\r\n', true],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n', false],
] as const) {
  test(`an answer with ${what} is read whole, on a connection of its own`, async (context) => {
    const server = await startServer({
      onRequest: ({ socket }) => {
        socket.write(`${head}four`);
        if (ending) socket.end();
      },
    });
    const { client } = setUp(context, [server]);
    for (let count = 0; count < 2; count += 1) {
      const response = await client.request({ method: 'POST', url: server.url() });
      assert.equal(response.body.toString(), 'four');
    }
    assert.equal(server.accepted, 2);
  });
}

test('an answer is read to 1 MiB, then its connection dropped; the status counts',
  async (context) => {
    const sizes = [MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 5 * MEBIBYTE];
    const server = await startServer({
      onRequest: ({ socket, head }) => {
        const size = Number(/ \/(\d+) /.exec(head)?.[1]);
        socket.write(`HTTP/1.1 201 Made\r\nContent-Length: ${size}\r\n\r\n`);
        socket.write(Buffer.alloc(size, 'z'));
      },
    });
    const { client } = setUp(context, [server]);
    for (const size of sizes) {
      const response = await client.request({ method: 'POST', url: server.url(`/${size}`) });
      assert.equal(response.statusCode, 201);
      assert.equal(response.body.length, Math.min(size, MEBIBYTE));
      assert.equal(response.isTruncated, size > MEBIBYTE);
      assert.ok(response.body.every((byte) => byte === 0x7a));
    }
    assert.equal(server.accepted, 2, 'whole answers leave the connection usable');
  });

test('an answer without end is cut at 1 MiB and counts', async (context) => {
  const server = await startServer({
    onRequest: ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const block = Buffer.from(`4000\r\n${'z'.repeat(0x4000)}\r\n`);
      const pour = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', pour);
      pour();
    },
  });
  const { client } = setUp(context, [server]);
  const response = await client.request({ method: 'POST', url: server.url() });
  assert.deepEqual([response.statusCode, response.isTruncated], [200, true]);
  assert.equal(response.body.length, MEBIBYTE);
});

test('a few interim answers are passed over, and one without an end is given up', async (t) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  const few = await startServer({
    onRequest: ({ socket }) => socket.write(interim.repeat(3) + answer()),
  });
  const endless = await startServer({
    onRequest: ({ socket }) => {
      const write = (): void => {
        while (!socket.destroyed && socket.write(interim.repeat(100)));
      };
      socket.on('drain', write);
      write();
    },
  });
  const { client } = setUp(t, [few, endless]);
  assert.equal((await client.request({ method: 'POST', url: few.url('/') })).statusCode, 200);
  const error = await failure(client, { method: 'POST', url: endless.url('/') });
  assert.equal(error.code, 'EINTERIM');
});
