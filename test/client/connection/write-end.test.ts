/** What becomes of a connection whose answer is complete before its request has been written. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { HttpResponse } from '../../../src/client/http-response.ts';
import { owned } from '../../support/children.ts';
import { compile } from '../../support/compile.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { answer, startServer } from '../../support/servers.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { someTurns, turnsUntil } from '../../support/turns.ts';
import { setUp } from '../setup.ts';

const LARGE_BODY = Buffer.alloc(20 * 1024 * 1024);
// Long enough for a quick target, without which a round proves nothing.
const BLOCKED_MS = 30;
const ROUNDS = 10;

async function startQuickTarget(context: TestContext): Promise<{ target: string; proxy: string }> {
  const folder = createTemporaryFolder();
  const program = compile(join(import.meta.dirname, 'quick-target.ts'), folder);
  const child = owned(spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] }));
  context.after(() => child.kill('SIGKILL'));
  const [target = '', proxy = ''] = String(await once(child.stdout, 'data')).trim().split(' ');
  return { target, proxy };
}

/** Sends a request and blocks the loop, so that the answer is there when the loop next looks. */
function requestAndBlock(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // Both in one phase of the loop: node:tls tells of the end of a write in a later one.
    setTimeout(() => void send().then(resolve, reject), 1);
    setTimeout(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);
    }, 1);
  });
}

for (const way of ['directly', 'through a proxy'] as const) {
  test(`an https connection is kept when the answer is quick: ${way}`, async (context) => {
    const { target, proxy } = await startQuickTarget(context);
    const { client } = setUp(context, [], {
      verify: false, proxy: way === 'directly' ? null : proxy,
    });
    const connections: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { body } = await requestAndBlock(() =>
        client.request({ method: 'POST', url: target, body: Buffer.from('x') }));
      connections.push(body.toString());
    }
    assert.deepEqual(connections, Array.from({ length: ROUNDS }, () => '1'));
  });
}

/** A server that answers before it has read the body, and reads on when it is told. */
async function startEarlyServer() {
  const sockets: Socket[] = [];
  let bytes = 0;
  const server = await startServer({
    onConnection: (socket) => {
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      socket.once('data', () => {
        socket.pause();
        socket.write(answer(200, 'early'));
      });
      sockets.push(socket);
    },
    onRequest: ({ socket, turn }) => {
      if (turn > 1) socket.write(answer(200, 'next'));
    },
  });
  const readOn = (): void => {
    for (const socket of sockets) socket.resume();
  };
  return { server, sockets, readOn, bytesRead: () => bytes };
}

test('an early answer\'s connection serves others once the body is written', async (context) => {
  const { server, readOn } = await startEarlyServer();
  const clock = new ManualClock();
  const { client } = setUp(context, [server], { maxSocketsPerHost: 1 }, { clock });
  const early = await client.request({ method: 'POST', url: server.url(), body: LARGE_BODY });
  assert.equal(early.body.toString(), 'early');
  const next = client.request({ method: 'GET', url: server.url() });
  await someTurns();
  assert.equal(client.statistics().hosts[0]?.waiting, 1, 'not sent into the body of another');
  readOn();
  assert.equal((await next).body.toString(), 'next');
  assert.equal(server.accepted, 1);
});

test('an early answer\'s connection is closed when the body is not taken', async (context) => {
  const { server, readOn, bytesRead } = await startEarlyServer();
  const clock = new ManualClock();
  const { client } = setUp(context, [server], {}, { clock });
  const early = await client.request({ method: 'POST', url: server.url(), body: LARGE_BODY });
  assert.deepEqual([early.statusCode, early.body.toString()], [200, 'early']);
  assert.equal(client.statistics().hosts[0]?.sockets, 1);
  await clock.advance(200);
  assert.deepEqual(client.statistics().hosts, []);
  readOn();
  await server.drained();
  assert(bytesRead() < LARGE_BODY.length, `${bytesRead()} bytes sent`);
});

test('bytes behind an early answer are never the answer to the next request', async (context) => {
  const { server, sockets, readOn } = await startEarlyServer();
  const { client } = setUp(context, [server], {}, { clock: new ManualClock() });
  await client.request({ method: 'POST', url: server.url(), body: LARGE_BODY });
  for (const socket of sockets) socket.write(answer(200, 'stray'));
  await turnsUntil(() => client.statistics().hosts.length === 0);
  readOn();
  const next = await client.request({ method: 'GET', url: server.url() });
  assert.equal(next.body.toString(), 'early');
  assert.equal(server.accepted, 2);
});
