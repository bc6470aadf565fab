import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';
import type { Lookup } from '../../../src/client/connection/resolve.ts';
import { startProxy } from '../../support/proxy.ts';
import { answer, closedPort, startServer } from '../../support/servers.ts';
import type { Received } from '../../support/servers.ts';
import { createCertificate } from '../../support/tls.ts';
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
