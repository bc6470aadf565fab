import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createGuard } from '../../src/access/guard.ts';
import type { GuardOptions } from '../../src/access/guard.ts';
import { parseHostName, isLoopbackName } from '../../src/access/host-check.ts';
import { systemClock } from '../../src/base/clock.ts';
import { RateLimitedLog } from '../../src/base/rate-limited-log.ts';
import type { Access, HttpRoute } from '../../src/server/http-route.ts';
import {
  checkCurrentScope, combineVerifiers, createFixedVerifier,
} from '../../src/access/token-verifier.ts';
import type { TokenVerifier } from '../../src/access/token-verifier.ts';
import { SCOPES } from '../../src/access/scope.ts';
import { RawConnection, encodeRequest, rawRequest } from '../support/raw-http.ts';
import { route, startServer } from '../support/test-server.ts';
import type { TestServer, TestServerOptions } from '../support/test-server.ts';

const ok = (
  method: 'GET' | 'POST' | 'ANY', path: string, access: Access, more: Partial<HttpRoute> = {},
) =>
  route(method, path, (exchange) => exchange.sendJson(200, exchange.isControl),
    { access, ...more });

const ROUTES = [
  ok('GET', '/', 'public'), ok('GET', '/healthz', 'public'), ok('GET', '/readyz', 'public'),
  ok('GET', '/metrics', 'read'), ok('GET', '/api/books', 'read'), ok('POST', '/api/books', 'write'),
  ok('GET', '/api/admin', 'admin'), ok('GET', '/api/copy', 'follow'),
  ok('POST', '/control/backup', 'control'),
  ok('ANY', '/webhook/in/{rest...}', 'public', { isIncomingWebhook: true }),
  ok('ANY', '/hooks/{rest...}', 'public', { isIncomingWebhook: true }),
];

function start(
  guard: Partial<GuardOptions> = {}, options: TestServerOptions = {},
): Promise<TestServer> {
  return startServer(ROUTES, {
    guard: createGuard({
      tokens: createFixedVerifier([]), corsOrigins: [], allowedHosts: [], baseUri: null,
      rejectionLog: new RateLimitedLog(systemClock, () => {}), ...guard,
    }),
    ...options,
  });
}

const stored: TokenVerifier = {
  isRequired: true,
  verify(token) {
    const scope = SCOPES.find((name) => token === `t-${name}`);
    return scope === undefined ? null : { scope, name: 'a token' };
  },
};

test('the access log names the token of a caller, and shows nothing of it', async () => {
  const tokens = combineVerifiers(stored, createFixedVerifier(['s3cret']));
  await using server = await start({ tokens }, { accessLog: 'all' });
  for (const [token, who] of [['t-read', 'a token'], ['s3cret', 'server.apiToken'],
    ['wrong', 'local']] as const) {
    await rawRequest(server, 'GET', '/api/books', { Authorization: `Bearer ${token}` });
    const { message, fields } = server.logged.at(-1) ?? {};
    assert.deepEqual([message, fields?.['who']], ['request', who]);
  }
  assert.doesNotMatch(JSON.stringify(server.logged), /t-read|s3cret|wrong/);
});

test('whom a proxy passes on is nobody of this machine, whatever the proxy is trusted to say',
  async () => {
    for (const trustProxy of [false, true]) {
      await using server = await start({}, { accessLog: 'all', trustProxy });
      for (const [headers, who] of [
        [{}, 'local'], [{ 'X-Forwarded-For': '203.0.113.7' }, 'anonymous'],
        [{ Forwarded: 'for=203.0.113.7' }, 'anonymous'],
        [{ 'X-Forwarded-For': '127.0.0.1' }, 'anonymous'],
        [{ 'X-Real-IP': '203.0.113.7' }, 'anonymous'], [{ Via: '1.1 proxy' }, 'anonymous'],
      ] as const) {
        await rawRequest(server, 'GET', '/api/books', headers);
        assert.equal(server.logged.at(-1)?.fields?.['who'], who, JSON.stringify(headers));
      }
    }
  });

test('a refusal says whether Bearer or the whole header is missing, and shows nothing of it',
  async () => {
    await using server = await start({ tokens: stored });
    const whole = 'send `Authorization: Bearer <token>`';
    const bare = `the Authorization header has no \`Bearer\` before the token: ${whole}`;
    for (const [authorization, detail] of [
      [null, whole], ['Bearer', whole], ['t-admin', bare], ['Token t-admin', bare],
      ['Basic dC1hZG1pbjo=', bare], ['Bearer wrong', 'the token is not valid here'],
    ] as const) {
      const { status, body } = await rawRequest(server, 'GET', '/api/books',
        authorization === null ? {} : { Authorization: authorization });
      assert.deepEqual([status, JSON.parse(body).detail], [401, detail]);
    }
  });

test('each route asks for its scope, and scopes include the smaller ones', async () => {
  const tokens = combineVerifiers(stored, createFixedVerifier(['s3cret']));
  await using server = await start({ tokens });
  const allowed: readonly [string, readonly string[]][] = [
    ['GET /', ['none', 't-read', 't-write', 't-admin', 's3cret', 'wrong']],
    ['GET /healthz', ['none', 't-read', 't-write', 't-admin', 's3cret', 'wrong']],
    ['PUT /webhook/in/x', ['none', 't-read', 't-write', 't-admin', 's3cret', 'wrong']],
    ['GET /metrics', ['t-read', 't-write', 't-admin', 's3cret']],
    ['GET /api/books', ['t-read', 't-write', 't-admin', 's3cret']],
    ['POST /api/books', ['t-write', 't-admin', 's3cret']],
    ['GET /api/admin', ['t-admin', 's3cret']],
  ];
  for (const [request, tokens] of allowed) {
    const [method = '', path = ''] = request.split(' ');
    for (const token of ['none', 't-read', 't-write', 't-admin', 's3cret', 'wrong']) {
      const headers = token === 'none' ? {} : { Authorization: `Bearer ${token}` };
      const answer = await rawRequest(server, method, path, headers as Record<string, string>);
      const isKnown = token !== 'none' && token !== 'wrong';
      const refusal = isKnown ? 403 : 401;
      assert.equal(answer.status, tokens.includes(token) ? 200 : refusal, `${request} ${token}`);
    }
  }
});

test('what reads secrets asks for its own scope, also while the API is open', async () => {
  for (const isRequired of [true, false]) {
    await using server = await start({ tokens: { ...stored, isRequired } });
    const ask = async (path: string, token: string | null): Promise<number> => {
      const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
      return (await rawRequest(server, 'GET', path, headers as Record<string, string>)).status;
    };
    assert.equal(await ask('/api/copy', 't-follow'), 200);
    assert.equal(await ask('/api/copy', null), 401);
    for (const token of ['t-read', 't-write', 't-admin']) {
      assert.equal(await ask('/api/copy', token), 403, token);
    }
    assert.equal(await ask('/api/books', 't-follow'), isRequired ? 403 : 200);
  }
});

test('a refusal says how to authenticate', async () => {
  await using server = await start({ tokens: stored });
  const challenges: readonly [Record<string, string>, number, string][] = [
    [{}, 401, 'Bearer'],
    [{ Authorization: 'Bearer wrong' }, 401, 'Bearer error="invalid_token"'],
    [{ Authorization: 'Basic dC1hZG1pbjo=' }, 401, 'Bearer'],
    [{ Authorization: 'Bearer t-read' }, 403, 'Bearer error="insufficient_scope", scope="write"'],
  ];
  for (const [headers, status, challenge] of challenges) {
    const answer = await rawRequest(server, 'POST', '/api/books', headers, '{}');
    assert.deepEqual([answer.status, answer.headers['www-authenticate']], [status, challenge]);
    assert.equal(JSON.parse(answer.body).status, status);
  }
  const lower = await rawRequest(server, 'POST', '/api/books', { authorization: 'bearer t-write' });
  assert.equal(lower.status, 200);
});

test('without a token nobody learns which paths of the API there are', async () => {
  await using server = await start({ tokens: stored });
  for (const [method, path, status] of [
    ['GET', '/api/none', 401], ['PUT', '/api/books', 401], ['OPTIONS', '/api/books', 401],
    ['GET', '/none', 404], ['PUT', '/healthz', 405],
    // Written otherwise they are the same paths.
    ['GET', '/%61pi/books', 401], ['PUT', '/%61pi/books', 401], ['OPTIONS', '/ap%69/books', 401],
    ['GET', '/%61%70%69/none', 401], ['GET', '/%61pi', 401], ['GET', '/api/%zz', 401],
    ['GET', 'http://localhost/%61pi/none', 401], ['PUT', '/h%65althz', 405], ['GET', '/%zz', 400],
    // These are others, which do not exist.
    ['GET', '/%2561pi/books', 404], ['GET', '/api%2Fbooks', 404], ['GET', '/API/books', 404],
  ] as const) {
    assert.equal((await rawRequest(server, method, path)).status, status, `${method} ${path}`);
  }
  const headers = { Authorization: 'Bearer t-read' };
  assert.equal((await rawRequest(server, 'GET', '/api/none', headers)).status, 404);
  assert.equal((await rawRequest(server, 'PUT', '/api/books', headers)).status, 405);
});

test('routes of the control socket are unknown elsewhere, and it is trusted', async () => {
  await using server = await start({ tokens: stored });
  const headers = { Authorization: 'Bearer t-admin' };
  for (const method of ['POST', 'GET', 'OPTIONS']) {
    assert.equal((await rawRequest(server, method, '/control/backup', headers)).status, 404);
  }
  await using control = await start({ tokens: stored }, { entrance: 'control' });
  for (const [method, path] of [['POST', '/control/backup'], ['GET', '/api/admin']] as const) {
    const answer = await rawRequest(control, method, path, { Host: 'anything' });
    assert.deepEqual([answer.status, answer.body], [200, 'true']);
  }
});

test('on loopback without a token only our own names are answered', async () => {
  await using server = await start({
    allowedHosts: ['Shelf.example', 'other.example:9000'], baseUri: 'https://books.example/x',
  });
  const hosts: readonly [string, number][] = [
    ['localhost', 200], [`localhost:${server.port}`, 200], ['127.0.0.1:1', 200],
    ['[::1]:8000', 200],
    ['LOCALHOST', 200], ['localhost.', 200], ['a.localhost', 200], ['127.8.9.1', 200],
    ['shelf.example', 200], ['shelf.example:99', 200], ['books.example:8000', 200],
    ['other.example:9000', 200], ['other.example', 421], ['evil.example', 421], ['0.0.0.0', 421],
    ['localhost.evil.example', 421], ['192.168.1.1', 421], ['127.0.0.1.evil.example', 421],
    ['', 421],
  ];
  for (const [host, status] of hosts) {
    const answer = await rawRequest(server, 'GET', '/api/books', { Host: host });
    assert.equal(answer.status, status, host);
    const expected = status === 421 ? 421 : 404;
    assert.equal((await rawRequest(server, 'GET', '/x', { Host: host })).status, expected, host);
    const encoded = await rawRequest(server, 'GET', '/%61pi/books', { Host: host });
    assert.equal(encoded.status, status, host);
    for (const path of [
      '/healthz', '/readyz', '/webhook/in/x', '/hooks/x', '/h%65althz', '/webhook/%69n/x',
    ]) {
      assert.equal((await rawRequest(server, 'GET', path, { Host: host })).status, 200, path);
    }
  }
  await using closed = await start({ tokens: stored });
  const headers = { Host: 'evil.example', Authorization: 'Bearer t-read' };
  assert.equal((await rawRequest(closed, 'GET', '/api/books', headers)).status, 200);
  await using network = await start({}, { entrance: 'network' });
  assert.equal((await rawRequest(network, 'GET', '/api/books', headers)).status, 200);
  await using embedded = await start({}, { entrance: 'embedded' });
  assert.equal((await rawRequest(embedded, 'GET', '/api/books', headers)).status, 421);
});

test('credentials in front of a host are shown neither to the caller nor in the log', async () => {
  await using server = await start();
  const inTarget = await rawRequest(server, 'GET', 'http://ada:pass@evil.example/api/books');
  const inHost = await rawRequest(server, 'GET', '/api/books', { Host: 'ada:pass@evil.example' });
  for (const { status, body } of [inTarget, inHost]) {
    assert.equal(status, 421);
    assert.match(JSON.parse(body).detail, /does not answer to the host "evil\.example"/);
  }
  assert.doesNotMatch(JSON.stringify(server.logged), /pass@/);
});

test('a request has exactly one Host', async () => {
  await using server = await start();
  for (const [text, status] of [
    ['GET /api/books HTTP/1.1\r\n\r\n', 400],
    ['GET /api/books HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n', 400],
    ['GET /api/books HTTP/1.0\r\n\r\n', 200],
  ] as const) {
    const connection = new RawConnection(server);
    connection.send(text);
    assert.equal((await connection.answer()).status, status, text);
    connection.close();
  }
});

test('on loopback without a token pages of other origins change nothing', async () => {
  await using server = await start({
    corsOrigins: ['https://app.example'], baseUri: 'https://books.example',
  });
  const own = `http://localhost:${server.port}`;
  const origins: readonly [string, number][] = [
    [own, 200], ['https://app.example', 200], ['https://books.example', 200],
    ['https://evil.example', 403], ['null', 403], ['http://localhost:1', 403],
    ['http://app.example', 403],
  ];
  for (const [Origin, status] of origins) {
    const headers = { Host: `localhost:${server.port}`, Origin };
    const posted = await rawRequest(server, 'POST', '/api/books', headers, '');
    assert.equal(posted.status, status, Origin);
    assert.equal((await rawRequest(server, 'GET', '/api/books', headers)).status, 200);
    for (const path of ['/webhook/in/x', '/hooks/x']) {
      assert.equal((await rawRequest(server, 'POST', path, headers, '')).status, 200);
    }
  }
});

test('CORS is off, and turned on for the named origins alone', async () => {
  await using off = await start();
  const origin = { Origin: 'https://app.example' };
  const plain = await rawRequest(off, 'GET', '/api/books', origin);
  assert.deepEqual([plain.headers['access-control-allow-origin'], plain.headers['vary']],
    [undefined, undefined]);
  await using on = await start({ tokens: stored, corsOrigins: ['https://app.example/'] });
  const refused = await rawRequest(on, 'GET', '/api/books', origin);
  assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']],
    [401, 'https://app.example']);
  assert.match(refused.headers['access-control-expose-headers'] ?? '',
    /ETag.*X-Search-Corrected.*X-Total-Count/);
  const other = await rawRequest(on, 'GET', '/healthz', { Origin: 'https://b.example' });
  assert.deepEqual([other.headers['access-control-allow-origin'], other.headers['vary']],
    [undefined, 'Origin']);
});

test('a response that says by itself who may read it is left as it is', async () => {
  const own = route('GET', '/own', (exchange) =>
    exchange.send(200, ['access-control-allow-origin', 'https://own.example'], 'a'),
  { access: 'public' });
  await using server = await startServer([own], {
    guard: createGuard({
      tokens: stored, corsOrigins: ['*'], allowedHosts: [], baseUri: null,
      rejectionLog: new RateLimitedLog(systemClock, () => {}),
    }),
  });
  const { headers } = await rawRequest(server, 'GET', '/own', { Origin: 'https://app.example' });
  assert.equal(headers['access-control-allow-origin'], 'https://own.example');
});

test('a preflight is answered before authentication', async () => {
  await using server = await start({ tokens: stored, corsOrigins: ['https://app.example'] });
  const ask = (path: string, Origin: string) => rawRequest(server, 'OPTIONS', path, {
    Origin, 'Access-Control-Request-Method': 'POST',
  });
  const answer = await ask('/api/books', 'https://app.example');
  assert.equal(answer.status, 204);
  assert.equal(answer.headers['access-control-allow-methods'], 'GET, HEAD, OPTIONS, POST');
  assert.match(answer.headers['access-control-allow-headers'] ?? '', /Authorization.*If-Match/);
  assert.equal(answer.headers['access-control-max-age'], '600');
  const other = await ask('/api/books', 'https://evil.example');
  assert.deepEqual([other.status, other.headers['access-control-allow-origin'],
    other.headers['access-control-allow-methods']], [204, undefined, undefined]);
  assert.equal((await ask('/webhook/in/x', 'https://evil.example')).status, 200);
  // A question that no browser asks is no preflight.
  const unasked =
    await rawRequest(server, 'OPTIONS', '/api/books', { Origin: 'https://app.example' });
  assert.equal(unasked.headers['access-control-allow-methods'], undefined);
});

test('a preflight to a webhook is answered for an allowed origin, and for no other', async () => {
  await using server = await start({ tokens: stored, corsOrigins: ['https://app.example'] });
  const ask = (Origin: string) => rawRequest(server, 'OPTIONS', '/webhook/in/x', {
    Origin, 'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'content-type,x-signature',
  });
  const { status, headers } = await ask('https://app.example');
  assert.deepEqual([
    status, headers['access-control-allow-origin'], headers['access-control-allow-methods'],
    headers['access-control-allow-headers'],
  ], [204, 'https://app.example', 'POST', 'content-type,x-signature']);
  const other = await ask('https://evil.example');
  assert.deepEqual([other.status, other.headers['access-control-allow-methods']], [200, undefined]);
});

test('all origins may be allowed with a token only', async () => {
  assert.throws(() => createGuard({
    rejectionLog: new RateLimitedLog(systemClock, () => {}),
    tokens: createFixedVerifier([]), corsOrigins: ['*'], allowedHosts: [], baseUri: null,
  }), { code: 'usage' });
  await using server = await start({ tokens: stored, corsOrigins: ['*'] });
  const answer = await rawRequest(server, 'GET', '/healthz', { Origin: 'https://any.example' });
  assert.equal(answer.headers['access-control-allow-origin'], '*');
});

test('all origins are allowed no longer when no token is needed any more', async () => {
  let isRequired = true;
  const tokens: TokenVerifier = {
    get isRequired() {
      return isRequired;
    },
    verify: () => ({ scope: 'read', name: 'a token' }),
  };
  await using server = await start({ tokens, corsOrigins: ['*', 'https://app.example'] });
  const allowedFor = async (Origin: string): Promise<string | undefined> => {
    const headers = { Origin, Authorization: 'Bearer any' };
    const answer = await rawRequest(server, 'GET', '/api/books', headers);
    return answer.headers['access-control-allow-origin'];
  };
  assert.equal(await allowedFor('https://any.example'), '*');
  isRequired = false;
  assert.equal(await allowedFor('https://any.example'), undefined);
  assert.equal(await allowedFor('https://app.example'), 'https://app.example');
});

test('host names are read from every form of authority', () => {
  for (const [authority, name, isLoopback] of [
    ['localhost:8000', 'localhost', true], ['[::1]', '::1', true], ['[::1]:80', '::1', true],
    ['127.0.0.1:', '127.0.0.1', true], ['EXAMPLE.com.', 'example.com', false],
    ['127.evil.example', '127.evil.example', false],
    ['[::ffff:127.0.0.1]', '::ffff:127.0.0.1', true],
    ['128.0.0.1', '128.0.0.1', false], ['notlocalhost', 'notlocalhost', false],
  ] as const) {
    assert.equal(parseHostName(authority), name);
    assert.equal(isLoopbackName(name), isLoopback, name);
  }
});

test('a refused sender of a large body still sees the refusal', async () => {
  await using server = await start({ tokens: stored });
  const connection = new RawConnection(server);
  connection.send(encodeRequest('POST', '/api/books', { 'Content-Length': '900000' }));
  connection.send('x'.repeat(60_000));
  const answer = await connection.answer();
  assert.deepEqual([answer.status, answer.headers['connection']], [401, 'close']);
  connection.close();
});

test('says in the log why a request is refused, and never with which token', async () => {
  await using server = await start({ tokens: stored });
  await rawRequest(server, 'GET', '/api/books', { Authorization: 'Bearer wrong-t0ken' });
  await rawRequest(server, 'POST', '/api/books', { Authorization: 'Bearer t-read' });
  const lines = server.logged.filter(({ message }) => message === 'a request was refused');
  assert.deepEqual(lines.map(({ fields: { code, reason, path, who } }) =>
    ({ code, reason, path, who })), [
    { code: 'unauthorized', reason: 'the token is not valid here', path: '/api/books',
      who: undefined },
    { code: 'forbidden', reason: 'this needs a token of scope write, not read',
      path: '/api/books', who: 'a token' },
  ]);
  assert.ok(!JSON.stringify(server.logged).includes('wrong-t0ken'));
});

test('one verifier that needs a token is enough, and every token of the settings counts', () => {
  const settings = createFixedVerifier(['first', 'second']);
  assert.deepEqual(['first', 'second', 'third'].map((text) => settings.verify(text)?.scope),
    ['admin', 'admin', undefined]);
  assert.ok(combineVerifiers(createFixedVerifier([]), stored).isRequired);
});

test('a caller on the control socket has every scope, without a token', () => {
  const request = new IncomingMessage(new Socket());
  checkCurrentScope({ isControl: true, request }, stored, 'admin');
  assert.throws(() => checkCurrentScope({ isControl: false, request }, stored, 'read'),
    { code: 'unauthorized' });
});

test('a query that needs more than its route is refused as a route is', () => {
  const request = new IncomingMessage(new Socket());
  request.headers.authorization = 'Bearer t-read';
  const caller = { isControl: false, request };
  checkCurrentScope(caller, stored, 'read');
  assert.throws(() => checkCurrentScope(caller, stored, 'admin'), {
    code: 'forbidden', message: 'this needs a token of scope admin, not read',
  });
  checkCurrentScope(caller, createFixedVerifier([]), 'admin');
});
