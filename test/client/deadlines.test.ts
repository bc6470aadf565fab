import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, startServer } from '../support/servers.ts';
import type { Received } from '../support/servers.ts';
import { createCertificate } from '../support/tls.ts';
import { someTurns, turnsUntil } from '../support/turns.ts';
import { failure, setUp } from './setup.ts';

const TIMEOUT_MS = 150;
const BODY = Buffer.from('{}');

/** Writes a byte of `text` now and then, for ever if it is short enough: never idle, never done. */
function dribble(socket: Socket, text: string): void {
  let index = 0;
  const timer = setInterval(() => {
    socket.write(text[index % text.length] ?? '');
    index += 1;
  }, 10);
  socket.on('close', () => clearInterval(timer));
}

const STALLS: readonly (readonly [string, (received: Received) => void, RegExp])[] = [
  ['says nothing', () => {}, /waiting for the answer/],
  ['stops in the head', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nContent-'),
    /waiting for the answer/],
  ['dribbles the head', ({ socket }) => dribble(socket, `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(999)}`),
    /waiting for the answer/],
  ['says 100 for ever', ({ socket }) => dribble(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
    /waiting for the answer/],
  ['stops after the head', ({ socket }) => socket.write(answer(200, 'x').slice(0, -1)),
    /reading the answer/],
  ['dribbles the body', ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n');
    dribble(socket, 'x');
  }, /reading the answer/],
  ['dribbles an answer without end', ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    dribble(socket, 'x');
  }, /reading the answer/],
];

for (const scheme of ['http', 'https'] as const) {
  for (const [what, onRequest, step] of STALLS) {
    test(`${scheme}: a server that ${what} is left at the deadline`, async (context) => {
      const certificate = scheme === 'https' ? { certificate: createCertificate() } : {};
      const server = await startServer({ onRequest, ...certificate });
      const clock = new ManualClock();
      const options = { timeoutMs: TIMEOUT_MS, verify: false };
      const { client } = setUp(context, [server], options, { clock });
      let isOver = false;
      const pending = failure(client, { method: 'POST', url: server.url(), body: BODY })
        .finally(() => {
          isOver = true;
        });
      await turnsUntil(() => server.received.length === 1);
      // For what it answers to arrive.
      await someTurns();
      await clock.advance(TIMEOUT_MS - 1);
      assert.equal(isOver, false);
      await clock.advance(1);
      const error = await pending;
      assert.equal(error.code, 'ETIMEDOUT');
      assert.equal(error.kind, 'timeout');
      assert.match(error.message, step);
    });
  }
}

test('a request\'s own timeout takes precedence', async (context) => {
  const server = await startServer();
  const { client } = setUp(context, [server], { timeoutMs: 60_000 });
  const error = await failure(client, { method: 'GET', url: server.url(), timeoutMs: 50 });
  assert.match(error.message, /longer than 0\.05 s/);
});

test('a server that reads no body is left at the deadline', async (context) => {
  const server = await startServer({
    onConnection: (socket) => {
      socket.pause();
      // A paused socket would never hear that the other end is gone.
      setTimeout(() => socket.resume(), 2 * TIMEOUT_MS);
    },
  });
  const { client } = setUp(context, [server], { timeoutMs: TIMEOUT_MS });
  const body = Buffer.alloc(20 * 1024 * 1024);
  const error = await failure(client, { method: 'POST', url: server.url(), body });
  assert.equal(error.code, 'ETIMEDOUT');
});

test('a TLS handshake that stalls ends at the connect timeout', async (context) => {
  const server = await startServer();
  const { client } = setUp(context, [server], { connectTimeoutMs: TIMEOUT_MS });
  const url = `https://127.0.0.1:${server.port}/`;
  const error = await failure(client, { method: 'POST', url, body: BODY });
  assert.equal(error.code, 'ETIMEDOUT');
  assert.match(error.message, /connecting \(TLS\)/);
});

test('a TLS handshake that dribbles ends at the connect timeout', async (context) => {
  const server = await startServer({
    // The head of a handshake record of 16 KB that never comes to its end.
    onConnection: (socket) => dribble(socket, '\x16\x03\x03\x40\x00\x02'),
  });
  const { client } = setUp(context, [server], { connectTimeoutMs: TIMEOUT_MS });
  const url = `https://127.0.0.1:${server.port}/`;
  const error = await failure(client, { method: 'POST', url, body: BODY });
  assert.ok(['timeout', 'network'].includes(error.kind), error.message);
});

test('a name look-up that stalls ends at the connect timeout', async (context) => {
  let finish: (error: Error) => void = () => {};
  const { client } = setUp(context, [], { connectTimeoutMs: TIMEOUT_MS }, {
    lookup: (_hostname, _options, done) => {
      finish = (error) => done(error, []);
    },
  });
  const error = await failure(client, { method: 'GET', url: 'http://stalls.test/' });
  assert.equal(error.code, 'ETIMEDOUT');
  assert.match(error.message, /connecting \(name look-up\)/);
  finish(new Error('nobody is interested any more'));
});

test('the deadline of an attempt ends a connection under way', async (context) => {
  const server = await startServer();
  const { client } = setUp(context, [server], { timeoutMs: TIMEOUT_MS });
  const url = `https://127.0.0.1:${server.port}/`;
  const error = await failure(client, { method: 'POST', url, body: BODY });
  assert.match(error.message, /waiting for a connection/);
});

test('the deadline counts the wait for a connection', async (context) => {
  const server = await startServer();
  const { client } = setUp(context, [server], { maxSocketsPerHost: 1 });
  const request = { method: 'GET', url: server.url() };
  const first = failure(client, { ...request, timeoutMs: 3 * TIMEOUT_MS });
  const second = await failure(client, { ...request, timeoutMs: TIMEOUT_MS });
  assert.match(second.message, /waiting for a connection/);
  assert.equal(server.accepted, 1);
  assert.match((await first).message, /waiting for the answer/);
});

test('an attempt in the pool costs one timer', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client, clock } = setUp(context, [server]);
  const request = { method: 'POST', url: server.url(), body: BODY };
  await client.request(request);
  const before = clock.started;
  await client.request(request);
  assert.equal(clock.started - before, 1);
});

test('the first attempt has all of the time, whatever its preparation took', async (context) => {
  const server = await startServer();
  let nowMs = 0;
  const clock: Clock = {
    now: () => systemClock.now(),
    // The time moves on with every look at the clock.
    monotonicMs: () => (nowMs += 0.6),
    startTimer: (delayMs, run) => systemClock.startTimer(delayMs, run),
  };
  const { client } = setUp(context, [server], { timeoutMs: 20, totalTimeoutMs: 20 }, { clock });
  const { message } = await failure(client, { method: 'GET', url: server.url() });
  assert.match(message, / took longer than 0\.02 s /);
});
