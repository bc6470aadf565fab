import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import type { Lookup } from '../../../src/client/connection/resolve.ts';
import { resolveHost } from '../../../src/client/connection/resolve.ts';
import { createDenyList } from '../../../src/client/policy/deny-list.ts';
import { answer } from '../../support/servers.ts';
import { startDeafServer } from '../../support/servers-deaf.ts';
import { turnsUntil } from '../../support/turns.ts';
import { failure, setUp } from '../setup.ts';

function resolverOf(addresses: readonly string[]): Lookup {
  return (_hostname, _options, done) => setImmediate(() =>
    done(null, addresses.map((address) => ({ address, family: 0 }))));
}

test('a TCP connection that stalls ends at the connect timeout', async (context) => {
  const deaf = await startDeafServer();
  context.after(() => deaf.close());
  const { client } = setUp(context, [], { connectTimeoutMs: 150 });
  const url = `http://127.0.0.1:${deaf.port}/`;
  const error = await failure(client, { method: 'GET', url });
  assert.equal(error.code, 'ETIMEDOUT');
  assert.match(error.message, /connecting \(TCP\) took longer than 0\.15 s/);
});

test('a proxy that does not connect in time is the proxy\'s failure', async (context) => {
  const deaf = await startDeafServer();
  context.after(() => deaf.close());
  const proxy = `http://127.0.0.1:${deaf.port}`;
  const { client } = setUp(context, [], { connectTimeoutMs: 150, proxy });
  const error = await failure(client, { method: 'GET', url: 'https://target.test/' });
  assert.deepEqual([error.code, error.isProxyFailure], ['ETIMEDOUT', true]);
});

test('an address that stalls does not keep the next from being tried', async (context) => {
  const deaf = await startDeafServer();
  const server = await listen('127.0.0.2', deaf.port);
  context.after(async () => {
    await deaf.close();
    server.close();
  });
  const before = openSockets();
  const lookup = resolverOf(['127.0.0.1', '127.0.0.2']);
  const { client } = setUp(context, [], { connectTimeoutMs: 3000 }, { lookup });
  const startedMs = performance.now();
  const response = await client.request({ method: 'GET', url: `http://two.test:${deaf.port}/` });
  assert.equal(response.statusCode, 200);
  assert.ok(performance.now() - startedMs < 2000);
  // The address that stalled is given up.
  await turnsUntil(() => openSockets() === before);
});

test('families of addresses take turns, beginning with the resolver\'s first', async () => {
  const found = ['::1', '::2', '::3', '127.0.0.1', '127.0.0.2'];
  const inTurn = await resolveHost('many.test', resolverOf(found), null);
  assert.deepEqual(inTurn, ['::1', '127.0.0.1', '::2', '127.0.0.2', '::3']);
});

test('a literal is never looked up, and checked all the same', async () => {
  const lookup: Lookup = () => assert.fail('looked up');
  const denyList = createDenyList(['loopback']);
  assert.deepEqual(await resolveHost('10.0.0.1', lookup, denyList), ['10.0.0.1']);
  await assert.rejects(resolveHost('::ffff:127.0.0.1', lookup, denyList), { code: 'EDENIED' });
});

test('connections begun at once share one look-up, later ones get their own', async (context) => {
  const server = await listen('127.0.0.1', 0);
  context.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asked: string[] = [];
  const { client } = setUp(context, [], {}, {
    lookup: (hostname, options, done) => {
      asked.push(hostname);
      resolverOf(['127.0.0.1'])(hostname, options, done);
    },
  });
  const send = (name: string): Promise<unknown> =>
    client.request({ method: 'GET', url: `http://${name}.test:${port}/` });
  await Promise.all([send('one'), send('one'), send('two'), send('one'), send('two')]);
  assert.deepEqual(asked, ['one.test', 'two.test']);
  await send('one');
  assert.deepEqual(asked, ['one.test', 'two.test', 'one.test']);
});

test('a name without addresses is an unknown name', async () => {
  await assert.rejects(resolveHost('none.test', resolverOf([]), null), { code: 'ENOTFOUND' });
});

/** Of this process, connecting ones included. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer()));
  });
  await once(server.listen(port, host), 'listening');
  return server;
}
