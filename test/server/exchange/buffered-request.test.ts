import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Socket, connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import {
  BUFFERED_BYTES_MAX, BufferedRequest,
} from '../../../src/server/exchange/buffered-request.ts';

type Serve = (request: BufferedRequest) => Promise<string>;

/** What `serve` gives for each of the pieces that a client sends, each in a turn of its own. */
async function serveOne(pieces: readonly string[], serve: Serve): Promise<string> {
  const server = createServer({ IncomingMessage: BufferedRequest });
  const answered = new Promise<string>((resolve, reject) => {
    server.on('request', (request, response) => {
      serve(request).then(resolve, reject).finally(() => response.end());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  try {
    await sendEach(socket, pieces);
    return await answered;
  } finally {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  }
}

async function sendEach(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await nextTurn();
  }
}

function post(length: number): string {
  return `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
}

async function readWhole(request: BufferedRequest): Promise<string> {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    assert(request.readWhole({ resolve, reject }));
  });
  return bytes.toString();
}

async function untilComplete(request: IncomingMessage): Promise<void> {
  for (let turns = 0; !request.complete && turns < 100_000; turns += 1) await nextTurn();
  assert(request.complete);
}

const BODIES: readonly (readonly [string, readonly string[], string])[] = [
  ['in one piece with its head', [`${post(5)}hello`], 'hello'],
  ['in pieces', [post(5), 'he', 'll', 'o'], 'hello'],
  ['of nothing', [post(0)], ''],
  ['that is not there', ['GET / HTTP/1.1\r\nHost: x\r\n\r\n'], ''],
  ['as large as may be', [post(BUFFERED_BYTES_MAX), 'x'.repeat(BUFFERED_BYTES_MAX)],
    'x'.repeat(BUFFERED_BYTES_MAX)],
];
const LARGE = 'x'.repeat(BUFFERED_BYTES_MAX * 8);
const STREAMED: typeof BODIES = [
  ...BODIES,
  ['larger than is held', [post(LARGE.length), LARGE], LARGE],
  ['in chunks', ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    '2\r\nhe\r\n', '3\r\nllo\r\n', '0\r\n\r\n'], 'hello'],
];

for (const [name, pieces, body] of BODIES) {
  test(`a body ${name} reaches its reader whole, before it is there and after`, async () => {
    assert.equal(await serveOne(pieces, readWhole), body);
    const late: Serve = async (request) => {
      await untilComplete(request);
      return readWhole(request);
    };
    assert.equal(await serveOne(pieces, late), body);
  });
}

const READERS: readonly (readonly [string, Serve])[] = [
  ['by its events', (request) => new Promise((resolve) => {
    let all = '';
    request.on('data', (chunk) => void (all += String(chunk))).on('end', () => resolve(all));
  })],
  ['by iteration', (request) => text(request)],
  ['when it is readable', (request) => new Promise((resolve) => {
    let all = '';
    request.on('readable', () => void (all += String(request.read() ?? '')));
    request.on('end', () => resolve(all));
  })],
];

for (const [name, pieces, body] of STREAMED) {
  for (const [how, read] of READERS) {
    test(`a body ${name} can be read as a stream, ${how}`, async () => {
      assert.equal(await serveOne(pieces, read), body);
      const late: Serve = async (request) => {
        if (body.length <= BUFFERED_BYTES_MAX) await untilComplete(request);
        const given = await read(request);
        assert.equal(request.readWhole({ resolve() {}, reject() {} }), false);
        return given;
      };
      assert.equal(await serveOne(pieces, late), body);
    });
  }
}

test('of an unread body no more is buffered than Node would hold back', async () => {
  const pieces = [post(1_000_000), ...Array.from({ length: 4 }, () => 'x'.repeat(10_000))];
  const serve: Serve = async (request) => {
    for (let turns = 0; request.socket.bytesRead < 40_000 && turns < 100_000; turns += 1) {
      if (request.readableLength > BUFFERED_BYTES_MAX) break;
      await nextTurn();
    }
    return String(request.readableLength > BUFFERED_BYTES_MAX);
  };
  assert.equal(await serveOne(pieces, serve), 'true');
});

test('whoever waits for a body that is cut short hears so', async () => {
  const serve: Serve = (request) => {
    const reading = readWhole(request);
    request.socket.destroy();
    return reading.catch(String);
  };
  assert.match(await serveOne([post(5), 'he'], serve), /cut short/);
});

test('a request that nobody reads has ended once it is there, as far as Node is concerned',
  async () => {
    const serve: Serve = async (request) => {
      await untilComplete(request);
      const isHeld = !request.readableEnded;
      // Node does so when the answer is out.
      request.resume();
      return `${isHeld} ${request.readableEnded} ${request.readableFlowing}`;
    };
    assert.equal(await serveOne([`${post(5)}hello`], serve), 'true true null');
  });

test('hands all bodies of a turn of the event loop over at its end, in order', async () => {
  const told: string[] = [];
  const begin = (name: string): BufferedRequest => {
    const request = new BufferedRequest(new Socket());
    const resolve = (bytes: Buffer): void => { told.push(`${name} ${bytes.toString()}`); };
    request.readWhole({ resolve, reject: (error) => assert.fail(error) });
    return request;
  };
  for (const request of [begin('first'), begin('second')]) {
    request.push(Buffer.from('body'));
    request.push(null);
  }
  assert.deepEqual(told, []);
  await nextTurn();
  assert.deepEqual(told, ['first body', 'second body']);
});
