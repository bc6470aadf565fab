/** Stored API tokens, made and revoked by commands and enforced by a real server over TCP. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { makeToken } from '../support/make-token.ts';
import { SCOPES, SCOPE_OF } from '../support/scopes.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import type { Reply } from './ask.ts';
import { hookshelf, startServer, type Running } from './processes.ts';

function askAs(
  server: Running, token: string | null, method: string, path: string, body?: unknown,
): Promise<Reply> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  return ask(server.url + path, { method, headers, ...body === undefined ? {} : { body } });
}

test('every route asks for its scope', () => inFolder(async (data) => {
  const server = await startServer(['--data', data]);
  try {
    const tokens = { emit: '', read: '', write: '', admin: '' };
    for (const scope of ['emit', ...SCOPES] as const) {
      tokens[scope] = (await makeToken(data, scope)).token;
    }
    for (const [operation, needed] of SCOPE_OF) {
      const [method = '', path = ''] = operation.split(' ');
      // Names nothing that is there: whoever is let in is told so, and changes nothing.
      const target = path.replace(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000')
        + (path === '/api/stream' ? '?topics=none' : '');
      const statusFor = async (token: string | null): Promise<number> =>
        (await askAs(server, token, method, target)).status;
      const isPublic = needed === 'public';
      const anybody = await statusFor(null);
      assert.equal(anybody === 401, !isPublic, `${operation}: ${anybody}`);
      for (const scope of SCOPES) {
        const status = await statusFor(tokens[scope]);
        const mayCome = needed === 'public' || (needed !== 'follow'
          && SCOPES.indexOf(scope) >= SCOPES.indexOf(needed === 'emit' ? 'write' : needed));
        assert.ok(mayCome ? status !== 401 && status !== 403 : status === 403,
          `${operation} as ${scope}: ${status}`);
      }
      const emitterStatus = await statusFor(tokens.emit);
      assert.equal(emitterStatus === 403, !isPublic && needed !== 'emit',
        `${operation} as emit: ${emitterStatus}`);
    }
  } finally {
    await server.stop();
  }
}));

test('a token for some events emits these and no other, and changes nothing by itself', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const made = await hookshelf(['token:create', '--name', 'shop', '--scope', 'emit', '--event',
      'order.*', '--event', 'invoice.paid', '--data', data, '--json']);
    const { token, events } = JSON.parse(made.stdout);
    assert.deepEqual(events, ['order.*', 'invoice.paid']);
    const emit = (name: string): Promise<Reply> =>
      askAs(server, token, 'POST', '/api/events', { name });
    for (const [name, status] of [
      ['order.paid', 202], ['order.x.y', 202], ['invoice.paid', 202],
      ['order', 403], ['invoice.paid.twice', 403], ['orders.x', 403], ['delivery.failed', 422],
    ] as const) assert.equal((await emit(name)).status, status, name);
    const { detail } = JSON.parse((await emit('book.created')).text);
    assert.match(detail, /^this token may emit order\.\*, invoice\.paid,.*"book\.created"/);
    // Stored again with the time of its last use, it is bound to them still.
    assert.equal((await emit('book.created')).status, 403);
    await server.stop();
  }));

test('who changed what is one line each, with the names of members and no values', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const path = '/api/outgoing-webhooks';
    const hook = { name: 'crm', targetUrl: 'http://127.0.0.1:9/', secret: 'first-secret-of-crm' };
    const { identifier } = JSON.parse((await askAs(server, null, 'POST', path, hook)).text);
    const { token } = await makeToken(data, 'admin');
    const answers = [
      await askAs(server, token, 'PATCH', `${path}/crm`, { secret: 'second-one', timeout: 7 }),
      // Changes nothing, and so is no change.
      await askAs(server, token, 'PATCH', `${path}/crm`, { timeout: 7 }),
      await askAs(server, token, 'POST', `${path}/crm/rotate-secret`, {}),
      await askAs(server, token, 'PUT', '/api/configuration', {
        actionConfigurations: [{ identifier: 'to-log', actionType: 'log' }],
      }),
      await askAs(server, token, 'PATCH', `${path}/none`, { timeout: 7 }),
      await askAs(server, token, 'POST', '/api/books', { title: 'Emma' }),
    ];
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200, 404, 201]);
    const removed =
      await hookshelf(['outgoingwebhook:delete', '--identifier', 'crm', '--data', data]);
    assert.equal(removed.code, 0, removed.stderr);
    await server.stop();
    const lines = server.stderr().split('\n').filter((line) => line.includes('"who"'))
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ message, who, name }) => [message, who, name]), [
      ['outgoing webhook created', 'local', 'crm'], ['token created', 'socket', 'admin'],
      ['outgoing webhook changed', 'admin', 'crm'], ['outgoing webhook changed', 'admin', 'crm'],
      ['action configuration created', 'admin', undefined],
      ['outgoing webhook deleted', 'socket', 'crm'],
    ]);
    assert.deepEqual(lines.map(({ level }) => level), lines.map(() => 'info'));
    assert.deepEqual([lines[2].members, lines[3].members, lines[5].members],
      [['secret', 'timeout'], ['secret', 'previousSecret'], undefined]);
    assert.deepEqual([lines[2].kind, lines[2].identifier], ['outgoing webhook', identifier]);
    assert.doesNotMatch(server.stderr(), /first-secret|second-one|127\.0\.0\.1:9\//);
  }));

test('tokens are made and ended through the control socket alone, and shown once', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    assert.equal((await askAs(server, null, 'GET', '/api/books')).status, 200);
    const { identifier, token } = await makeToken(data, 'admin');
    const closed = await askAs(server, null, 'GET', '/api/books');
    assert.deepEqual([closed.status, closed.headers['www-authenticate']], [401, 'Bearer']);
    assert.equal((await askAs(server, token, 'GET', '/api/books')).status, 200);
    for (const [method = '', path, status] of [
      ['GET', '/api/tokens', 200], ['POST', '/api/tokens', 405],
      ['DELETE', `/api/tokens/${identifier}`, 404], ['GET', '/control/tokens', 404],
      ['POST', '/control/tokens', 404], ['DELETE', `/control/tokens/${identifier}`, 404],
    ] as const) {
      const reply = await askAs(server, token, method, path);
      assert.equal(reply.status, status, method);
      assert.ok(!reply.text.includes(token) && !reply.text.includes('"hash"'));
    }
    assert.equal((await ask(`${server.url}/healthz`)).status, 200);
    const listed = await hookshelf(['token:list', '--json', '--data', data]);
    assert.ok(listed.stdout.includes(identifier) && !listed.stdout.includes(token));
    assert.ok(!server.stderr().includes(token));
    await server.stop();
    // Only a hash lies on disk, in whatever file.
    const found = spawnSync('grep', ['-rlF', token, data], { encoding: 'utf8' });
    assert.deepEqual([found.status, found.stdout], [1, '']);
    const hash = spawnSync('grep', ['-rl', '"hash":"[0-9a-f]\\{64\\}"', data]);
    assert.equal(hash.status, 0);
  }));

test('the API stays closed after the last token is revoked or has expired, also without a server',
  () => inFolder(async (data) => {
    const { identifier, token } = await makeToken(data, 'write');
    const server = await startServer(['--data', data]);
    assert.equal((await askAs(server, token, 'POST', '/api/books', { title: 'E' })).status, 201);
    const revoke = ['token:revoke', '--identifier', identifier, '--data', data];
    assert.equal((await hookshelf(revoke)).code, 0);
    const refused = await askAs(server, token, 'GET', '/api/books');
    assert.deepEqual([refused.status, refused.headers['www-authenticate']],
      [401, 'Bearer error="invalid_token"']);
    await server.stop();

    const again = await startServer(['--data', data]);
    assert.equal((await askAs(again, null, 'GET', '/api/books')).status, 401);
    // Who owns the directory is not kept out.
    assert.equal((await hookshelf(['book:list', '--data', data])).code, 0);
    await again.stop();
    // A token that has existed is enough to listen for everybody: nobody comes in.
    const open = await startServer(['--data', data, '--host', '0.0.0.0', '--allow-anonymous']);
    const { port } = new URL(open.url);
    assert.equal((await ask(`http://127.0.0.1:${port}/api/books`)).status, 200);
    await open.stop();
  }));

test('a directory that was served with a token is not open again when the token is lost', () =>
  inFolder(async (data) => {
    const environment = { HOOKSHELF_API_TOKEN: 'short' };
    const first = await startServer(['--data', data], { environment });
    const shown = await askAs(first, 'short', 'GET', '/api/books');
    assert.equal(shown.status, 200);
    // At once: whatever ends this process must not open what it serves.
    await first.stop('SIGKILL');

    const lost = await startServer(['--data', data]);
    assert.equal((await askAs(lost, null, 'GET', '/api/books')).status, 401);
    assert.match(lost.stderr(), /nobody has access to the API.*token:create/);
    const listed = await hookshelf(['token:list', '--json', '--data', data]);
    assert.deepEqual(JSON.parse(listed.stdout), []);
    const { token } = await makeToken(data, 'read');
    assert.equal((await askAs(lost, token, 'GET', '/api/books')).status, 200);
    // A document may be planned with it, and not applied.
    const document = { actionConfigurations: [{ identifier: 'x', actionType: 'log' }] };
    for (const [body, status] of [[{ ...document, dryRun: true }, 200], [document, 403]] as const) {
      const { status: given, text } =
        await askAs(lost, token, 'PUT', '/api/configuration', body);
      assert.equal(given, status, text);
    }
    const [{ identifier }] = JSON.parse(
      (await hookshelf(['token:list', '--json', '--data', data])).stdout);
    await hookshelf(['token:revoke', '--identifier', identifier, '--data', data]);
    await lost.stop();

    const open = await startServer(['--data', data, '--allow-anonymous']);
    assert.equal((await askAs(open, null, 'GET', '/api/books')).status, 200);
    await open.stop();
  }));

test('pages of every origin may come in when a token is needed', () => inFolder(async (data) => {
  const environment = { HOOKSHELF_SERVER_CORS_ORIGINS: '["*"]' };
  const words = ['serve', '--port', '0', '--data', data];
  const refused = await hookshelf(words, { environment });
  assert.equal(refused.code, 2);
  // Before it stands a line of the log: that the start has made the data directory.
  assert.match(refused.stderr, /^hookshelf: [^\n]*corsOrigins[^\n]*token[^\n]*\n$/m);
  const { token } = await makeToken(data, 'read');
  const server = await startServer(['--data', data], { environment });
  const reply = await ask(`${server.url}/api/books`, {
    headers: { authorization: `Bearer ${token}`, origin: 'https://shop.example' },
  });
  assert.deepEqual([reply.status, reply.headers['access-control-allow-origin']], [200, '*']);
  await server.stop();
}));

test('an expiry in the past is refused, one to come is shown', () => inFolder(async (data) => {
  const words = ['token:create', '--name', 'ci', '--scope', 'read', '--data', data, '--expires'];
  for (const [expires, code] of [['2020-01-01', 1], ['2027-02-30', 1], ['soon', 2]] as const) {
    const { code: given, stderr } = await hookshelf([...words, expires]);
    assert.equal(given, code, stderr);
    assert.match(stderr, /^hookshelf: [^\n]+\n$/);
  }
  assert.equal((await hookshelf([...words, '30d'])).code, 0);
  const { stdout } = await hookshelf(['token:list', '--json', '--data', data]);
  const [{ expiresAt }] = JSON.parse(stdout);
  const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000;
  assert.ok(days > 29.9 && days <= 30, expiresAt);
}));
