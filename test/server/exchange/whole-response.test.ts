import assert from 'node:assert/strict';
import { once } from 'node:events';
import { ServerResponse, createServer } from 'node:http';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { formatHeaders, parseHeaderText } from '../../../src/server/exchange/header-text.ts';
import {
  type WholeResponse, createResponseClass,
} from '../../../src/server/exchange/whole-response.ts';
import { turnsUntil } from '../../support/turns.ts';

const DATE = 'Sun, 22 Nov 2026 06:23:50 GMT';
const HEADERS = ['Content-Type', 'application/json', 'ETag', '"a-1"'];

function answerOf(
  status: number, body?: Buffer | string, closesConnection = false,
): WholeResponse {
  const bytes = body === undefined ? 0 : Buffer.byteLength(body);
  const length = status === 204 || status === 304 ? [] : ['Content-Length', String(bytes)];
  const end = closesConnection ? ['Connection', 'close'] : [];
  const headerText = formatHeaders([...HEADERS, ...end, ...length]);
  return { status, headerText, body, bytes, closesConnection };
}

type Asked = { readonly answer: WholeResponse; readonly method?: string; readonly end?: string };

/** All that a server sends for a request and one after it that closes, and who wrote the first. */
async function exchange(
  { answer, method = 'GET', end = '' }: Asked, isOwn: boolean, keepAliveTimeoutMs = 5000,
): Promise<{ readonly bytes: string; readonly isWhole: boolean; readonly finished: number }> {
  let isWhole = false;
  let finished = 0;
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs });
  const Own = createResponseClass(keepAliveTimeoutMs);
  if (isOwn) Object.assign(server, { [symbolOf(server, 'ServerResponse')]: Own });
  server.on('request', (request, response: ServerResponse) => {
    response.on('finish', () => void (finished += 1));
    const isFirst = request.url === '/first';
    const given = isFirst ? answer : answerOf(200, 'last');
    if (response instanceof Own && response.sendWhole(given, DATE)) {
      isWhole ||= isFirst;
      return;
    }
    response.writeHead(given.status, parseHeaderText(given.headerText)).end(given.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let bytes = '';
  socket.on('data', (chunk: string) => void (bytes += chunk));
  socket.write(`${method} /first HTTP/1.1\r\nHost: x\r\n${end}\r\n`);
  if (end === '') socket.write('GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  server.close();
  await once(server, 'close');
  return { bytes: bytes.replaceAll(/^Date: .*$/gm, 'Date'), isWhole, finished };
}

/** The name under which Node keeps what `createServer` was given. */
function symbolOf(server: object, name: string): symbol {
  const found = Object.getOwnPropertySymbols(server).find(({ description }) =>
    description === name);
  assert(found !== undefined, `a server has no ${name}`);
  return found;
}

const whole: readonly (readonly [string, Asked])[] = [
  ['a body of bytes', { answer: answerOf(200, Buffer.from('{"title":"Žluťoučký 本"}')) }],
  ['a text of ASCII', { answer: answerOf(201, '{"title":"x"}') }],
  ['a text beyond ASCII', { answer: answerOf(400, '{"title":"é 本"}') }],
  ['an empty body', { answer: answerOf(200) }],
  ['an answer to HEAD', { answer: answerOf(200, Buffer.from('never sent')), method: 'HEAD' }],
  ['204', { answer: answerOf(204) }],
  ['304', { answer: answerOf(304) }],
  ['304 with a body', { answer: answerOf(304, 'never sent') }],
  ['a status of ours', { answer: answerOf(507, 'full') }],
];

for (const [name, asked] of whole) {
  test(`a whole answer is the same to the byte as Node's: ${name}`, async () => {
    for (const keepAliveMs of [5000, 65_000, 0]) {
      const [ours, nodes] = await Promise.all(
        [exchange(asked, true, keepAliveMs), exchange(asked, false, keepAliveMs)]);
      assert.equal(ours.bytes, nodes.bytes);
      assert(ours.isWhole && !nodes.isWhole);
      assert.equal(ours.finished, 2);
    }
  });
}

const left: readonly (readonly [string, Asked])[] = [
  ['a client that wants the connection closed',
    { answer: answerOf(200, 'x'), end: 'Connection: close\r\n' }],
  ['an answer that closes the connection',
    { answer: answerOf(200, 'x', true) }],
  ['a large body', { answer: answerOf(200, Buffer.alloc(20_000, 'x')) }],
];

for (const [name, asked] of left) {
  test(`it is left to Node: ${name}`, async () => {
    const [ours, nodes] = await Promise.all([exchange(asked, true), exchange(asked, false)]);
    assert.equal(ours.bytes, nodes.bytes);
    assert(!ours.isWhole);
  });
}

test('it is finished once its reader has taken it, and not if that goes before', async () => {
  for (const isTaken of [true, false]) {
    const Own = createResponseClass(5000);
    const server = createServer();
    Object.assign(server, { [symbolOf(server, 'ServerResponse')]: Own });
    const told: string[] = [];
    const taking: (() => void)[] = [];
    const connection = new Duplex({
      read() {},
      write(_chunk, _encoding, callback) {
        taking.push(callback);
      },
    });
    const closed = new Promise((resolve) => {
      server.on('request', (_request, response: ServerResponse) => {
        response.on('finish', () => told.push('finish')).on('close', resolve);
        assert(response instanceof Own && response.sendWhole(answerOf(200, 'x'), DATE));
        told.push('sent');
      });
    });
    server.emit('connection', connection);
    connection.push('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await turnsUntil(() => taking.length > 0);
    assert.deepEqual(told, ['sent']);
    if (isTaken) {
      await turnsUntil(() => {
        taking.shift()?.();
        return told.includes('finish');
      });
    } else {
      connection.destroy();
    }
    await closed;
    assert.deepEqual(told, isTaken ? ['sent', 'finish'] : ['sent']);
    connection.destroy();
  }
});

test('headers are a line each, and a list again', () => {
  const list = ['ETag', '"a: b"', 'X-A', '', 'Link', '</x>; rel="next"', 'X-B', 'caf\xe9'];
  const lines = formatHeaders(list);
  assert.equal(lines, 'ETag: "a: b"\r\nX-A: \r\nLink: </x>; rel="next"\r\nX-B: caf\xe9\r\n');
  assert.deepEqual(parseHeaderText(lines), list);
  assert.deepEqual(parseHeaderText(formatHeaders([])), []);
});

for (const [what, header] of [
  ['a line break in a value', ['X-A', 'b\r\nX-C: d']], ['a letter beyond Latin-1', ['X-A', '本']],
  ['a space in a name', ['X A', 'b']], ['no name', ['', 'b']],
] as const) {
  test(`no header that HTTP does not know goes out: ${what}`, () => {
    assert.throws(() => formatHeaders(['ETag', '"a"', ...header]), /AssertionError|assert/i);
  });
}
