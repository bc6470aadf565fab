import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import { TLSSocket, createSecureContext } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { PendingConnection } from '../../../src/client/connection/pending-connection.ts';
import { resolveHost } from '../../../src/client/connection/resolve.ts';
import type { Lookup } from '../../../src/client/connection/resolve.ts';
import { type SessionSlot, startTls } from '../../../src/client/connection/tls.ts';
import { createDenyList } from '../../../src/client/policy/deny-list.ts';
import { startProxy } from '../../support/proxy.ts';
import { startDeafServer } from '../../support/servers-deaf.ts';
import { answer, closedPort, startServer } from '../../support/servers.ts';
import type { Received } from '../../support/servers.ts';
import { createCertificate } from '../../support/tls.ts';
import { turnsUntil } from '../../support/turns.ts';
import { failure, setUp } from '../setup.ts';

const certificate = createCertificate();
const respond = ({ socket }: Received): void => void socket.write(answer());

/** A resolver that knows every name, at `addresses`. */
function resolverOf(...addresses: readonly string[]): Lookup {
  const found: LookupAddress[] = addresses.map((address) =>
    ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, _options, done) => setImmediate(() => done(null, found));
}

type TlsRow = {
  readonly names?: readonly string[];
  readonly days?: { readonly fromDays: number; readonly toDays: number };
  readonly isTrusted: boolean;
  readonly host: string;
  /** Null: accepted. */
  readonly code: string | null;
};

const CERTIFICATES: Readonly<Record<string, TlsRow>> = {
  'that is trusted': { isTrusted: true, host: 'localhost', code: null },
  'for the address': { isTrusted: true, host: '127.0.0.1', code: null },
  'that nobody vouches for': {
    isTrusted: false, host: 'localhost', code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  },
  'for another name': {
    names: ['other.test'], isTrusted: true, host: 'localhost',
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  'for another address': {
    names: ['localhost'], isTrusted: true, host: '127.0.0.1',
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  'that has expired': {
    days: { fromDays: -3, toDays: -1 }, isTrusted: true, host: 'localhost',
    code: 'CERT_HAS_EXPIRED',
  },
  'that is not valid yet': {
    days: { fromDays: 1, toDays: 2 }, isTrusted: true, host: 'localhost',
    code: 'CERT_NOT_YET_VALID',
  },
};

for (const [what, { names, days, isTrusted, host, code }] of Object.entries(CERTIFICATES)) {
  const own = createCertificate(names, days);
  const options = isTrusted ? { certificateAuthorities: [own.cert] } : {};

  test(`a certificate ${what} is ${code === null ? 'accepted' : `refused, once: ${code}`}`,
    async (context) => {
      const server = await startServer({ certificate: own, onRequest: respond });
      const { client } = setUp(context, [server], { ...options, retries: 3 });
      const request = { method: 'POST', url: server.url('/', host) };
      if (code === null) {
        assert.equal((await client.request(request)).statusCode, 200);
        return;
      }
      const error = await failure(client, request);
      assert.deepEqual([error.code, error.kind, error.attempts], [code, 'certificate', 1]);
      assert.equal(server.accepted, 1);
      assert.deepEqual(server.received, []);
    });

  test(`with verify: false a certificate ${what} is accepted`, async (context) => {
    const server = await startServer({ certificate: own, onRequest: respond });
    const { client } = setUp(context, [server], { verify: false });
    const response = await client.request({ method: 'POST', url: server.url('/', host) });
    assert.equal(response.statusCode, 200);
  });
}

test('the server name is sent for names, and never for addresses', async (context) => {
  const server = await startServer({ certificate, onRequest: respond });
  const { client } = setUp(context, [server], { verify: false });
  for (const host of ['localhost', '127.0.0.1']) {
    await client.request({ method: 'GET', url: server.url('/', host) });
  }
  const names = server.received.map(({ socket }) =>
    socket instanceof TLSSocket && socket.servername);
  assert.deepEqual(names, ['localhost', false]);
});

test('a server that speaks no TLS is reported by its code and tried again', async (context) => {
  const server = await startServer({ onConnection: (socket) => socket.end(answer(400)) });
  const { client } = setUp(context, [server], { retries: 1 });
  const url = server.url().replace('http:', 'https:');
  const error = await failure(client, { method: 'GET', url });
  assert.deepEqual([error.kind, error.attempts, server.accepted], ['network', 2, 2]);
});

test('a TLS handshake that is cut is reported by its code and tried again', async (context) => {
  const server = await startServer({ onConnection: (socket) => socket.once('data', () => {
    socket.destroy();
  }) });
  const { client } = setUp(context, [server], { retries: 1 });
  const url = server.url().replace('http:', 'https:');
  const error = await failure(client, { method: 'GET', url });
  assert.deepEqual([error.code, error.attempts], ['ECONNRESET', 2]);
});

test('the address that answers is taken when others do not', async (context) => {
  const server = await startServer({ onRequest: respond });
  const lookup = resolverOf('::1', '127.0.0.2', '127.0.0.1');
  const { client } = setUp(context, [server], {}, { lookup });
  const url = `http://several.test:${server.port}/`;
  assert.equal((await client.request({ method: 'GET', url })).statusCode, 200);
});

test('an IPv6 literal is reached', async (context) => {
  const server = await startServer({ onRequest: respond, host: '::1' });
  const { client } = setUp(context, [server]);
  const response = await client.request({ method: 'GET', url: server.url('/', '[::1]') });
  assert.equal(response.statusCode, 200);
  assert.match(server.received[0]?.head ?? '', new RegExp(`Host: \\[::1\\]:${server.port}`));
});

const DENIED_HOSTS = [
  '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::127.0.0.1]',
  '0.0.0.0', '[::]', '2130706433', '0x7f.1', '0177.0.0.1', '127.1',
];

for (const host of DENIED_HOSTS) {
  test(`a denied address is not connected to in the form ${host}`, async (context) => {
    const server = await startServer({ onRequest: respond, host: '::' });
    const { client } = setUp(context, [server], { denyAddresses: ['loopback'], retries: 3 });
    const error = await failure(client, { method: 'GET', url: server.url('/', host) });
    assert.deepEqual([error.code, error.kind], ['EDENIED', 'denied']);
    assert.equal(server.accepted, 0);
  });
}

test('a name that leads to a denied address is not connected to, and not retried',
  async (context) => {
    const server = await startServer({ onRequest: respond, host: '::' });
    for (const addresses of [['127.0.0.1'], ['::1', '127.0.0.1'], ['::ffff:127.0.0.1']]) {
      const { client } = setUp(context, [], { denyAddresses: ['loopback'], retries: 3 },
        { lookup: resolverOf(...addresses) });
      const error = await failure(client, { method: 'GET', url: server.url('/', 'rebound.test') });
      assert.deepEqual([error.code, error.attempts], ['EDENIED', 1]);
    }
    context.after(() => server.close());
    assert.equal(server.accepted, 0);
  });

test('of a name\'s addresses only those that are not denied are tried', async (context) => {
  const server = await startServer({ onRequest: respond });
  const lookup = resolverOf('169.254.169.254', '127.0.0.1', 'fe80::1');
  const { client } = setUp(context, [server], { denyAddresses: ['link-local'] }, { lookup });
  const response = await client.request({ method: 'GET', url: server.url('/', 'mixed.test') });
  assert.equal(response.statusCode, 200);
});

test('the proxy may stand at a denied address; a literal target may not, a name may',
  async (context) => {
    const server = await startServer({ certificate, onRequest: respond });
    const proxy = await startProxy();
    const { client } = setUp(context, [server, proxy], {
      proxy: proxy.url(), denyAddresses: ['loopback'], verify: false, retries: 1,
    });
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://127.0.0.1:${server.port}/`;
      const error = await failure(client, { method: 'GET', url });
      assert.equal(error.code, 'EDENIED');
    }
    assert.deepEqual(proxy.asked, []);
    const response = await client.request({ method: 'GET', url: server.url('/', 'localhost') });
    assert.equal(response.statusCode, 200);
  });

test('a refused connection is reported by its code', async (context) => {
  const { client } = setUp(context, []);
  const url = `http://localhost:${await closedPort()}/`;
  const error = await failure(client, { method: 'GET', url });
  assert.deepEqual([error.code, error.kind, error.isProxyFailure],
    ['ECONNREFUSED', 'network', false]);
});

test('a session is lent until a handshake with it fails', async (context) => {
  const server = await startServer({ certificate: createCertificate() });
  const broken = await startServer({
    onConnection: (socket) => socket.once('data', () => socket.destroy()),
  });
  context.after(() => Promise.all([server.close(), broken.close()]));
  const slot: SessionSlot = { session: null };
  const options = { verifiesCertificates: false, secureContext: createSecureContext() };
  const startTlsTo = (port: number): ReturnType<typeof startTls> => startTls(
    new PendingConnection(systemClock), connect(port, '127.0.0.1'), 'localhost', options, slot);
  const first = await startTlsTo(server.port);
  if (slot.session === null) await once(first, 'session');
  const second = await startTlsTo(server.port);
  assert.ok(second.isSessionReused());
  await assert.rejects(startTlsTo(broken.port));
  assert.equal(slot.session, null);
});

function resolveAs(addresses: readonly string[]): Lookup {
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
  const lookup = resolveAs(['127.0.0.1', '127.0.0.2']);
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
  const inTurn = await resolveHost('many.test', resolveAs(found), null);
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
      resolveAs(['127.0.0.1'])(hostname, options, done);
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
  await assert.rejects(resolveHost('none.test', resolveAs([]), null), { code: 'ENOTFOUND' });
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
