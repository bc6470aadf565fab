import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createHttpClient } from '../../src/client/http-client.ts';
import type { HttpClient, HttpClientOptions } from '../../src/client/http-client.ts';
import { NetworkError } from '../../src/client/network-error.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answer, closedPort, startServer } from '../support/servers.ts';
import type { Received, ScriptedServer } from '../support/servers.ts';
import { turnsUntil } from '../support/turns.ts';
import { OPTIONS, failure, setUp } from './setup.ts';

const BODY = Buffer.from([0, 1, 2, 0xff, 0x0a]);
const DELAYS = { retries: 2, retryDelayMs: 200, totalTimeoutMs: 15_000 };

/** A client whose time stands still until the test moves it. */
function stillClient(
  context: TestContext, server: ScriptedServer, options: Partial<HttpClientOptions> = DELAYS,
): { readonly client: HttpClient; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const client = createHttpClient({ ...OPTIONS, ...options }, { clock });
  context.after(async () => {
    await client.close();
    await server.close();
  });
  return { client, clock };
}

/** Answers each request with the next of `answers`, the last one again and again. */
function inOrder(...answers: readonly string[]): (received: Received) => void {
  let next = 0;
  return ({ socket }) => {
    socket.write(answers[Math.min(next, answers.length - 1)] ?? '');
    next += 1;
  };
}

for (const statusCode of [408, 425, 429, 500, 502, 503, 504]) {
  test(`${statusCode} is tried exactly \`retries\` times more, with the same bytes`,
    async (context) => {
      const server = await startServer({ onRequest: inOrder(answer(statusCode, 'no')) });
      const { client } = setUp(context, [server], { retries: 2 });
      const headers = { 'X-Signature': 'sha256=00' };
      const response = await client.request(
        { method: 'POST', url: server.url('/p'), headers, body: BODY });
      assert.equal(response.statusCode, statusCode);
      assert.equal(response.body.toString(), 'no');
      assert.equal(response.attempts, 3);
      assert.equal(server.received.length, 3);
      assert.equal(new Set(server.received.map(({ head }) => head)).size, 1);
      assert.deepEqual(server.received.map(({ body }) => body), [BODY, BODY, BODY]);
    });
}

for (const statusCode of [200, 301, 400, 401, 404, 407, 409, 410, 418, 501, 505]) {
  test(`${statusCode} is final`, async (context) => {
    const server = await startServer({ onRequest: inOrder(answer(statusCode)) });
    const { client } = setUp(context, [server], { retries: 2 });
    const response = await client.request({ method: 'POST', url: server.url() });
    assert.deepEqual([response.statusCode, response.attempts], [statusCode, 1]);
    assert.equal(server.received.length, 1);
  });
}

test('the answer after a failure is the answer', async (context) => {
  const server = await startServer({ onRequest: inOrder(answer(503), answer(204, '')) });
  const { client } = setUp(context, [server], { retries: 5 });
  const response = await client.request({ method: 'POST', url: server.url(), body: BODY });
  assert.deepEqual([response.statusCode, response.attempts], [204, 2]);
  assert.equal(client.statistics().attempts, 2);
});

test('a single attempt is a single attempt, whatever the client\'s retries', async (context) => {
  const server = await startServer({ onRequest: inOrder(answer(503)) });
  const { client } = setUp(context, [server], { retries: 5 });
  const response = await client.request({ method: 'POST', url: server.url(), retries: 0 });
  assert.equal(response.attempts, 1);
  assert.equal(server.received.length, 1);
});

test('a refused connection is tried `retries` times more', async (context) => {
  const { client } = setUp(context, [], { retries: 2 });
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const error = await failure(client, { method: 'POST', url, body: BODY });
  assert.deepEqual([error.code, error.attempts], ['ECONNREFUSED', 3]);
});

test('an unknown name is tried again and reported by its code', async (context) => {
  let asked = 0;
  const { client } = setUp(context, [], { retries: 1 }, {
    lookup: (_hostname, _options, done) => {
      asked += 1;
      done(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), []);
    },
  });
  const error = await failure(client, { method: 'GET', url: 'http://unknown.test/' });
  assert.deepEqual([error.code, error.kind, asked], ['ENOTFOUND', 'network', 2]);
});

const CUTS: readonly (readonly [string, (received: Received) => void, string])[] = [
  ['resets before the answer', ({ socket }) => socket.resetAndDestroy(), 'ECONNRESET'],
  ['closes before the answer', ({ socket }) => socket.end(), 'ECONNRESET'],
  ['cuts the head', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nCont'), 'ECONNRESET'],
  ['cuts the body', ({ socket }) => socket.end(answer(200, 'body').slice(0, -1)), 'ECONNRESET'],
  ['resets in the body', ({ socket }) => {
    socket.write(answer(200, 'body').slice(0, -1), () => socket.resetAndDestroy());
  }, 'ECONNRESET'],
  ['cuts a chunk', ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab');
  }, 'ECONNRESET'],
  ['speaks another protocol', ({ socket }) => socket.end('SSH-2.0-x\r\n'), 'HPE_INVALID_CONSTANT'],
  ['says two lengths', ({ socket }) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab');
  }, 'HPE_UNEXPECTED_CONTENT_LENGTH'],
  ['switches protocols', ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
  }, 'ECONNRESET'],
];

for (const [what, onRequest, code] of CUTS) {
  test(`a server that ${what} gets the request again, and is told by ${code}`, async (context) => {
    const server = await startServer({ onRequest });
    const { client } = setUp(context, [server], { retries: 1 });
    const error = await failure(client, { method: 'POST', url: server.url(), body: BODY });
    assert.deepEqual([error.code, error.kind, error.attempts], [code, 'network', 2]);
    assert.equal(server.received.length, 2);
  });
}

test('attempts are `retryDelayMs` apart on the clock', async (context) => {
  const server = await startServer({ onRequest: inOrder(answer(500)) });
  const { client, clock } = stillClient(context, server);
  const response = client.request({ method: 'POST', url: server.url(), body: BODY });
  for (const attempts of [1, 2]) {
    await turnsUntil(() => client.statistics().hosts[0]?.idle === 1);
    assert.equal(server.received.length, attempts);
    await clock.advance(199);
    assert.equal(server.received.length, attempts);
    await clock.advance(1);
    await turnsUntil(() => server.received.length === attempts + 1);
  }
  assert.equal((await response).attempts, 3);
});

const WAITS: readonly (readonly [string, number])[] = [
  ['2', 2000], ['0', 200], ['1.5', 200], ['nonsense', 200],
  // The three forms of dates in RFC 9110 §5.6.7, and what is none.
  ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000], ['Thursday, 01-Jan-26 00:00:10 GMT', 10_000],
  ['Thu Jan  1 00:00:10 2026', 10_000], ['Wed, 31 Dec 2025 00:00:00 GMT', 200],
  ['2026-01-01T00:00:10Z', 200], ['Thu, nonsense GMT', 200],
];

for (const [retryAfter, waitMs] of WAITS) {
  test(`Retry-After: ${retryAfter} makes the wait ${waitMs} ms`, async (context) => {
    const refusal = answer(429, '', [`Retry-After: ${retryAfter}`]);
    const server = await startServer({ onRequest: inOrder(refusal, answer(200)) });
    const { client, clock } = stillClient(context, server);
    const response = client.request({ method: 'POST', url: server.url(), body: BODY });
    await turnsUntil(() => client.statistics().hosts[0]?.idle === 1);
    await clock.advance(waitMs - 1);
    assert.equal(server.received.length, 1);
    await clock.advance(1);
    assert.equal((await response).statusCode, 200);
  });
}

for (const retryAfter of ['15', '3600', '99999999999999', 'Thu, 01 Jan 2026 00:00:15 GMT']) {
  test(`a wait of Retry-After: ${retryAfter} would pass the total time and is not begun`,
    async (context) => {
      const refusal = answer(503, 'later', [`Retry-After: ${retryAfter}`]);
      const server = await startServer({ onRequest: inOrder(refusal) });
      const { client } = stillClient(context, server);
      const response = await client.request({ method: 'POST', url: server.url(), body: BODY });
      assert.deepEqual([response.statusCode, response.attempts], [503, 1]);
      assert.equal(response.headers['retry-after'], retryAfter);
    });
}

test('the last attempt gets no more than what is left of the total time', async (context) => {
  const server = await startServer();
  const { client, clock } = stillClient(context, server,
    { timeoutMs: 150, totalTimeoutMs: 300, retries: 9, retryDelayMs: 1 });
  const error = failure(client, { method: 'GET', url: server.url() });
  await clock.advance(150);
  await clock.advance(149);
  assert.equal(client.statistics().failures, 0);
  await clock.advance(1);
  assert.equal(client.statistics().failures, 1);
  assert.deepEqual([(await error).code, (await error).attempts], ['ETIMEDOUT', 2]);
  assert.match((await error).message, /longer than 0\.149 s/);
});

test('neither errors nor the log hold a secret or a target', async (context) => {
  const written: unknown[] = [];
  const note = (...line: readonly unknown[]): void => void written.push(line);
  const logger = { debug: note, info: note, warning: note, error: note };
  const { client } = setUp(context, [], { retries: 1 }, { logger });
  const url = `http://user:hush@127.0.0.1:${await closedPort()}/?token=hush`;
  const headers = { Authorization: 'Bearer hush' };
  const error = await failure(client, { method: 'POST', url, headers });
  assert.ok(error instanceof NetworkError && written.length > 0);
  const text = JSON.stringify([written, error, error.message, String(error.cause), error.stack]);
  assert.doesNotMatch(text, /hush/);
  assert.doesNotMatch(error.message, /127\.0\.0\.1/);
});
