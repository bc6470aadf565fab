import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { Dispatcher } from '../../../src/server/routing/dispatcher.ts';
import {
  createHttpServer, createLifecycle, listenOnPort, listenOnSocket, trackSockets,
} from '../../../src/server/listening/listener.ts';
import { Metrics } from '../../../src/server/metrics/metrics.ts';
import { RawConnection, encodeRequest, rawRequest } from '../../support/raw-http.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { echoRoute, route, startServer } from '../../support/test-server.ts';
import { createCertificate } from '../../support/tls.ts';

const LIMITS = {
  requestTimeoutMs: 5_000, headersTimeoutMs: 5_000, keepAliveTimeoutMs: 5_000, connectionsMax: 10,
};
/** How long a close leaves connections that are idle. */
const IDLE_MS = 50;
const hello = route('GET', '/hello', (exchange) => exchange.sendJson(200, exchange.isControl));

/** A route whose answer waits to be told. */
function createGate() {
  let open: () => void = () => {};
  let enter: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const gate = route('GET', '/gate', async (exchange) => {
    enter();
    await opened;
    exchange.sendJson(200, 'through');
  });
  return { gate, entered, open: () => open() };
}

function dispatcherOf(...routes: ConstructorParameters<typeof Dispatcher>[0]['routes']) {
  return new Dispatcher({
    routes, guard: null, clock: systemClock, logger: silentLogger, metrics: new Metrics(),
    bodyBytesMax: 1000, accessLog: 'off', trustProxy: false,
  });
}

test('close answers requests in flight, ends idle connections and accepts no more', async () => {
  const { gate, entered, open } = createGate();
  const server = await startServer([gate, hello]);
  const idle = new RawConnection(server);
  idle.send(encodeRequest('GET', '/hello'));
  assert.equal((await idle.answer()).headers['connection'], 'keep-alive');
  const silent = new RawConnection(server);
  const busy = new RawConnection(server);
  busy.send(encodeRequest('GET', '/gate'));
  await entered;
  server.dispatcher.drain();
  const closed = server.listener.close(5_000);
  assert.equal(await idle.rest(), '');
  assert.equal(await silent.rest(), '');
  await assert.rejects(rawRequest(server, 'GET', '/hello'));
  open();
  const answer = await busy.answer();
  assert.deepEqual([answer.body, answer.headers['connection']], ['"through"', 'close']);
  await closed;
  for (const connection of [idle, silent, busy]) connection.close();
  assert.equal(server.listener.close(0), server.listener.close(0), 'closing twice is once');
});

test('close cuts requests that are not answered in time', async () => {
  const { gate, entered } = createGate();
  const server = await startServer([gate]);
  const busy = new RawConnection(server);
  busy.send(encodeRequest('GET', '/gate'));
  await entered;
  const startedMs = performance.now();
  await server.listener.close(100);
  assert(performance.now() - startedMs < 2_000);
  assert.equal(await busy.rest(), '');
  busy.close();
});

test('an answer begun before closing does not keep its connection open after', async () => {
  const { gate, entered, open } = createGate();
  const server = await startServer([gate]);
  const busy = new RawConnection(server);
  busy.send(encodeRequest('GET', '/gate'));
  await entered;
  // Not told to drain, so the answer leaves the connection open.
  const closed = server.listener.close(10_000);
  open();
  assert.equal((await busy.answer()).headers['connection'], 'keep-alive');
  await closed;
  busy.close();
});

test('a close first reads what has come while the process stood still', async () => {
  const server = createHttpServer(dispatcherOf(hello).listeners('loopback'), LIMITS, systemClock);
  const lifecycle = createLifecycle(server, trackSockets(server), systemClock, IDLE_MS);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const client = new RawConnection({ port: address.port });
  client.send(encodeRequest('GET', '/hello'));
  await client.answer();
  const closed = lifecycle.close(5_000);
  client.send(encodeRequest('GET', '/hello'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * IDLE_MS);
  assert.equal((await client.answer()).status, 200);
  await closed;
  client.close();
});

test('listening on a taken port or a foreign host fails with advice', async () => {
  await using server = await startServer([hello]);
  const create = () => createHttpServer(
    dispatcherOf(hello).listeners('loopback'), LIMITS, systemClock);
  await assert.rejects(listenOnPort(create(), '127.0.0.1', server.port, systemClock),
    { code: 'conflict', message: /port \d+ is in use: .*--port/ });
  await assert.rejects(listenOnPort(create(), '192.0.2.1', 0, systemClock),
    { code: 'usage', message: /192\.0\.2\.1 is no address of this machine/ });
});

test('the control socket is its owner\'s alone, and replaces that of a dead process', async () => {
  const directory = createTemporaryFolder();
  const path = join(directory, 'control.sock');
  writeFileSync(path, 'left over');
  const umask = process.umask();
  const server = createHttpServer(dispatcherOf(hello).listeners('control'), LIMITS, systemClock);
  const listener = await listenOnSocket(server, path, systemClock);
  assert.equal(process.umask(), umask);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal((await rawRequest({ path }, 'GET', '/hello')).body, 'true');
  await listener.close(100);
  assert.throws(() => statSync(path), { code: 'ENOENT' });
});

test('a path too long for a socket is refused rather than cut', async () => {
  const server = createHttpServer(dispatcherOf(hello).listeners('control'), LIMITS, systemClock);
  const path = `/tmp/${'x'.repeat(110)}`;
  await assert.rejects(listenOnSocket(server, path, systemClock), /too long/);
});

test('a certificate is renewed without stopping', async () => {
  const [first, second] = [createCertificate(['one.example']), createCertificate(['two.example'])];
  const encode = ({ cert, key }: typeof first) =>
    ({ cert: Buffer.from(cert), key: Buffer.from(key) });
  await using server = await startServer([hello], { certificate: encode(first) });
  assert.match(server.listener.url, /^https:/);
  const subject = (): Promise<[string, string]> => new Promise((resolve, reject) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('error', reject);
    socket.on('secureConnect', () => socket.write(encodeRequest('GET', '/hello')));
    socket.once('data', (data) => {
      const name = String(socket.getPeerCertificate().subject.CN);
      socket.destroy();
      resolve([name, data.toString().slice(0, 15)]);
    });
  });
  assert.deepEqual(await subject(), ['one.example', 'HTTP/1.1 200 OK']);
  server.listener.renew(encode(second));
  assert.deepEqual(await subject(), ['two.example', 'HTTP/1.1 200 OK']);
});

test('a TLS connection that never asked for anything does not hold up closing', async () => {
  const { cert, key } = createCertificate();
  const certificate = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const server = await startServer([hello], { certificate });
  const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => {});
  await new Promise((resolve) => {
    socket.once('secureConnect', resolve);
  });
  const startedMs = performance.now();
  await server.listener.close(5_000);
  assert(performance.now() - startedMs < 4_000);
  socket.destroy();
});

test('a handshake that never ends is cut with the rest', async () => {
  const { cert, key } = createCertificate();
  const certificate = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const server = await startServer([hello], { certificate });
  const connection = new RawConnection(server);
  await new Promise((resolve) => {
    connection.socket.once('connect', resolve);
  });
  await server.listener.close(100);
  assert.equal(await connection.rest(), '');
  connection.close();
});

test('a handshake must end within the limit for a head, however much of it arrives',
  { timeout: 120_000 }, async () => {
    const { cert, key } = createCertificate();
    const certificate = { cert: Buffer.from(cert), key: Buffer.from(key) };
    await using server = await startServer([hello], {
      certificate, limits: { headersTimeoutMs: 300 },
    });
    const idle = new RawConnection(server);
    const begun = new RawConnection(server);
    const recordHead = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]);
    begun.send(recordHead);
    const dribbling = new RawConnection(server);
    dribbling.send(recordHead);
    const dribble = setInterval(() => dribbling.send('\0'), 20);
    try {
      // Node's own limit is two minutes.
      for (const connection of [idle, begun, dribbling]) {
        assert.equal(await connection.rest(), '');
      }
    } finally {
      clearInterval(dribble);
      for (const connection of [idle, begun, dribbling]) connection.close();
    }
  });

test('refuses connections over the limit, and keeps the others', async () => {
  await using server = await startServer([hello], { limits: { connectionsMax: 2 } });
  const kept = [new RawConnection(server), new RawConnection(server)];
  for (const connection of kept) {
    connection.send(encodeRequest('GET', '/hello'));
    await connection.answer();
  }
  const third = new RawConnection(server);
  third.send(encodeRequest('GET', '/hello'));
  assert.equal(await third.rest(), '');
  kept[0]?.send(encodeRequest('GET', '/hello'));
  assert.equal((await kept[0]?.answer())?.status, 200);
  for (const connection of [...kept, third]) connection.close();
});

/** Whether the other side ends the connection while it is sent `piece` again and again. */
async function endsWhileSent(socket: Socket, piece: string, countMax: number): Promise<boolean> {
  const ended = new Promise<'ended'>((resolve) => {
    socket.once('close', () => resolve('ended'));
  });
  for (let count = 0; count < countMax; count += 1) {
    socket.write(piece);
    if (await Promise.race([ended, wait(100)]) === 'ended') return true;
  }
  return false;
}

for (const scheme of ['http', 'https']) {
  test(`empty lines do not prolong how long a connection is kept: ${scheme}`, async () => {
    const { cert, key } = createCertificate();
    const certificate = { cert: Buffer.from(cert), key: Buffer.from(key) };
    await using server = await startServer([hello], {
      limits: { keepAliveTimeoutMs: 100 }, ...scheme === 'https' ? { certificate } : {},
    });
    const place = { port: server.port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = scheme === 'https' ? connect(place) : connectPlain(place);
    socket.on('error', () => {});
    socket.write(encodeRequest('GET', '/hello'));
    await once(socket, 'data');
    // Node adds a second to the limit, and we look twice a second: some 15 pieces.
    assert(await endsWhileSent(socket, '\r\n', 300), 'still open after half a minute');
    socket.destroy();
  });
}

test('a request that has begun may take longer than a connection is kept', async () => {
  await using server = await startServer([hello], { limits: { keepAliveTimeoutMs: 100 } });
  const connection = new RawConnection(server);
  connection.send(encodeRequest('GET', '/hello'));
  await connection.answer();
  connection.send('\r\nGET /hello HTTP/1.1\r\nHost: localhost\r\n');
  assert(!await endsWhileSent(connection.socket, 'X-More: to come\r\n', 25));
  connection.send('\r\n');
  assert.equal((await connection.answer()).status, 200);
  connection.close();
});

test('serves requests over a pipe in memory', async () => {
  const dispatcher = dispatcherOf(hello, echoRoute('POST', '/echo'));
  const server = createHttpServer(dispatcher.listeners('control'), LIMITS, systemClock);
  const received: Buffer[] = [];
  let done: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    done = resolve;
  });
  const pipe = new Duplex({
    read() {},
    write(chunk: Buffer, _, next) {
      received.push(chunk);
      next();
    },
    final(next) {
      next();
      done();
    },
  });
  server.emit('connection', pipe);
  pipe.push(encodeRequest('GET', '/hello'));
  pipe.push(encodeRequest('POST', '/echo', { Connection: 'close' }, 'body'));
  await ended;
  const text = Buffer.concat(received).toString();
  assert.match(text, /^HTTP\/1\.1 200 OK[^]*\r\n\r\ntrueHTTP\/1\.1 200 OK[^]*"body":"body"/);
  server.close();
});

test('a dispatcher serves within another program\'s server', async () => {
  const dispatcher = dispatcherOf(hello, echoRoute('POST', '/echo'));
  const server = createServer(dispatcher.listeners('embedded').request);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  assert.equal((await rawRequest(address, 'GET', '/hello')).body, 'false');
  assert.equal((await rawRequest(address, 'POST', '/echo', {}, 'x'.repeat(1001))).status, 413);
  const ending = new RawConnection(address);
  ending.socket.end(encodeRequest('GET', '/hello'));
  assert.match(await ending.rest(), /false$/);
  ending.close();
  server.closeAllConnections();
  server.close();
});
