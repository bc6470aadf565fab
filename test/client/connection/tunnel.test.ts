import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProxy } from '../../support/proxy.ts';
import type { ProxyPlan } from '../../support/proxy.ts';
import { answer, closedPort, startServer } from '../../support/servers.ts';
import { createCertificate } from '../../support/tls.ts';
import { failure, setUp } from '../setup.ts';

const certificate = createCertificate();
const trusted = { certificateAuthorities: [certificate.cert] };
const BODY = Buffer.from('through the proxy');
const CREDENTIALS = 'us@er:p%ss:hush';
const ENCODED = 'us%40er:p%25ss%3Ahush';

for (const proxyScheme of ['http', 'https'] as const) {
  const secured = proxyScheme === 'https' ? { certificate } : {};

  test(`https through an ${proxyScheme} proxy: one tunnel, used again`, async (context) => {
    const server = await startServer({
      certificate, onRequest: ({ socket }) => socket.write(answer()),
    });
    const proxy = await startProxy({ ...secured, credentials: CREDENTIALS });
    const { client } = setUp(context, [server, proxy],
      { ...trusted, proxy: proxy.url(ENCODED, 'localhost') });
    for (let count = 0; count < 5; count += 1) {
      const response = await client.request(
        { method: 'POST', url: server.url('/p', 'localhost'), body: BODY });
      assert.equal(response.statusCode, 200);
    }
    assert.deepEqual(proxy.asked, [`CONNECT localhost:${server.port}`]);
    assert.equal(proxy.accepted, 1);
    assert.equal(server.accepted, 1);
    assert.ok(server.received.every(({ body }) => body.equals(BODY)));
    assert.ok(server.received.every(({ head }) => /^POST \/p HTTP/.test(head)));
    assert.ok(server.received.every(({ head }) => !/proxy/i.test(head)));
    assert.equal(proxy.headers[0]?.authorization, undefined);
  });

  test(`http through an ${proxyScheme} proxy: absolute-form, one connection`, async (context) => {
    const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
    const proxy = await startProxy({ ...secured, credentials: CREDENTIALS });
    const { client } = setUp(context, [server, proxy],
      { ...trusted, proxy: proxy.url(ENCODED, 'localhost') });
    const url = `http://me:own@target.test:${server.port}/p?q=1`;
    for (let count = 0; count < 3; count += 1) {
      const response = await client.request({ method: 'POST', url, body: BODY });
      assert.equal(response.statusCode, 200);
    }
    const expected = `POST http://target.test:${server.port}/p?q=1`;
    assert.deepEqual(proxy.asked, [expected, expected, expected]);
    assert.equal(proxy.accepted, 1);
    assert.ok(server.received.every(({ body }) => body.equals(BODY)));
    assert.equal(proxy.headers[0]?.host, `target.test:${server.port}`);
    const own = `Basic ${Buffer.from('me:own').toString('base64')}`;
    assert.equal(proxy.headers[0]?.authorization, own);
  });
}

test('many at once through a proxy keep to the limit of connections', async (context) => {
  const server = await startServer({
    certificate, onRequest: ({ socket }) => setImmediate(() => socket.write(answer())),
  });
  const proxy = await startProxy();
  const { client } = setUp(context, [server, proxy],
    { ...trusted, proxy: proxy.url(), maxSocketsPerHost: 4 });
  await Promise.all(Array.from({ length: 40 }, () =>
    client.request({ method: 'POST', url: server.url(), body: BODY })));
  assert.deepEqual([proxy.asked.length, server.accepted], [4, 4]);
});

test('noProxy hosts are reached directly, others through the proxy', async (context) => {
  const server = await startServer({ onRequest: ({ socket }) => socket.write(answer()) });
  const proxy = await startProxy();
  const { client } = setUp(context, [server, proxy],
    { proxy: proxy.url(), noProxy: [`127.0.0.1:${server.port}`] });
  await client.request({ method: 'GET', url: server.url('/direct') });
  await client.request({ method: 'GET', url: server.url('/proxied', 'localhost') });
  assert.deepEqual(proxy.asked, [`GET http://localhost:${server.port}/proxied`]);
});

type Failing = {
  readonly rules: ProxyPlan;
  readonly code: string;
  readonly statusCode: number | null;
  readonly isProxyFailure: boolean;
  readonly attempts: number;
};

const FAILING: Readonly<Record<string, Failing>> = {
  'wants other credentials': {
    rules: { credentials: 'other:one' },
    code: 'EPROXY', statusCode: 407, isProxyFailure: true, attempts: 1,
  },
  'refuses with 403': {
    rules: { onConnect: 403 },
    // It will not go there: a target that is never to be reached must not wait for ever.
    code: 'EPROXY', statusCode: 403, isProxyFailure: false, attempts: 2,
  },
  'refuses with 429': {
    rules: { onConnect: 429 },
    code: 'EPROXY', statusCode: 429, isProxyFailure: true, attempts: 2,
  },
  'refuses with 503': {
    rules: { onConnect: 503 },
    code: 'EPROXY', statusCode: 503, isProxyFailure: false, attempts: 2,
  },
  'refuses with 500': {
    rules: { onConnect: 500 },
    // What tinyproxy says when it cannot reach the target.
    code: 'EPROXY', statusCode: 500, isProxyFailure: false, attempts: 2,
  },
  'cuts': {
    rules: { onConnect: 'cut' },
    // As many do when the target cannot be reached.
    code: 'EPROXY', statusCode: null, isProxyFailure: false, attempts: 2,
  },
  'stalls': {
    rules: { onConnect: 'stall' },
    code: 'ETIMEDOUT', statusCode: null, isProxyFailure: false, attempts: 2,
  },
  'stops in its answer': {
    rules: { onConnect: 'half-answer' },
    code: 'ETIMEDOUT', statusCode: null, isProxyFailure: false, attempts: 2,
  },
  'speaks into the tunnel': {
    rules: { onConnect: 'speak-first' },
    code: 'EPROXY', statusCode: null, isProxyFailure: true, attempts: 2,
  },
};

for (const [what, failing] of Object.entries(FAILING)) {
  const { rules, code, statusCode, isProxyFailure, attempts } = failing;
  for (const secured of [{}, { certificate }]) {
    const scheme = 'certificate' in secured ? 'https' : 'http';
    test(`a proxy (${scheme}) that ${what} is told by ${code}`, async (context) => {
      const proxy = await startProxy({ ...rules, ...secured });
      const { client } = setUp(context, [proxy], {
        ...trusted, proxy: proxy.url('us:hush', 'localhost'), retries: 1,
        // What is no time-out has time enough; for one, each attempt must reach the proxy.
        connectTimeoutMs: code === 'ETIMEDOUT' ? 1000 : 30_000, totalTimeoutMs: 60_000,
      });
      const error = await failure(client, { method: 'POST', url: 'https://target.test/' });
      assert.equal(error.code, code);
      assert.equal(error.proxyStatusCode, statusCode);
      assert.equal(error.isProxyFailure, isProxyFailure);
      assert.equal(error.attempts, attempts);
      assert.equal(proxy.asked.length, attempts);
      assert.doesNotMatch(JSON.stringify([error.message, error.stack, error]), /hush|dXM6aHVzaA/);
    });
  }
}

test('a proxy that wants other credentials for an http target is told by EPROXY, once',
  async (context) => {
    const proxy = await startProxy({ credentials: 'other:one' });
    const { client } = setUp(context, [proxy], { proxy: proxy.url('us:hush'), retries: 3 });
    const error = await failure(client, { method: 'POST', url: 'http://target.test/' });
    assert.deepEqual([error.code, error.proxyStatusCode, error.attempts], ['EPROXY', 407, 1]);
    assert.equal(error.isProxyFailure, true);
  });

test('a proxy that cannot be reached is reported as EPROXY, for either kind of target',
  async (context) => {
    const proxy = `http://us:hush@127.0.0.1:${await closedPort()}`;
    const { client } = setUp(context, [], { proxy, retries: 1 });
    for (const url of ['http://target.test/', 'https://target.test/']) {
      const error = await failure(client, { method: 'POST', url });
      assert.deepEqual([error.code, error.isProxyFailure, error.attempts], ['EPROXY', true, 2]);
      assert.match(error.message, /ECONNREFUSED/);
    }
  });

test('a proxy whose certificate is for another name is refused once', async (context) => {
  const other = createCertificate(['other.test']);
  const proxy = await startProxy({ certificate: other });
  const { client } = setUp(context, [proxy],
    { proxy: proxy.url('us:hush'), certificateAuthorities: [other.cert], retries: 3 });
  const error = await failure(client, { method: 'POST', url: 'https://target.test/' });
  assert.deepEqual([error.kind, error.attempts], ['certificate', 1]);
  assert.equal(error.isProxyFailure, true);
  assert.deepEqual(proxy.asked, []);
});

test('a target that breaks off in a tunnel is not the proxy\'s failure', async (context) => {
  const server = await startServer({
    certificate, onRequest: ({ socket }) => void socket.destroy(),
  });
  const proxy = await startProxy();
  const { client } = setUp(context, [server, proxy], { ...trusted, proxy: proxy.url() });
  const error = await failure(client, { method: 'POST', url: server.url() });
  assert.deepEqual([error.code, error.isProxyFailure], ['ECONNRESET', false]);
});

test('inside a tunnel the certificate must be the target\'s, not the proxy\'s', async (context) => {
  for (const [names, expected] of [
    [['target.test'], 200], [['localhost', '127.0.0.1'], 'certificate'],
  ] as const) {
    const own = createCertificate(names);
    const server = await startServer({
      certificate: own, onRequest: ({ socket }) => socket.write(answer()),
    });
    const proxy = await startProxy();
    const { client } = setUp(context, [server, proxy],
      { proxy: proxy.url(), certificateAuthorities: [own.cert] });
    const request = { method: 'GET', url: `https://target.test:${server.port}/` };
    if (expected === 200) assert.equal((await client.request(request)).statusCode, expected);
    else assert.equal((await failure(client, request)).kind, expected);
    assert.deepEqual(proxy.asked, [`CONNECT target.test:${server.port}`]);
  }
});
