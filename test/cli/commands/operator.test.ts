import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { SETTING_ROWS } from '../../../src/settings/setting-table.ts';
import { closedPort } from '../../support/servers.ts';
import type { Ran } from '../io.ts';
import { WAYS, inPlace } from '../place.ts';
import type { Place } from '../place.ts';

for (const way of WAYS) {
  test(`a token is made, listed and revoked, ${way}`, () => inPlace(way, async (place) => {
    const words = ['token:create', '--name', 'ci', '--scope', 'write', '--expires', '2099-01-31'];
    const created = await place.run(words);
    assert.equal(created.code, 0, created.stderr);
    const token = created.stdout.replace(/\n$/, '');
    assert.match(created.stderr, /created token [\w-]+ \(\w+\), which is shown this once/);
    assert.match(token, /^hookshelf_[A-Za-z0-9_-]{43}$/);
    const list = await place.run(['token:list', '--json']);
    assert.ok(!list.stdout.includes(token));
    const [entry] = JSON.parse(list.stdout);
    assert.deepEqual([entry.name, entry.scope, entry.expiresAt.slice(0, 10)],
      ['ci', 'write', '2099-01-31']);
    const revoked = await place.run(['token:revoke', '--id', entry.identifier]);
    assert.equal(revoked.stdout, `revoked token ${entry.identifier}\n`);
    assert.match((await place.run(['token:list'])).stdout, /^IDENTIFIER +NAME +SCOPE/);
    const unknown = await place.run(['token:revoke', '--id', 'nope']);
    assert.equal(unknown.code, 1);
    const late = await place.json(['token:create', '--name', 'b', '--scope', 'read',
      '--expires', '30d']);
    assert.match(String(late['token']), /^hookshelf_/);
  }));
}

test('token:create --url prints a link in place of the token, for bound tokens alone', () =>
  inPlace('without a server', async (place) => {
    const words = ['token:create', '--name', 'acme', '--scope', 'read', '--url'];
    const bound = [...words, '--webhook', 'acme'];
    const environment = { HOOKSHELF_SERVER_BASE_URI: 'https://hooks.example.com/relay/' };
    const made = await place.run(bound, { environment });
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout,
      /^https:\/\/hooks\.example\.com\/relay\/console#token=hookshelf_[A-Za-z0-9_-]{43}\n$/);
    assert.equal(made.stdout.split('hookshelf_').length, 2, made.stdout);
    assert.doesNotMatch(made.stderr, /cannot reach/);
    const { token, url } = await place.json(bound, { environment });
    assert.deepEqual([token, String(url).split('#')[0]],
      [undefined, 'https://hooks.example.com/relay/console']);
    const local = await place.run(bound);
    assert.match(local.stdout, /^http:\/\/localhost:8000\/console#token=/);
    assert.match(local.stderr, /which other machines cannot reach: see server\.baseUri/);
    const count = (await place.json<readonly unknown[]>(['token:list'])).length;
    const unbound = await place.run(words);
    assert.deepEqual([unbound.code, unbound.stdout], [2, '']);
    assert.match(unbound.stderr, /--url is for tokens of customers: name webhooks by --webhook/);
    const off = await place.run(bound, { environment: { HOOKSHELF_SERVER_CONSOLE: 'false' } });
    assert.deepEqual([off.code, off.stdout], [2, '']);
    assert.match(off.stderr, /--url: there is no console, as server\.console is false/);
    assert.equal((await place.json<readonly unknown[]>(['token:list'])).length, count);
  }));

test('token:create says once that the API is closed, and whom it does not let in', () =>
  inPlace('without a server', async (place) => {
    const create = async (...words: string[]): Promise<string> =>
      (await place.run(['token:create', '--name', 'a', ...words])).stderr;
    const customer = await create('--scope', 'read', '--webhook', 'acme');
    assert.match(customer, /the API is closed from now on to who has no token/);
    assert.match(customer, /no token lets you into .*token:create --name admin --scope admin/);
    assert.doesNotMatch(await create('--scope', 'emit'), /closed from now on|lets you/);
    assert.doesNotMatch(await create('--scope', 'admin'), /closed from now on|lets you/);
  }));

test('with --json token:create says alone that a token does not let its maker in', () =>
  inPlace('without a server', async (place) => {
    const words = ['token:create', '--name', 'a', '--scope', 'emit', '--json'];
    const { stderr } = await place.run(words);
    assert.match(stderr, /^hookshelf: no token lets you into [^\n]*\n$/);
  }));

test('a token is revoked by its name where exactly one that is not revoked bears it', () =>
  inPlace('without a server', async (place) => {
    const make = async (name: string): Promise<string> => {
      const token = await place.json(['token:create', '--name', name, '--scope', 'read']);
      return String(token['identifier']);
    };
    const revoke = (name: string): Promise<Ran> => place.run(['token:revoke', name]);
    const [first, second] = [await make('ci'), await make('ci')];
    const several = await revoke('ci');
    assert.equal(several.code, 1);
    assert.match(several.stderr, /"ci" may be any of 2 tokens/);
    for (const id of [first, second]) assert.ok(several.stderr.includes(id));
    assert.equal((await revoke(first)).code, 0);
    const ran = await revoke('ci');
    assert.deepEqual([ran.code, ran.stdout], [0, `revoked token ${second}\n`]);
    const again = await revoke('ci');
    assert.deepEqual([again.code, again.stderr],
      [1, 'hookshelf: the token "ci" is revoked or has expired already\n']);
    const other = await make('web');
    // The name of one and a part of the other's identifier: the name comes first.
    const named = await make(other.slice(-6));
    assert.equal((await revoke(other.slice(-6))).stdout, `revoked token ${named}\n`);
    assert.match((await revoke(other.slice(-6))).stderr, /is revoked or has expired already/);
    assert.equal((await revoke(other)).code, 0);
  }));

test('token:revoke --all ends all of a name, and token:create tells that there are such', () =>
  inPlace('without a server', async (place) => {
    const make = (...names: string[]): Promise<Ran> => place.run(['token:create', '--scope', 'read',
      ...names.flatMap((name) => ['--name', name])]);
    assert.doesNotMatch((await make('acme', 'bolt')).stderr, /have the same name/);
    assert.match((await make('acme')).stderr,
      /tokens in force have the same name, and stay: "acme"; token:list/);
    assert.match((await place.run(['token:revoke', 'acme'])).stderr, /or --all for all of that/);
    const ended = await place.json<readonly Record<string, unknown>[]>(
      ['token:revoke', 'acme', '--all']);
    assert.deepEqual(ended.map(({ name, revokedAt }) => [name, typeof revokedAt]),
      [['acme', 'string'], ['acme', 'string']]);
    assert.match((await place.run(['token:revoke', 'acme', '--all'])).stderr,
      /is revoked or has expired already/);
    assert.match((await place.run(['token:revoke', 'bolt', '--all'])).stdout,
      /^revoked token \S+\n$/);
    assert.doesNotMatch((await make('acme')).stderr, /have the same name/);
  }));

test('token:revoke takes several tokens, and revokes none where a word names none or several', () =>
  inPlace('without a server', async (place) => {
    const names = ['acme', 'bolt', 'corp'];
    await place.run(['token:create', '--scope', 'read', ...names.map((name) => `--name=${name}`)]);
    await place.run(['token:create', '--scope', 'read', '--name', 'corp']);
    const listInForce = async (): Promise<readonly unknown[]> =>
      (await place.json<readonly Record<string, unknown>[]>(['token:list']))
        .flatMap(({ name, revokedAt }) => revokedAt === undefined ? [name] : []);
    for (const [words, reason] of [
      [['acme', 'corp'], /"corp" may be any of 2 tokens/],
      [['acme', 'bollt'], /there is no token "bollt": did you mean `bolt`\?/],
      [['acme', ''], /does not take ""/],
    ] as const) {
      const refused = await place.run(['token:revoke', ...words]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, reason);
      assert.deepEqual(await listInForce(), ['acme', 'bolt', 'corp', 'corp']);
    }
    const two = await place.json<readonly Record<string, unknown>[]>(
      ['token:revoke', 'acme', 'bolt', 'acme']);
    assert.deepEqual(two.map(({ name }) => name), ['acme', 'bolt']);
    const ended = await place.run(['token:revoke', '--id', 'corp', '--all']);
    assert.match(ended.stdout, /^(revoked token \S+\n){2}$/);
    assert.deepEqual(await listInForce(), []);
  }));

test('token:create --replace ends the tokens of its names, each with its own in one step', () =>
  inPlace('without a server', async (place) => {
    const create = (...words: string[]): Promise<Ran> => place.run(
      ['token:create', '--scope', 'read', '--webhook', '{name}', '--expires', '365d', ...words]);
    const names = ['--name', 'acme', '--name', 'bolt'];
    await create(...names);
    await create('--name', 'acme');
    await create('--name', 'corp');
    assert.match((await create(...names)).stderr, /or replace their tokens by --replace;/);
    const replaced = await create(...names, '--replace');
    assert.equal(replaced.code, 0, replaced.stderr);
    assert.match(replaced.stderr, /tokens of the same name are ended: "acme", "bolt"\n/);
    assert.doesNotMatch(replaced.stderr, /several tokens|and stay/);
    assert.match(replaced.stdout, /^acme\thookshelf_\S+\nbolt\thookshelf_\S+\n$/);
    const tokens = await place.json<readonly Record<string, unknown>[]>(['token:list']);
    assert.deepEqual(tokens.map(({ name, revokedAt }) => [name, revokedAt === undefined]), [
      ['acme', false], ['bolt', false], ['acme', false], ['corp', true],
      ['acme', true], ['bolt', true],
    ]);
    const inForce = await place.json<readonly unknown[]>(['token:list', '--in-force']);
    assert.deepEqual(inForce, tokens.slice(3));
    const first = await create('--name', 'dorn', '--replace');
    assert.doesNotMatch(first.stderr, /are ended/);
  }));

for (const way of WAYS) {
  test(`token:list and doctor tell which tokens end within 30 days, ${way}`, () =>
    inPlace(way, async (place) => {
      const now = { now: Date.now };
      const make = (name: string, expires: string): Promise<Ran> => place.run(
        ['token:create', '--name', name, '--scope', 'read', '--expires', expires], now);
      const listNote = async (): Promise<string> => (await place.run(['token:list'], now)).stderr;
      const find = async (): Promise<readonly unknown[]> => {
        const found = await place.json<readonly Record<string, unknown>[]>(['doctor'], now);
        const { status, detail } = found.find(({ check }) => check === 'token expiry') ?? {};
        return [status, detail];
      };
      await make('late', '31d');
      assert.doesNotMatch(await listNote(), /within 30 days/);
      assert.deepEqual(await find(), ['ok', 'none ends within 30 days']);
      await make('soon', '29d');
      await make('revoked', '1d');
      await place.run(['token:revoke', 'revoked']);
      assert.match(await listNote(), /a token ends within 30 days: "soon"\n/);
      assert.deepEqual(await find(), ['hint', 'a token ends within 30 days: "soon"']);
      // Its holder has another one.
      await make('soon', '365d');
      assert.doesNotMatch(await listNote(), /within 30 days/);
      assert.deepEqual(await find(), ['ok', 'none ends within 30 days']);
    }));
}

test('warns of a secret in a settings file only where others may read the file', () =>
  inPlace('without a server', async (place) => {
    const path = join(place.data, 'settings.json');
    const token = 'a'.repeat(32);
    for (const [settings, mode, names] of [
      [{ server: { apiToken: token } }, 0o604, 'server.apiToken'],
      [{ http: { proxy: 'http://user:pass@localhost:1' } }, 0o644, 'http.proxy'],
      [{ http: { proxy: 'http://localhost:1' } }, 0o644, null],
      [{ server: { apiToken: token } }, 0o640, null],
      [{ server: { port: 1 } }, 0o644, null],
    ] as const) {
      writeFileSync(path, JSON.stringify(settings));
      chmodSync(path, mode);
      const { stdout } = await place.run(['doctor', '--json']);
      assert.ok(!stdout.includes(token) && !stdout.includes('pass@'));
      const [{ check, status, detail, advice }] = JSON.parse(stdout);
      assert.deepEqual([check, status], ['settings', names === null ? 'ok' : 'warning']);
      if (names === null) continue;
      assert.equal(detail, `${path} holds ${names}, and every user may read it`);
      assert.equal(advice, `chmod 600 ${path}`);
    }
  }));

test('a settings file that is broken under a running server takes no command away from it', () =>
  inPlace('through a server', async (place) => {
    const path = join(place.data, 'settings.json');
    const backup = join(place.folder, 'backup');
    const wasRun = async (words: readonly string[], text = ''): Promise<void> => {
      const { code, stderr } = await place.run(words, { input: text });
      assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
      assert.match(stderr, /^hookshelf: .*settings\.json.*; the server that runs has read /m);
    };
    for (const [index, settings] of ['{"http":', '{"http":{"timeuot":7}}'].entries()) {
      writeFileSync(path, settings);
      await wasRun(['book:add', '--input', '{"title":"One"}']);
      await wasRun(['delivery:list']);
      await wasRun(['data:compact']);
      await wasRun(['data:backup', '--to', `${backup}-${index}`]);
      await wasRun(['mcp'], '{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
      const shown = await place.run(['settings:show']);
      assert.deepEqual([shown.code, / has read /.test(shown.stderr)], [0, false]);
      assert.match((await place.run(['doctor'])).stdout, /^settings +failed +of this command: /m);
      // Where an engine has the records stands in the settings alone.
      assert.equal((await place.run(['data:verify'])).code, 2);
    }
    writeFileSync(join(place.folder, 'named.json'), '{"http":');
    for (const [options, environment] of [
      [['--config', join(place.folder, 'named.json')], {}], [[], { HOOKSHELF_HTTP_TIMEOUT: 'x' }],
    ] as const) {
      const { code } = await place.run(['delivery:list', ...options], { environment });
      assert.equal(code, 2, 'what is wrong is of this command');
    }
  }));

test('wrong settings are refused beside the lock of a server that was killed', () =>
  inPlace('without a server', async (place) => {
    writeFileSync(join(place.data, 'settings.json'), '{"http":');
    writeFileSync(join(place.data, 'lock'), `${JSON.stringify({
      pid: process.pid, kind: 'server', socketPath: join(place.data, 'control.sock'),
    })}\n`);
    const backup = ['data:backup', '--to', join(place.folder, 'backup')];
    for (const words of [backup, ['book:list'], ['mcp']]) {
      const { code, stderr } = await place.run(words);
      assert.deepEqual([code, stderr.includes('settings.json')], [2, true], stderr);
    }
  }));

test('a token can be made where the settings ask for one', () =>
  inPlace('without a server', async (place) => {
    const environment = { HOOKSHELF_SERVER_CORS_ORIGINS: '*' };
    const words = ['token:create', '--name', 'web', '--scope', 'read'];
    assert.equal((await place.run(words, { environment })).code, 0);
  }));

test('settings:show says every setting, its value and where it came from, and no secret', () =>
  inPlace('without a server', async (place) => {
    writeFileSync(join(place.data, 'settings.json'), '{"http":{"timeout":7}}');
    const environment = {
      HOOKSHELF_API_TOKEN: 'planted', HOOKSHELF_HTTP_PROXY: 'http://me:planted@proxy.test:3128',
    };
    const { stdout } = await place.run(['settings:show', '--json'], { environment });
    assert.ok(!stdout.includes('planted'));
    const rows = JSON.parse(stdout) as { name: string; value: unknown; origin: string }[];
    assert.deepEqual(rows.map(({ name }) => name), SETTING_ROWS.map(({ name }) => name));
    const shown = (name: string): unknown[] => {
      const row = rows.find((candidate) => candidate.name === name);
      return [row?.value, row?.origin];
    };
    assert.deepEqual(shown('http.timeout'), [7, join(place.data, 'settings.json')]);
    assert.deepEqual(shown('server.apiToken'), ['***', 'HOOKSHELF_API_TOKEN']);
    assert.deepEqual(shown('http.proxy'), ['http://***@proxy.test:3128', 'HOOKSHELF_HTTP_PROXY']);
    assert.deepEqual(shown('http.retries'), [2, 'default']);
    const mine = join(place.folder, 'mine.json');
    writeFileSync(mine, '{"http":{"timeout":9}}');
    const [named] = (await place.json<typeof rows>(['settings:show', '--config', mine]))
      .filter(({ name }) => name === 'http.timeout');
    assert.deepEqual([named?.value, named?.origin], [9, mine]);
    const file = await place.run(['settings:show', '--config', mine]);
    assert.equal(file.stderr, 'hookshelf: these are the settings of this command, with --config\n');
    const table = await place.run(['settings:show'], { environment, columns: 100 });
    assert.equal(table.stderr, 'hookshelf: these are the settings of this command, as no server '
      + `runs on ${place.data}\n`);
    assert.match(table.stdout, /^http\.timeout +7 +seconds +\S/m);
    assert.ok(table.stdout.split('\n').every((line) => line.length <= 100));
  }));

type Finding = {
  readonly check: string; readonly status: string; readonly detail: string; readonly advice: string;
};

test('doctor finds nothing wrong where nothing is, and what is wrong where it is', () =>
  inPlace('without a server', async (place) => {
    type Environment = Readonly<Record<string, string>>;
    const look = async (environment: Environment): Promise<Map<string, Finding>> => {
      const { stdout } = await place.run(['doctor', '--json'], { environment });
      const findings = JSON.parse(stdout) as Finding[];
      return new Map(findings.toReversed().map((finding) => [finding.check, finding]));
    };
    const port = String(await closedPort());
    const healthy = await look({ HOOKSHELF_SERVER_PORT: port });
    assert.deepEqual([...healthy.values()].filter(({ status }) => status === 'failed'), []);
    assert.equal(healthy.get('lock')?.detail, 'nobody holds the data directory');
    assert.match(healthy.get('access')?.detail ?? '', /no token, unless .* variables of a unit$/);
    const network = { HOOKSHELF_SERVER_PORT: port, HOOKSHELF_SERVER_HOST: '0.0.0.0' };
    for (const [token, status, detail] of [
      [{}, 'failed', /^on 0\.0\.0\.0 anybody could read and change everything: set HOOKSHELF_API_/],
      [{ HOOKSHELF_API_TOKEN: 'short' }, 'failed', /must have at least 16 characters/],
      [{ HOOKSHELF_API_TOKEN: 'a'.repeat(32) }, 'ok', /is closed to callers without a token$/],
    ] as const) {
      const access = (await look({ ...network, ...token })).get('access');
      assert.equal(access?.status, status);
      assert.match(access?.detail ?? '', detail);
    }
    for (const [setting, value] of [
      ['BASE_URI', 'https://hooks.example.com'], ['TRUST_PROXY', 'true'],
    ]) {
      const proxied = {
        HOOKSHELF_SERVER_PORT: port, [`HOOKSHELF_SERVER_${setting}`]: String(value),
      };
      for (const [token, status, detail] of [
        [{}, 'warning', /asks for no token: whoever comes through a proxy can read and change /],
        [{ HOOKSHELF_API_TOKEN: 'short' }, 'warning', /fewer than 16 characters: .* guess it$/],
        [{ HOOKSHELF_API_TOKEN: 'a'.repeat(32) }, 'ok', /is closed to callers without a token$/],
      ] as const) {
        const access = (await look({ ...proxied, ...token })).get('access');
        assert.equal(access?.status, status, `${setting} ${access?.detail}`);
        assert.match(access?.detail ?? '', detail);
      }
    }

    chmodSync(place.data, 0o755);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const takenPort = String((taken.address() as AddressInfo).port);
    const environment = {
      HOOKSHELF_SERVER_PORT: takenPort, HOOKSHELF_SERVER_MAX_CONNECTIONS: '100000000',
      HOOKSHELF_HTTP_PROXY: `http://127.0.0.1:${port}`,
    };
    const sick = await look(environment);
    taken.close();
    const unset = await look({ HOOKSHELF_HTTP_TIMOUT: '1' });
    assert.equal(unset.get('settings')?.status, 'failed');
    assert.deepEqual(['data directory', 'port', 'proxy'].map((check) => sick.get(check)?.status),
      ['warning', 'failed', 'failed']);
    assert.match(sick.get('data directory')?.advice ?? '', /^chmod 700 /);
    const ran = await place.run(['doctor'], { environment });
    assert.equal(ran.code, 1);
  }));

test('doctor finds a certificate and actions with which a server would not start', () =>
  inPlace('without a server', async (place) => {
    const actions = join(place.data, 'actions');
    mkdirSync(actions, { recursive: true, mode: 0o700 });
    writeFileSync(join(actions, 'broken.mjs'), 'bad here');
    // Whoever may write it runs code of his own: a start refuses it.
    chmodSync(join(actions, 'broken.mjs'), 0o666);
    const missing = join(place.data, 'none.pem');
    const environment = { HOOKSHELF_SERVER_TLS_CERT: missing, HOOKSHELF_SERVER_TLS_KEY: missing };
    const { code, stdout } = await place.run(['doctor'], { environment });
    assert.equal(code, 1);
    assert.match(stdout, /^certificate +failed +cannot read server\.tlsCert: ENOENT/m);
    assert.match(stdout, /^actions +failed +.*broken\.mjs: /m);
  }));

test('doctor says that the directory of a node needs its engine', () =>
  inPlace('without a server', async (place) => {
    mkdirSync(join(place.data, 'replica'), { recursive: true });
    const { stdout } = await place.run(['doctor', '--json']);
    const store = (JSON.parse(stdout) as Finding[]).find(({ check }) => check === 'store');
    assert.deepEqual([store?.status, store?.advice], ['warning', 'name it in store.url']);
  }));

test('doctor finds the server', () => inPlace('through a server', async (place) => {
  const environment = { HOOKSHELF_SERVER_TLS_CERT: '/none', HOOKSHELF_SERVER_PORT: '1' };
  const { stdout } = await place.run(['doctor'], { environment });
  assert.match(stdout, new RegExp(`lock +ok +the server .* \\(pid ${process.pid}, .*\\) answers`));
  // Its port is the kernel's; that of the settings is nothing to a server that has another.
  assert.match(stdout, /^port +ok +our server listens on http:\/\/127\.0\.0\.1:\d+, and answers$/m);
  // Nor are the settings of this command.
  assert.match(stdout, /^certificate +ok +none is set: plain HTTP$/m);
  assert.match(stdout, /^settings +failed +of this command: .*server\.tlsCert.* needs/m);
  assert.match(stdout, /^settings +ok +of the server that runs .*: /m);
}));

test('doctor names webhooks on * that do not hear all about hookshelf, and fails not for it', () =>
  inPlace('through a server', async (place) => {
    const made = async (...triggers: readonly string[]): Promise<string> => {
      const webhook = await place.json(['outgoingwebhook:create', '--target-url',
        'http://a.example/', ...triggers.flatMap((name) => ['--trigger-event', name])]);
      return String(webhook['identifier']);
    };
    const look = async (): Promise<Finding | undefined> => {
      const findings = await place.json<Finding[]>(['doctor']);
      return findings.find(({ check }) => check === 'own events');
    };
    await made('book.*', 'delivery.failed');
    await made('*', 'webhook.*', 'delivery.*', 'request.*', 'store.*');
    assert.equal((await look())?.status, 'ok');
    const onAll = [
      await made('*'), await made('*', 'book.*'), await made('*', 'delivery.failed'),
      await made('*', 'delivery.*', 'webhook.*', 'request.*', 'store.recovered'),
    ];
    const found = await look();
    assert.equal(found?.status, 'hint');
    assert.ok(found.detail.endsWith(`: ${onAll.join(', ')}`), found.detail);
    assert.match(found.advice, /delivery\.failed/);
  }));

test('doctor finds a port of our server that nobody answers', () =>
  inPlace('without a server', async (place) => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const { code, stdout } = await runDoctorBeside(place, { server: { urls: [url] } });
    assert.match(stdout,
      new RegExp(`^port +failed +our server .*${url}, where nobody answers`, 'm'));
    assert.equal(code, 1);
  }));

test('doctor warns of a server that sends and runs nothing', () =>
  inPlace('without a server', async (place) => {
    const { code, stdout } = await runDoctorBeside(place,
      { isPaused: true, deliveries: { fullReason: null } });
    assert.match(stdout, /^queue +warning +nothing is sent or run, .*: .* without --paused/m);
    assert.equal(code, 0);
  }));

test('doctor says that a paused server makes no backups', () =>
  inPlace('without a server', async (place) => {
    const finding = /^backups +ok +none are made by itself, as server\.paused is on$/m;
    const environment = {
      HOOKSHELF_SERVER_PAUSED: 'true', HOOKSHELF_BACKUP_TO: join(place.folder, 'backups'),
    };
    assert.match((await place.run(['doctor'], { environment })).stdout, finding);
    const { stdout } = await runDoctorBeside(place,
      { isPaused: true, backups: null, deliveries: { fullReason: null } },
      { settings: [{ name: 'server.paused', value: true, origin: '--paused' }] });
    assert.match(stdout, finding);
  }));

test('doctor fails while our server is not ready, and says why', () =>
  inPlace('without a server', async (place) => {
    const { code, stdout } =
      await runDoctorBeside(place, { isReady: false, reason: 'the disk is full' });
    assert.match(stdout,
      /lock +failed +the server .* \(pid 7, .*\) is not ready: the disk is full/);
    assert.equal(code, 1);
  }));

for (const [daysLeft, status, detail] of [
  [400, 'ok', 'the certificate can be used until 2027-10-26, for 400 days'],
  [10, 'warning', 'the certificate expires soon: its last day is 2026-10-01, in 10 days: renew'],
  [1, 'warning', 'the certificate expires soon: its last day is 2026-09-22, in a day: renew'],
  [0, 'warning', 'the certificate expires soon: .* 2026-09-21, in less than a day: renew'],
  [-1, 'failed', 'the certificate has expired: its last day was 2026-09-20: renew'],
] as const) {
  test(`doctor says of the certificate of a server with ${daysLeft} days left: ${status}`, () =>
    inPlace('without a server', async (place) => {
      const nowMs = Date.parse('2026-09-21T12:00:00Z');
      const expiresAt = new Date(nowMs + (daysLeft + 0.1) * 86_400_000).toISOString();
      const server = { urls: [], openFilesMax: 300, certificate: { expiresAt, daysLeft } };
      const { stdout } = await runDoctorBeside(place, { server }, { now: () => nowMs });
      assert.match(stdout, new RegExp(`^certificate +${status} +${detail}`, 'm'));
      // The limit is the server's, and not that of this process.
      assert.match(stdout, /^file limits +warning +300 open files, 10000 connections wanted/m);
    }));
}

test('doctor checks the proxy and the folder of commands that the server has', () =>
  inPlace('without a server', async (place) => {
    const port = await closedPort();
    const { stdout } = await runDoctorBeside(place, {}, { settings: [
      { name: 'http.proxy', value: `http://***@127.0.0.1:${port}`, origin: 'HOOKSHELF_HTTP_PROXY' },
      { name: 'server.apiToken', value: '***', origin: '/etc/file.json' },
      { name: 'actions.commandDirectory', value: '/none', origin: '/etc/file.json' },
      { name: 'server.ofLater', value: 1, origin: 'default' },
    ] });
    assert.match(stdout,
      /^settings +ok .*: from HOOKSHELF_HTTP_PROXY, \/etc\/file\.json \(2\); the/m);
    assert.match(stdout,
      new RegExp(`^proxy +failed +http://\\*\\*\\*@127.0.0.1:${port} does not`, 'm'));
    assert.match(stdout, /^commands +failed .*\/none/m);
  }));

test('doctor says which engine keeps the records of the server', () =>
  inPlace('without a server', async (place) => {
    const store = { engine: 'postgres://db.example/shelf', durability: 'two machines have it' };
    const { stdout } = await runDoctorBeside(place, { store });
    assert.match(stdout, /^store +ok +postgres:\/\/db\.example\/shelf: two machines have it$/m);
  }));

test('doctor names keys that hold back many deliveries', () =>
  inPlace('without a server', async (place) => {
    const heldBack =
      [{ hook: 'stock', key: 'a', waiting: 101 }, { hook: 'b', key: 7, waiting: 150 }];
    const { code, stdout } = await runDoctorBeside(place, { heldBack });
    assert.match(stdout, /^order +warning +keys hold back .* "a" of stock \(101 wait\), 7 of b/m);
    assert.equal(code, 0);
  }));

test('doctor names webhooks that wait for a place at their host', () =>
  inPlace('without a server', async (place) => {
    const waiting = [{ hook: 'b', target: 'h:1', since: '2026-01-01T00:00:00Z', behind: ['a'] }];
    const { code, stdout } = await runDoctorBeside(place, { waiting });
    assert.match(stdout, /^hosts +warning +webhooks wait .* b for h:1 since 2026-\S+, behind a/m);
    assert.equal(code, 0);
  }));

test('doctor names incoming webhooks that fail or reject, full queues and silent nodes', () =>
  inPlace('without a server', async (place) => {
    const at = '2026-01-01T00:00:00Z';
    const unhealthy = [
      { direction: 'incoming', webhook: 'orders', state: 'failing', reason: 'ECONNREFUSED' },
      { direction: 'incoming', webhook: 'shop', state: 'rejecting', reason: null },
      { direction: 'outgoing', webhook: 'crm', state: 'failing', reason: '500' },
      { direction: 'outgoing', webhook: 'erp', state: 'failing', reason: '500' },
    ];
    const deliveries = { fullReason: '2 wait (outgoing.maxPending)' };
    const requests = { fullReason: '3 requests are pending or pinned (inbox.maxCount)' };
    const status = { unhealthy, deliveries, requests };
    const { code, stdout } = await runDoctorBeside(place, status, { nodes: [
      { identifier: 'a', address: '10.0.0.1:80', isLive: true, lastHeardAt: at },
      { identifier: 'b', address: '10.0.0.2:80', isLive: false, lastHeardAt: at },
    ] });
    assert.match(stdout, new RegExp('^incoming +warning +orders is failing \\(ECONNREFUSED\\): '
      + '.*request:replay --hook orders --failed$', 'm'));
    assert.match(stdout, /^incoming +warning +shop is rej.*incomingwebhook:diagnose shop more$/m);
    assert.match(stdout, new RegExp('^outgoing +warning +crm is failing .*; erp is failing .*: '
      + 'delivery:resend --hook <name> --status pending; .*: '
      + 'delivery:resend --hook <name> --status failed$', 'm'));
    assert.match(stdout, /^queue +warning +what would queue a delivery gets 503: 2 wait /m);
    assert.match(stdout, /^inbox +warning +a request that is to be kept gets 503: 3 /m);
    assert.match(stdout, /^nodes +warning +silent: 10\.0\.0\.2:80 since 2026-01-01/m);
    assert.equal(code, 0);
  }));

test('doctor names webhooks that get no events, so that others have room', () =>
  inPlace('without a server', async (place) => {
    const fullWebhooks = [{ hook: 'a', webhook: 'customer-acme', pending: 25 }];
    const deliveries = { fullReason: null, fullWebhooks };
    const { stdout } = await runDoctorBeside(place, { deliveries });
    assert.match(stdout, new RegExp('^queue +warning +an event for a webhook with much waiting '
      + 'gets 503, .*; most wait for customer-acme \\(25 wait\\)', 'm'));
  }));

test('doctor and settings:show wait five seconds for a server that hangs, once', (context) =>
  inPlace('without a server', async (place) => {
    const timeout = context.mock.method(AbortSignal, 'timeout', () => {
      const hurry = new AbortController();
      setTimeout(() => hurry.abort(), 20);
      return hurry.signal;
    });
    await beside(place, createServer(() => {}), async () => {
      const { code, stdout } = await place.run(['doctor']);
      assert.equal(code, 1);
      assert.match(stdout, /^settings +warning +of this command, as the server's are not known/m);
      assert.match(stdout, /^lock +failed .*\(pid 7\) does not answer/m);
      assert.match(stdout,
        /^port +warning +could not be looked at \(the server .* does not answer/m);
      assert.deepEqual(timeout.mock.calls.map(({ arguments: [ms] }) => ms), [5000]);
      const shown = await place.run(['settings:show']);
      assert.deepEqual([shown.code, shown.stdout], [1, '']);
      assert.match(shown.stderr, /^hookshelf: the server .* \(pid 7\) does not answer\n$/);
    });
  }));

/** Runs `doctor` beside a server that tells this of itself. */
async function runDoctorBeside(
  place: Place, status: Readonly<Record<string, unknown>>,
  { settings = [], nodes = [], now }: {
    readonly settings?: readonly object[]; readonly nodes?: readonly object[];
    readonly now?: () => number;
  } = {},
): Promise<Ran> {
  const answers: Readonly<Record<string, unknown>> = {
    '/api/status': {
      isReady: true, version: '1.2.3', node: '22.0.0',
      server: { urls: [], certificate: null, openFilesMax: null },
      store: { engine: null, durability: null }, ...status,
    },
    '/api/settings': settings, '/api/nodes': nodes,
  };
  const server = createHttpServer((request, response) =>
    response.end(JSON.stringify(answers[request.url ?? ''] ?? [])));
  let ran: Ran | undefined;
  await beside(place, server, async () => {
    ran = await place.run(['doctor'], now === undefined ? {} : { now });
  });
  assert.ok(ran !== undefined);
  return ran;
}

/** While `use` runs, `server` listens where the lock of the data directory says. */
async function beside(place: Place, server: Server, use: () => Promise<void>): Promise<void> {
  const socketPath = join(place.data, 'control.sock');
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  writeFileSync(join(place.data, 'lock'), JSON.stringify({ pid: 7, kind: 'server', socketPath }));
  try {
    await use();
  } finally {
    server.close();
  }
}
