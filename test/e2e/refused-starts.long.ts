/** A start that is refused changes nothing: no byte of the data, and not what the data means. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeToken } from '../support/make-token.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

const TOKEN = 'a-token-of-the-tests';

type Refusal = {
  readonly why: string;
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly hasToken?: false;
  readonly message: RegExp;
};

/** With a token where they can be: a start that succeeds with one closes the API. */
function refusals(folder: string, takenPort: number): readonly Refusal[] {
  const [missing, broken] = [join(folder, 'none.pem'), join(folder, 'broken.mjs')];
  writeFileSync(broken, 'bad here', { mode: 0o600 });
  return [
    {
      why: 'a short token', words: ['--host', '0.0.0.0'],
      environment: { HOOKSHELF_API_TOKEN: 'short' }, message: /at least 16 characters/,
    },
    { why: 'a taken port', words: ['--port', String(takenPort)], message: /is in use/ },
    { why: 'a foreign address', words: ['--host', '192.0.2.1'], message: /no address of this/ },
    {
      why: 'a broken module', environment: { HOOKSHELF_ACTIONS: JSON.stringify([broken]) },
      message: /broken\.mjs: /,
    },
    {
      why: 'no certificate', message: /cannot read server\.tlsCert/,
      environment: { HOOKSHELF_SERVER_TLS_CERT: missing, HOOKSHELF_SERVER_TLS_KEY: missing },
    },
    {
      why: 'a wrong setting', environment: { HOOKSHELF_HTTP_TIMEOUT: 'soon' },
      message: /http\.timeout/,
    },
    {
      why: 'a host for everybody', words: ['--host', '0.0.0.0'], hasToken: false,
      message: /anybody could read/,
    },
    {
      why: 'pages of every origin', environment: { HOOKSHELF_SERVER_CORS_ORIGINS: '*' },
      hasToken: false, message: /corsOrigins/,
    },
    {
      why: 'a path of webhooks among ours',
      environment: { HOOKSHELF_SERVER_WEBHOOK_PATH: '/api/hooks' },
      message: /server\.webhookPath must not begin with \/api/,
    },
  ];
}

function digestFiles(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(names.filter((name) => statSync(join(directory, name)).isFile())
    .map((name) => [name,
      createHash('sha256').update(readFileSync(join(directory, name))).digest('hex')]));
}

async function listenAnywhere(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

test('a start that cannot listen makes no data directory', (context) => inFolder(async (folder) => {
  const data = join(folder, 'data');
  const taken = createNetServer();
  context.after(() => taken.close());
  const takenPort = await listenAnywhere(taken);
  for (const [words, message] of [
    [['--port', String(takenPort)], /is in use/],
    [['--port', '0', '--host', '192.0.2.1', '--allow-anonymous'], /no address of this/],
    [['--port', '0', '--host', '0.0.0.0'], /anybody could read/],
  ] as const) {
    const { code, stderr } = await hookshelf(['serve', ...words, '--data', data]);
    assert.notEqual(code, 0, stderr);
    assert.match(stderr, message);
    assert.ok(!existsSync(data), words.join(' '));
  }
}));

test('a start that is refused writes nothing, sends nothing and leaves the API open', (context) =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    let arrived = 0;
    const target = createServer((request, response) => {
      arrived += 1;
      request.resume().on('end', () => response.end());
    });
    context.after(() => target.close());
    const port = await listenAnywhere(target);
    const run = async (...words: string[]): Promise<void> => {
      const { code, stderr } = await hookshelf([...words, '--data', data]);
      assert.equal(code, 0, stderr);
    };
    await run('outgoingwebhook:create', '--target-url', `http://127.0.0.1:${port}/`,
      '--trigger-event', 'a.b');
    await run('event:emit', '--name', 'a.b', '--payload', '{}');
    const taken = createNetServer();
    context.after(() => taken.close());
    const takenPort = await listenAnywhere(taken);
    const before = digestFiles(data);
    for (const refusal of refusals(folder, takenPort)) {
      const { why, words = [], environment, hasToken = true, message } = refusal;
      const token = hasToken ? { HOOKSHELF_API_TOKEN: TOKEN } : {};
      const place = words.includes('--port') ? [] : ['--port', '0'];
      const refused = await hookshelf(['serve', ...place, ...words, '--data', data],
        { environment: { ...token, ...environment } });
      assert.ok(refused.code === 1 || refused.code === 2, `${why}: ${refused.code}`);
      assert.match(refused.stderr, message, why);
      assert.deepEqual(digestFiles(data), before, why);
    }
    assert.equal(arrived, 0);
    const server = await startServer(['--data', data]);
    assert.equal((await ask(`${server.url}/api/books`)).status, 200);
    await until('the delivery that was due is sent', () => arrived === 1);
    await server.stop();
  }));

test('a module in the data directory that does not load refuses a start as well', () =>
  inFolder(async (data) => {
    const opened = await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data]);
    assert.equal(opened.code, 0, opened.stderr);
    mkdirSync(join(data, 'actions'), { mode: 0o700 });
    writeFileSync(join(data, 'actions', 'broken.mjs'), 'bad here', { mode: 0o600 });
    const before = digestFiles(data);
    const refused = await hookshelf(['serve', '--port', '0', '--data', data],
      { environment: { HOOKSHELF_API_TOKEN: TOKEN } });
    assert.equal(refused.code, 2, refused.stderr);
    assert.deepEqual(digestFiles(data), before);
  }));

test('a start with a token that succeeds closes the API, though nobody has asked', () =>
  inFolder(async (data) => {
    const first = await startServer(['--data', data],
      { environment: { HOOKSHELF_API_TOKEN: TOKEN } });
    await first.stop();
    // From snapshots and from the journal, where tokens stand among other records.
    await hookshelf(['data:compact', '--data', data]);
    await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data]);
    const look = async (): Promise<string> =>
      (await hookshelf(['doctor', '--data', data, '--json'])).stdout;
    const findAccess = (text: string): { status: string; detail: string; advice: string } =>
      JSON.parse(text).find(({ check }: { check: string }) => check === 'access');
    const closed = /the API is closed, and no token is left that opens it/;
    const advice = /token:create.*HOOKSHELF_API_TOKEN.*--allow-anonymous/;
    for (const isServed of [false, true]) {
      const server = isServed ? await startServer(['--data', data]) : null;
      const finding = findAccess(await look());
      assert.equal(finding.status, 'warning');
      assert.match(finding.detail, closed);
      assert.match(finding.advice, advice);
      const listed = await hookshelf(['token:list', '--data', data, '--json']);
      assert.deepEqual(JSON.parse(listed.stdout), []);
      assert.match(listed.stderr, closed);
      assert.match(listed.stderr, advice);
      if (server === null) continue;
      assert.equal((await ask(`${server.url}/api/books`)).status, 401);
      await server.stop();
    }
    const { identifier } = await makeToken(data, 'read');
    assert.equal(findAccess(await look()).status, 'ok');
    assert.equal((await hookshelf(['token:list', '--data', data])).stderr, '');
    await hookshelf(['token:revoke', identifier, '--data', data]);
    assert.equal(findAccess(await look()).status, 'warning');
    const open = await startServer(['--data', data, '--allow-anonymous']);
    assert.equal(findAccess(await look()).status, 'ok');
    await open.stop();
  }));
