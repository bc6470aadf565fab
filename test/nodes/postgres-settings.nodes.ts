/** A URL of PostgreSQL in real processes: who gets in, what is said, and what never is. */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { hookshelf, startServer } from '../e2e/processes.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { postgresMissing } from './support/driver.ts';
import { POSTGRES_PASSWORD, PostgresCluster } from './support/postgres-cluster.ts';

const skip = postgresMissing;
const ROOT = resolve(import.meta.dirname, '../..');
const ENCODED = encodeURIComponent(POSTGRES_PASSWORD);
const SECRETS = [POSTGRES_PASSWORD, ENCODED, 'not-the-password'];
const PROMISE = /PostgreSQL \d+.*: each commit waits for its standbys \(synchronous_standby_names/;
const folder = createTemporaryFolder();
let cluster: PostgresCluster;

before(async () => {
  if (skip === false) cluster = await PostgresCluster.start({ standbys: 1 });
});
after(async () => {
  if (skip === false) await cluster.stop();
});

function privateFile(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
}

/** The URL, without its password. */
function bareUrl(parameters = ''): string {
  return cluster.primary.url(undefined, parameters).replace(`:${ENCODED}@`, '@');
}

/** What `doctor` finds of the store. */
async function examine(environment: Readonly<Record<string, string>>): Promise<string> {
  const { stdout, stderr } = await hookshelf(
    ['doctor', '--json', '--data', join(folder, 'none')], { environment });
  for (const secret of SECRETS) assert.ok(!`${stdout}${stderr}`.includes(secret), secret);
  const { status, detail, advice } = JSON.parse(stdout)
    .find(({ check }: { check: string }) => check === 'store');
  return `${status}: ${detail}: ${advice}`;
}

test('a server says what keeps its journal, and never shows the password', { skip }, async () => {
  const data = join(folder, 'shelf');
  const environment = { HOOKSHELF_STORE_URL: cluster.primary.url() };
  const server = await startServer(['--data', data], { environment });
  assert.match(server.stderr(), /journal is kept by an engine/);
  assert.match(server.stderr(), PROMISE);
  const shown = await (await fetch(`${server.url}/api/settings`)).text();
  const settings = await hookshelf(['settings:show', '--data', data], { environment });
  assert.match(settings.stdout, /store\.url +postgres:\/\/\*\*\*@127\.0\.0\.1:\d+\/postgres/);
  const title = readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8');
  const { code, stdout, stderr } = await server.stop();
  assert.equal(code, 0);
  for (const text of [shown, settings.stdout, settings.stderr, title, stdout, stderr]) {
    for (const secret of SECRETS) assert.ok(!text.includes(secret), text);
  }
  assert.match(readFileSync(join(data, 'node.json'), 'utf8'), /^\{"node":"[0-9a-f-]{36}"\}\n$/);
});

test('the password comes from the URL, from a file, or from PGPASSFILE', { skip }, async () => {
  const pass = POSTGRES_PASSWORD.replaceAll(':', '\\:');
  const passFile = privateFile('pgpass', `127.0.0.1:*:postgres:postgres:${pass}\n`);
  for (const environment of [
    { HOOKSHELF_STORE_URL: cluster.primary.url() },
    { HOOKSHELF_STORE_URL: bareUrl(), PGPASSFILE: passFile },
    {
      HOOKSHELF_STORE_URL: bareUrl(),
      HOOKSHELF_STORE_PASSWORD_FILE: privateFile('password', `${POSTGRES_PASSWORD}\n`),
    },
  ]) assert.match(await examine(environment), PROMISE);
});

test('who does not get in is told why, and how to', { skip }, async () => {
  const url = cluster.primary.url();
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ HOOKSHELF_STORE_URL: bareUrl() },
      /does not let the user postgres in .*no password was found: give one in the URL, in a pass/],
    [{ HOOKSHELF_STORE_URL: url.replace(ENCODED, 'not-the-password') },
      /failed: .*does not let the user postgres in \(password authentication failed/],
    [{ HOOKSHELF_STORE_URL: bareUrl(), PGPASSFILE: privateFile('open', '*:*:*:*:x', 0o644) },
      /the file of PGPASSFILE .* is open to other users; chmod 600/],
    [{ HOOKSHELF_STORE_URL: url.replace(/postgres$/, 'shelf') },
      /has no database shelf: createdb -E UTF8 shelf/],
    [{ HOOKSHELF_STORE_URL: cluster.at(1).url() }, /is a standby, not the primary/],
    [{ HOOKSHELF_STORE_URL: cluster.primary.url(1) },
      /cannot reach PostgreSQL at 127\.0\.0\.1:1: /],
    [{ HOOKSHELF_STORE_URL: cluster.primary.url(undefined, '?sslmode=verify-full') },
      /offers no TLS: set ssl = on .* or say sslmode=disable/],
  ];
  for (const [environment, pattern] of cases) assert.match(await examine(environment), pattern);
  const refused = await hookshelf(['serve', '--port', '0', '--data', join(folder, 'x')],
    { environment: { HOOKSHELF_STORE_URL: cluster.at(1).url() } });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^hookshelf: [^\n]*is a standby, not the primary\n$/);
});

test('of several hosts the primary is found', { skip }, async () => {
  const { port } = cluster.primary;
  const url = cluster.primary.url()
    .replace(`:${port}/`, `:1,127.0.0.1:${cluster.at(1).port},127.0.0.1:${port}/`);
  assert.match(await examine({ HOOKSHELF_STORE_URL: url }), PROMISE);
});

test('one machine alone is refused unless the URL says that it is enough', { skip }, async () => {
  cluster.primary.set("synchronous_standby_names=''");
  const url = cluster.primary.url();
  await until('it is in force', () =>
    cluster.primary.query('show synchronous_standby_names') === '');
  try {
    const refused = await examine({ HOOKSHELF_STORE_URL: url });
    assert.match(refused, /failed: .*synchronous_standby_names is empty/);
    assert.match(refused, /ANY 1 \(s1, s2\).* durability=engine or durability=primary/);
    for (const [durability, promise] of [
      ['primary', /ok: .*: each commit is on the disk of one machine, and is lost with it/],
      ['engine', /ok: .*: the service keeps several copies by itself/],
    ] as const) {
      assert.match(await examine({ HOOKSHELF_STORE_URL: `${url}?durability=${durability}` }),
        promise);
    }
  } finally {
    cluster.primary.set("synchronous_standby_names='ANY 1 (s1)'");
  }
});

test('TLS is verified: by the authority that is named, for the host that is named', { skip },
  async () => {
    const { key, cert } = createCertificate(['localhost']);
    const keyFile = join(cluster.primary.data, 'server.key');
    writeFileSync(keyFile, key, { mode: 0o600 });
    writeFileSync(join(cluster.primary.data, 'server.crt'), cert);
    cluster.own(keyFile);
    cluster.primary.set('ssl=on');
    const root = encodeURIComponent(privateFile('root.crt', cert));
    const stranger = encodeURIComponent(privateFile('stranger.crt', createCertificate().cert));
    const named = cluster.primary.url().replace('@127.0.0.1', '@localhost');
    await until('TLS is on', async () => (await examine({
      HOOKSHELF_STORE_URL: `${named}?sslmode=verify-full&sslrootcert=${root}`,
    })).startsWith('ok'));
    const cases: readonly (readonly [string, RegExp])[] = [
      [`${named}?sslmode=verify-full&sslrootcert=${stranger}`, /its certificate is refused/],
      [`${cluster.primary.url()}?sslmode=verify-full&sslrootcert=${root}`,
        /its certificate is refused .*is the host in the URL the one it names/],
      [`${named}?sslmode=verify-full`, /its certificate is refused/],
      [`${named}?sslmode=verify-full&sslrootcert=/nowhere`, /cannot read sslrootcert .*ENOENT/],
      [`${cluster.primary.url()}?sslmode=verify-ca&sslrootcert=${root}`, PROMISE],
      [`${cluster.primary.url()}?sslmode=require&verify=no`, PROMISE],
      [`${named}?sslmode=require`, /does not check who answers/],
    ];
    for (const [url, pattern] of cases) {
      assert.match(await examine({ HOOKSHELF_STORE_URL: url }), pattern);
    }
  });

test('without the package it is said how to get it', { skip }, async () => {
  const place = join(folder, 'installed');
  cpSync(join(ROOT, 'dist'), join(place, 'dist'), {
    recursive: true, filter: (path) => !/\/dist\/(bin|binary)$/.test(path),
  });
  cpSync(join(ROOT, 'package.json'), join(place, 'package.json'));
  const { code, stderr } = await hookshelf(['serve', '--port', '0', '--data', join(folder, 'y')], {
    program: [process.execPath, join(place, 'dist/main.js')],
    environment: { HOOKSHELF_STORE_URL: cluster.primary.url() },
  });
  assert.equal(code, 1);
  assert.match(stderr, /^hookshelf: the URL is of a PostgreSQL[^\n]*npm install postgres/);
});
