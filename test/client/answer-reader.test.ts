import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { headersOf } from '../../src/client/answer-head.ts';
import { AnswerReader } from '../../src/client/answer-reader.ts';
import { systemCodeOf } from '../../src/base/errors.ts';

type Answer = {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: object;
  /** Whether the connection may be used again. */
  readonly isKept: boolean;
};

const BODY_BYTES_MAX = 1000;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** The answer in `bytes`, which come in pieces and end with the connection; or a code. */
function readAll(bytes: Buffer, pieceBytes: number): Answer | string {
  const reader = new AnswerReader(false, BODY_BYTES_MAX);
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const progress = reader.read(bytes.subarray(at, at + pieceBytes));
      if (progress !== 'more') return answerOf(reader, progress === 'whole');
    }
  } catch (thrown) {
    return systemCodeOf(thrown) ?? 'no code';
  }
  return reader.end() ? answerOf(reader, false) : 'ECONNRESET';
}

function answerOf(reader: AnswerReader, isWhole: boolean): Answer {
  assert.ok(reader.head !== null);
  const { statusCode, fields, framing, isKeptAlive } = reader.head;
  return {
    statusCode, body: reader.takeBody().toString('latin1'), headers: headersOf(fields),
    isKept: isWhole && isKeptAlive && framing !== 'close',
  };
}

/** What node:http makes of the same bytes. */
async function readByNode(bytes: Buffer): Promise<Omit<Answer, 'isKept'> | string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      const fail = (error: Error): void => resolve(systemCodeOf(error) ?? 'no code');
      const sent = request({ host: '127.0.0.1', port, agent: false }, (response) => {
        let body = '';
        response.setEncoding('latin1');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('error', fail);
        response.on('end', () => {
          resolve({ statusCode: response.statusCode ?? 0, body, headers: response.headers });
        });
      });
      sent.on('error', fail);
      // After a 101 that nobody wants node:http says no more.
      sent.on('close', () => resolve('closed'));
      sent.end();
    });
  } finally {
    server.close();
    await once(server, 'close');
  }
}

const READ: Readonly<Record<string, readonly [string, string, boolean]>> = {
  'a length': ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc', 'abc', true],
  'no reason': ['HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', '', true],
  'an empty reason': ['HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', '', true],
  'no header': ['HTTP/1.1 204 No Content\r\n\r\n', '', true],
  'a length where there is no body': ['HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n', '', true],
  'space around a value': ['HTTP/1.1 200 OK\r\ncontent-length: \t 1 \r\n\r\nx', 'x', true],
  'an empty value': ['HTTP/1.1 200 OK\r\nX-A:\r\nContent-Length: 1\r\n\r\nx', 'x', true],
  'a value in Latin-1': ['HTTP/1.1 200 OK\r\nX-A: \xe9\xa0\r\nContent-Length: 0\r\n\r\n', '', true],
  'lists, cookies and what comes once': ['HTTP/1.1 200 OK\r\nVia: a\r\nSet-Cookie: a=1\r\nVia: b'
    + '\r\nSet-Cookie: b=2\r\nServer: x\r\nServer: y\r\nContent-Length: 0\r\n\r\n', '', true],
  'chunks': [`${CHUNKED}2\r\nab\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`, 'ab0123456789', true],
  'a trailer': [`${CHUNKED}1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n`, 'a', true],
  'chunks after another coding': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n'
    + '1\r\na\r\n0\r\n\r\n', 'a', true],
  'another coding alone': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc', 'abc', false],
  'an end by closing': ['HTTP/1.1 200 OK\r\n\r\nabc', 'abc', false],
  'an end by closing, without a body': ['HTTP/1.1 200 OK\r\n\r\n', '', false],
  'a wish to close': ['HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\nx', 'x',
    false],
  'version 1.0': ['HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx', 'x', false],
  'version 1.0, kept': ['HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx',
    'x', true],
  'interim answers': ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nLink: y\r\n\r\n'
    + 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx', 'x', true],
};

for (const [what, [text, body, isKept]] of Object.entries(READ)) {
  test(`an answer with ${what} is read as node:http reads it, in any pieces`, async () => {
    const bytes = Buffer.from(text, 'latin1');
    const byNode = await readByNode(bytes);
    assert.ok(typeof byNode === 'object', String(byNode));
    assert.equal(byNode.body, body);
    for (let pieceBytes = 1; pieceBytes <= bytes.length; pieceBytes += 1) {
      const read = readAll(bytes, pieceBytes);
      assert.deepEqual(read, { ...byNode, headers: { ...byNode.headers }, isKept });
    }
  });
}

const LONG = 'x'.repeat(20_000);
const REFUSED: Readonly<Record<string, readonly [string, string]>> = {
  'another protocol': ['SSH-2.0-x\r\n', 'HPE_INVALID_CONSTANT'],
  'a status that is no number': ['HTTP/1.1 2x0 OK\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  'a control character': ['HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  'a line without a colon': ['HTTP/1.1 200 OK\r\nX\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  'a space in a name': ['HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n',
    'HPE_INVALID_HEADER_TOKEN'],
  'an empty name': ['HTTP/1.1 200 OK\r\n: x\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  'a carriage return alone': ['HTTP/1.1 200 OK\r\nX: a\rY: b\r\n\r\n', 'HPE_CR_EXPECTED'],
  'a length that is no number': ['HTTP/1.1 200 OK\r\nContent-Length: 1a\r\n\r\nx',
    'HPE_INVALID_CONTENT_LENGTH'],
  'a signed length': ['HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx',
    'HPE_INVALID_CONTENT_LENGTH'],
  'an endless length': [`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\nx`,
    'HPE_INVALID_CONTENT_LENGTH'],
  'two lengths': ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
    'HPE_UNEXPECTED_CONTENT_LENGTH'],
  'a length and chunks': ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n'
    + '\r\n0\r\n\r\n', 'HPE_UNEXPECTED_CONTENT_LENGTH'],
  'a head without end': [`HTTP/1.1 200 OK\r\nX: ${LONG}`, 'HPE_HEADER_OVERFLOW'],
  'a head that is too long': [`HTTP/1.1 200 OK\r\nX: ${LONG}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
  'a chunk without a size': [`${CHUNKED}\r\nx`, 'HPE_INVALID_CHUNK_SIZE'],
  'a size with a sign': [`${CHUNKED}-1\r\nx`, 'HPE_INVALID_CHUNK_SIZE'],
  'an endless size': [`${CHUNKED}${'f'.repeat(17)}\r\nx`, 'HPE_INVALID_CHUNK_SIZE'],
  'a chunk that goes on': [`${CHUNKED}1\r\nabc\r\n0\r\n\r\n`, 'HPE_STRICT'],
  'a connection for another protocol': ['HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: y\r\n'
    + '\r\n', 'ECONNRESET'],
  'an end within the head': ['HTTP/1.1 200 OK\r\nContent-', 'ECONNRESET'],
  'an end within the body': ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc', 'ECONNRESET'],
  'an end within the chunks': [`${CHUNKED}1\r\na\r\n`, 'ECONNRESET'],
};

for (const [what, [text, code]] of Object.entries(REFUSED)) {
  test(`an answer with ${what} is refused, as node:http refuses it`, async () => {
    const bytes = Buffer.from(text, 'latin1');
    assert.equal(typeof await readByNode(bytes), 'string');
    for (let pieceBytes = 1; pieceBytes <= bytes.length; pieceBytes += Math.ceil(pieceBytes / 9)) {
      assert.match(String(readAll(bytes, pieceBytes)), new RegExp(`^(${code}|HPE_.*_OVERFLOW)$`));
    }
    assert.equal(readAll(bytes, bytes.length), code);
  });
}

// Node takes them from some servers, but another program may read them otherwise.
for (const [what, text] of [
  ['a line feed alone', 'HTTP/1.1 200 OK\r\nX: a\nContent-Length: 0\r\n\r\n'],
  ['a value that goes on in the next line', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n'],
] as const) {
  test(`an answer with ${what} is refused`, () => {
    const refused = readAll(Buffer.from(text), 1000);
    assert.match(String(refused), /^HPE_/);
  });
}

test('what stands behind an answer is no part of it, and its connection is not used again', () => {
  const text = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx';
  const read = readAll(Buffer.from(`${text}${text}`), 1000);
  assert.ok(typeof read === 'object');
  assert.deepEqual([read.body, read.isKept], ['x', false]);
});

test('an answer to HEAD has no body, whatever its length says', () => {
  const reader = new AnswerReader(true, BODY_BYTES_MAX);
  const head = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  assert.equal(reader.read(head), 'whole');
  assert.equal(reader.takeBody().length, 0);
});

test('a body is cut at its limit, in chunks and without', () => {
  const long = 'y'.repeat(BODY_BYTES_MAX + 1);
  for (const text of [
    `HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n${long}`, `${CHUNKED}ffff\r\n${long}`,
  ]) {
    const reader = new AnswerReader(false, BODY_BYTES_MAX);
    assert.equal(reader.read(Buffer.from(text)), 'cut');
    assert.equal(reader.takeBody().length, BODY_BYTES_MAX);
  }
});

test('a header named as a member of every object is a header', () => {
  const read = readAll(Buffer.from('HTTP/1.1 204 X\r\n__proto__: a\r\nconstructor: b\r\n\r\n'), 99);
  assert.ok(typeof read === 'object');
  assert.deepEqual(Object.entries(read.headers), [['__proto__', 'a'], ['constructor', 'b']]);
});
