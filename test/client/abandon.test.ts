import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { HttpClient } from '../../src/client/http-client.ts';
import { startProxy } from '../support/proxy.ts';
import { answer, startServer } from '../support/servers.ts';
import type { ScriptedServer } from '../support/servers.ts';
import { createCertificate } from '../support/tls.ts';
import { turnsUntil } from '../support/turns.ts';
import { failure, setUp } from './setup.ts';
import type { CountedClock, Leaky } from './setup.ts';

type Scene = {
  readonly client: HttpClient;
  readonly clock: CountedClock;
  readonly url: string;
  /** True once the request is where the scene wants it. */
  readonly isThere: () => boolean;
};

const certificate = createCertificate();

function scene(
  context: TestContext, servers: readonly Leaky[], options: Parameters<typeof setUp>[2],
  url: string, isThere: () => boolean, ports: Parameters<typeof setUp>[3] = {},
): Scene {
  return { ...setUp(context, servers, options, ports), url, isThere };
}

const SCENES: Readonly<Record<string, (context: TestContext) => Promise<Scene>>> = {
  'looks up a name': async (context) => {
    let isAsked = false;
    const lookup = (): void => {
      isAsked = true;
    };
    return scene(context, [], {}, 'http://slow.test/', () => isAsked, { lookup });
  },
  'is in the TLS handshake': async (context) => {
    const server = await startServer();
    const url = server.url().replace('http:', 'https:');
    return scene(context, [server], {}, url, () => server.accepted === 1);
  },
  'waits for the proxy\'s tunnel': async (context) => {
    const proxy = await startProxy({ onConnect: 'stall' });
    return scene(context, [proxy], { proxy: proxy.url() }, 'https://target.test/',
      () => proxy.asked.length === 1);
  },
  'is in the TLS handshake behind two proxied layers': async (context) => {
    const server = await startServer();
    const proxy = await startProxy({ certificate });
    const url = `https://localhost:${server.port}/`;
    return scene(context, [server, proxy], { proxy: proxy.url(), verify: false }, url,
      () => server.accepted === 1);
  },
  'waits for an answer': async (context) => {
    const server = await startServer();
    return scene(context, [server], {}, server.url(), () => server.received.length === 1);
  },
  'waits for an answer over TLS': async (context) => {
    const server = await startServer({ certificate });
    return scene(context, [server], { verify: false }, server.url(),
      () => server.received.length === 1);
  },
  'reads an answer': async (context) => {
    const server = await startServer({
      onRequest: ({ socket }) => socket.write(answer(200, 'body').slice(0, -1)),
    });
    return scene(context, [server], {}, server.url(), () => server.received.length === 1);
  },
  'waits to try again': async (context) => {
    const server: ScriptedServer = await startServer({
      onRequest: ({ socket }) => socket.write(answer(503)),
    });
    const made = setUp(context, [server], { retries: 1, retryDelayMs: 10_000 });
    return {
      ...made, url: server.url(), isThere: () => made.client.statistics().hosts[0]?.idle === 1,
    };
  },
};

for (const [what, prepare] of Object.entries(SCENES)) {
  test(`a request that ${what} leaves nothing when its signal aborts`, async (context) => {
    const { client, clock, url, isThere } = await prepare(context);
    const controller = new AbortController();
    const { signal } = controller;
    const error = failure(client, { method: 'POST', url, body: Buffer.from('x'), signal });
    await turnsUntil(isThere);
    controller.abort(new Error('enough'));
    assert.deepEqual([(await error).code, (await error).kind], ['ECANCELED', 'canceled']);
    assert.equal(clock.timers, 0);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
    const [host] = client.statistics().hosts;
    assert.ok((host?.inFlight ?? 0) + (host?.connecting ?? 0) + (host?.waiting ?? 0) === 0);
  });

  test(`a request that ${what} leaves nothing when the client closes`, async (context) => {
    const { client, clock, url, isThere } = await prepare(context);
    const error = failure(client, { method: 'POST', url, body: Buffer.from('x') });
    await turnsUntil(isThere);
    await client.close();
    assert.equal((await error).code, 'ECANCELED');
    assert.equal(clock.timers, 0);
    assert.deepEqual(client.statistics().hosts, []);
  });
}

test('a request in the queue that is canceled is passed over', async (context) => {
  const held: (() => void)[] = [];
  const server = await startServer({
    onRequest: ({ socket }) => void held.push(() => socket.write(answer())),
  });
  const { client } = setUp(context, [server], { maxSocketsPerHost: 1 });
  const controller = new AbortController();
  const get = (path: string, signal?: AbortSignal): Promise<unknown> =>
    client.request({ method: 'GET', url: server.url(path), signal });
  const first = get('/first');
  const canceled = get('/canceled', controller.signal);
  const last = get('/last');
  controller.abort();
  await assert.rejects(canceled, { code: 'ECANCELED' });
  await turnsUntil(() => held.length === 1);
  held[0]?.();
  await first;
  await turnsUntil(() => held.length === 2);
  held[1]?.();
  await last;
  assert.deepEqual(server.received.map(({ head }) => head.split(' ')[1]), ['/first', '/last']);
});

test('when a connection under way is given up, the next in the queue begins its own',
  async (context) => {
    const server = await startServer();
    const url = server.url().replace('http:', 'https:');
    const { client } = setUp(context, [server], { maxSocketsPerHost: 1 });
    const controller = new AbortController();
    const first = failure(client, { method: 'GET', url, signal: controller.signal });
    const second = failure(client, { method: 'GET', url, timeoutMs: 300 });
    await turnsUntil(() => server.accepted === 1);
    controller.abort();
    assert.equal((await first).code, 'ECANCELED');
    await turnsUntil(() => server.accepted === 2);
    assert.equal((await second).code, 'ETIMEDOUT');
  });

test('a signal that is aborted already lets nothing out', async (context) => {
  const server = await startServer();
  const { client } = setUp(context, [server]);
  const signal = AbortSignal.abort();
  const error = await failure(client, { method: 'GET', url: server.url(), signal });
  assert.equal(error.code, 'ECANCELED');
  assert.equal(server.accepted, 0);
});

test('a signal listens for nothing once its request is answered', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client } = setUp(context, [server]);
  const { signal } = new AbortController();
  for (let count = 0; count < 3; count += 1) {
    await client.request({ method: 'GET', url: server.url(), signal });
  }
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('a closed client takes no request, and closes again without harm', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client } = setUp(context, [server]);
  await client.request({ method: 'GET', url: server.url() });
  await client.close();
  await server.drained();
  const error = await failure(client, { method: 'GET', url: server.url() });
  assert.equal(error.code, 'ECANCELED');
  await client.close();
});

test('a thousand requests leave no listener on a connection', async (context) => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const { client } = setUp(context, [server]);
  for (let count = 0; count < 1000; count += 1) {
    await client.request({ method: 'POST', url: server.url(), body: Buffer.from('x') });
  }
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});
