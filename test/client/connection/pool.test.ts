import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { owned } from '../../support/children.ts';
import { compile } from '../../support/compile.ts';
import { answer, closedPort, startServer } from '../../support/servers.ts';
import type { Received } from '../../support/servers.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { createCertificate } from '../../support/tls.ts';
import { turnsUntil } from '../../support/turns.ts';
import { failure, setUp } from '../setup.ts';

const BODY = Buffer.from('same bytes');
const WAIT_MS_MAX = 20_000;
// How many requests may wait for a connection to one host.
const QUEUE_MAX = 10_000;

for (const scheme of ['http', 'https'] as const) {
  const certificate = scheme === 'https' ? { certificate: createCertificate() } : {};
  const onRequest = ({ socket }: Received): void => void socket.write(answer());

  test(`${scheme}: one after the other go over one connection`, async (context) => {
    const server = await startServer({ onRequest, ...certificate });
    const { client } = setUp(context, [server], { verify: false });
    const request = { method: 'POST', url: server.url(), body: BODY };
    for (let count = 0; count < 20; count += 1) await client.request(request);
    assert.equal(server.accepted, 1);
    const [host] = client.statistics().hosts;
    assert.deepEqual([host?.sockets, host?.idle, host?.inFlight], [1, 1, 0]);
  });

  test(`${scheme}: at most maxSocketsPerHost at once, the others in turn`, async (context) => {
    const arrived: number[] = [];
    const server = await startServer({
      ...certificate,
      onRequest: (received) => {
        arrived.push(Number(received.head.split(' ')[1]?.slice(1)));
        setImmediate(() => onRequest(received));
      },
    });
    const { client } = setUp(context, [server], { verify: false, maxSocketsPerHost: 3 });
    const all = Array.from({ length: 30 }, (_, index) =>
      client.request({ method: 'GET', url: server.url(`/${index}`) }));
    const [host] = client.statistics().hosts;
    assert.deepEqual([host?.connecting, host?.waiting, host?.inFlight], [3, 27, 30]);
    await Promise.all(all);
    assert.equal(server.accepted, 3);
    assert.deepEqual(arrived.slice(3), arrived.slice(3).toSorted((a, b) => a - b), 'first come');
  });

  test(`${scheme}: a kept connection that closes as it is used costs no attempt`,
    async (context) => {
      // Whatever arrives on a connection that has served is answered by closing it.
      const server = await startServer({
        ...certificate,
        onRequest: (received) => {
          if (received.turn === 1) onRequest(received);
          else received.socket.destroy();
        },
      });
      const { client } = setUp(context, [server], { verify: false, retries: 0 });
      const request = { method: 'POST', url: server.url(), body: BODY };
      for (let count = 0; count < 5; count += 1) {
        const response = await client.request(request);
        assert.deepEqual([response.statusCode, response.attempts], [200, 1]);
      }
      assert.equal(server.accepted, 5);
      assert.ok(server.received.every(({ body }) => body.equals(BODY)));
    });
}

test('the queue for a connection is limited: one more request is busy', async (context) => {
  const server = await startServer({ onRequest: () => {} });
  const { client } = setUp(context, [server], { maxSocketsPerHost: 1 });
  const request = { method: 'GET', url: server.url() };
  const outcomes = Array.from({ length: QUEUE_MAX + 1 }, () => failure(client, request));
  const { kind, code } = await failure(client, request);
  assert.deepEqual([kind, code], ['busy', 'EBUSY']);
  assert.equal(client.statistics().hosts[0]?.waiting, QUEUE_MAX);
  await client.close();
  const kinds = (await Promise.all(outcomes)).map((error) => error.kind);
  assert.deepEqual([...new Set(kinds)], ['canceled']);
});

test('a request on a dead kept connection is repeated at once, even if all of them died',
  async (context) => {
    let isDying = false;
    const server = await startServer({
      onRequest: ({ socket, turn }) => {
        if (isDying && turn > 1) socket.resetAndDestroy();
        else setImmediate(() => socket.write(answer()));
      },
    });
    const { client } = setUp(context, [server], { maxSocketsPerHost: 8 });
    const send = (): Promise<unknown> =>
      client.request({ method: 'POST', url: server.url(), body: BODY });
    await Promise.all(Array.from({ length: 8 }, send));
    isDying = true;
    await Promise.all(Array.from({ length: 8 }, send));
    assert.equal(client.statistics().attempts, 16);
  });

test('after one dead connection a request trusts no other old one', async (context) => {
  const server = await startServer({
    onRequest: ({ socket, turn }) => {
      if (turn > 1) socket.destroy();
      else setImmediate(() => socket.write(answer()));
    },
  });
  const { client } = setUp(context, [server], { maxSocketsPerHost: 4 });
  const send = (): Promise<unknown> =>
    client.request({ method: 'POST', url: server.url(), body: BODY });
  await Promise.all(Array.from({ length: 4 }, send));
  await send();
  assert.deepEqual([server.received.length, server.accepted], [6, 5]);
});

test('a kept connection that dies after a byte of the answer costs an attempt', async (context) => {
  const server = await startServer({
    onRequest: ({ socket, turn }) => {
      if (turn === 1) socket.write(answer());
      else socket.end('H');
    },
  });
  const { client } = setUp(context, [server]);
  await client.request({ method: 'POST', url: server.url() });
  const error = await failure(client, { method: 'POST', url: server.url() });
  assert.equal(error.code, 'ECONNRESET');
});

test('a new connection that dies costs an attempt', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.destroy() });
  const { client } = setUp(context, [server]);
  const error = await failure(client, { method: 'POST', url: server.url() });
  assert.deepEqual([error.code, error.attempts, server.accepted], ['ECONNRESET', 1, 1]);
});

test('bytes that nobody asked for are never the answer to the next request', async (context) => {
  const server = await startServer({
    onRequest: ({ socket, connection }) => socket.write(answer(200, `own ${connection}`)),
  });
  const { client } = setUp(context, [server]);
  for (let count = 1; count <= 3; count += 1) {
    const response = await client.request({ method: 'GET', url: server.url() });
    assert.equal(response.body.toString(), `own ${count}`);
    server.received.at(-1)?.socket.write(answer(200, 'stray'));
    await turnsUntil(() => client.statistics().hosts.length === 0);
  }
});

test('a kept connection with stray bytes is closed at once, whatever they are', async (context) => {
  for (const stray of ['x', '\r\n', answer(200, 'stray')]) {
    const closed: Promise<unknown>[] = [];
    const server = await startServer({
      onConnection: (socket: Socket) => void closed.push(once(socket, 'close')),
      onRequest: ({ socket }) => socket.write(answer()),
    });
    const { client } = setUp(context, [server], { idleTimeoutMs: 10 * WAIT_MS_MAX });
    await client.request({ method: 'GET', url: server.url() });
    server.received.at(-1)?.socket.write(stray);
    const waited = new Promise((resolve) => setTimeout(resolve, WAIT_MS_MAX, 'in vain').unref());
    assert.notEqual(await Promise.race([...closed, waited]), 'in vain', JSON.stringify(stray));
    assert.equal((await client.request({ method: 'GET', url: server.url() })).statusCode, 200);
    assert.equal(server.accepted, 2);
  }
});

test('a connection that fails lets the next in the queue have its turn', async (context) => {
  const { client } = setUp(context, [], { maxSocketsPerHost: 1, timeoutMs: 5000 });
  const url = `http://127.0.0.1:${await closedPort()}/`;
  const errors = await Promise.all([1, 2, 3].map(() => failure(client, { method: 'GET', url })));
  assert.deepEqual(errors.map(({ code }) => code),
    ['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED']);
});

test('a second answer right behind the first is dropped with its connection', async (context) => {
  const server = await startServer({
    onRequest: ({ socket, connection }) => {
      socket.write(`${answer(200, `own ${connection}`)}${answer(200, 'stray')}`);
    },
  });
  const { client } = setUp(context, [server]);
  for (let count = 1; count <= 3; count += 1) {
    const response = await client.request({ method: 'GET', url: server.url() });
    assert.equal(response.body.toString(), `own ${count}`);
  }
});

test('an early answer and an end count too', async (context) => {
  const server = await startServer({
    onConnection: (socket) => socket.once('data', () => socket.end(answer(401, 'who?'))),
  });
  const { client } = setUp(context, [server]);
  const body = Buffer.alloc(20 * 1024 * 1024);
  const response = await client.request({ method: 'POST', url: server.url(), body });
  assert.equal(response.statusCode, 401);
});

test('a connection is not used past the server\'s Keep-Alive timeout', async (context) => {
  const server = await startServer({
    onRequest: ({ socket }) => socket.write(answer(200, '', ['Keep-Alive: timeout=0, max=9'])),
  });
  const { client } = setUp(context, [server]);
  for (let count = 0; count < 3; count += 1) {
    await client.request({ method: 'GET', url: server.url() });
  }
  assert.equal(server.accepted, 3);
});

test('an idle connection is closed after its time', async (context) => {
  const closed: Promise<unknown>[] = [];
  const server = await startServer({
    onRequest: ({ socket }) => socket.write(answer()),
    onConnection: (socket: Socket) => void closed.push(once(socket, 'close')),
  });
  const { client } = setUp(context, [server], { idleTimeoutMs: 30 });
  await client.request({ method: 'GET', url: server.url() });
  await Promise.all(closed);
  assert.deepEqual(client.statistics().hosts, []);
});

test('a slow answer outlives the idle time', async (context) => {
  const server = await startServer({
    onRequest: ({ socket }) => void setTimeout(() => socket.write(answer()), 80),
  });
  const { client } = setUp(context, [server], { idleTimeoutMs: 20 });
  const response = await client.request({ method: 'GET', url: server.url() });
  assert.equal(response.statusCode, 200);
});

test('a connection that the server closes while idle leaves the pool', async (context) => {
  const sockets: Socket[] = [];
  const server = await startServer({
    onConnection: (socket) => void sockets.push(socket),
    onRequest: ({ socket }) => socket.write(answer()),
  });
  const { client } = setUp(context, [server]);
  await client.request({ method: 'GET', url: server.url() });
  sockets[0]?.end();
  await server.drained();
  await turnsUntil(() => client.statistics().hosts.length === 0);
  await client.request({ method: 'GET', url: server.url() });
  assert.equal(server.accepted, 2);
});

test('idle connections keep no process alive, closed or not', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const folder = createTemporaryFolder();
  context.after(() => server.close());
  const program = compile(join(import.meta.dirname, 'one-request.ts'), folder);
  for (const mode of ['close', 'leave']) {
    const child = owned(spawn(process.execPath, [program, server.url(), mode],
      { stdio: ['ignore', 'pipe', 'inherit'] }));
    const answered = once(child.stdout, 'data');
    const exited = once(child, 'exit');
    await answered;
    const startedMs = performance.now();
    assert.deepEqual(await exited, [0, null]);
    assert.ok(performance.now() - startedMs < 5000, mode);
  }
});
