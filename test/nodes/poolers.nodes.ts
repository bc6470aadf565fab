/** What keeps a node from PostgreSQL, or stands between them, and how it is named. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { hookshelf, startServer } from '../e2e/processes.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { postgresMissing } from './support/driver.ts';
import { Pgbouncer, pgbouncerMissing } from './support/pgbouncer.ts';
import { PostgresCluster } from './support/postgres-cluster.ts';

const skip = pgbouncerMissing;
const folder = createTemporaryFolder();
let cluster: PostgresCluster;

before(async () => {
  if (postgresMissing === false) cluster = await PostgresCluster.start({ standbys: 1 });
});
after(async () => {
  if (postgresMissing === false) await cluster.stop();
});

async function startPooler(
  context: TestContext, mode: 'session' | 'transaction' | 'statement', poolSize: number,
  settings: readonly string[] = [],
): Promise<string> {
  const pooler = await Pgbouncer.start({ server: cluster.primary, mode, poolSize, settings });
  context.after(() => pooler.stop());
  return cluster.primary.url(pooler.port, '?sslmode=disable');
}

async function examine(url: string): Promise<string> {
  const { stdout } = await hookshelf(['doctor', '--json', '--data', join(folder, 'none')],
    { environment: { HOOKSHELF_STORE_URL: url } });
  const { status, detail, advice } = JSON.parse(stdout)
    .find(({ check }: { check: string }) => check === 'store');
  return `${status}: ${detail}: ${advice}`;
}

async function assertRefused(url: string, pattern: RegExp): Promise<void> {
  const { code, stderr } = await hookshelf(['serve', '--port', '0', '--data', join(folder, 'x')],
    { environment: { HOOKSHELF_STORE_URL: url } });
  assert.equal(code, 1, stderr);
  assert.match(stderr, pattern);
  assert.match(await examine(url), /^failed: store\.url cannot be used/);
  assert.match(await examine(url), pattern);
}

for (const [mode, settings] of [
  ['transaction', []], ['transaction', ['server_round_robin = 1', 'min_pool_size = 5']],
  ['statement', []],
] as const) {
  test(`pool_mode = ${mode} is noticed before anything is written (${settings.join() || 'alone'})`,
    { skip }, async (context) => {
      const url = await startPooler(context, mode, 5, settings);
      await assertRefused(url,
        /gives each transaction another connection, .*: what is set .* Set pool_mode = session/);
      assert.equal(cluster.primary.query("select to_regnamespace('hookshelf') is null"), 't');
    });
}

for (const [poolSize, pattern] of [
  [1, /lets one connection in and no second, as a pool of one connection does\. .*needs two/],
  [2, /lets two connections in and no third, as a pool of two connections does\. .*pgbouncer/],
] as const) {
  test(`a pool of ${poolSize} is said by name`, { skip }, async (context) => {
    const url = await startPooler(context, 'session', poolSize);
    await assertRefused(url, pattern);
  });
}

test('the limit of a role, or of the clients of a pool, is named as such', { skip },
  async (context) => {
    cluster.primary.query("create role one login password 'pw' connection limit 1; "
      + 'grant all on database postgres to one');
    const direct = cluster.primary.url(undefined, '?sslmode=disable')
      .replace(/\/\/[^@]*@/, '//one:pw@');
    await assertRefused(direct, /lets one connection in and no second.*too many connections for/);
    const url = await startPooler(context, 'session', 5, ['max_client_conn = 1']);
    await assertRefused(url, /no second.*\(no more connections allowed.*max_client_conn/);
  });

test('a server works through a pool of sessions that is large enough', { skip },
  async (context) => {
    const url = await startPooler(context, 'session', 6);
    assert.match(await examine(url), /^ok: /);
    const server = await startServer(['--data', join(folder, 'pooled')],
      { environment: { HOOKSHELF_STORE_URL: url } });
    const added = await fetch(`${server.url}/api/books`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"One"}',
    });
    assert.equal(added.status, 201);
    assert.equal((await server.stop()).code, 0);
  });

test('a primary that is set to take no writes is told from a standby', { skip: postgresMissing },
  async (context) => {
    const url = cluster.primary.url(undefined, '?sslmode=disable');
    await assertRefused(cluster.at(1).url(undefined, '?sslmode=disable'),
      /is a standby, not the primary/);
    const name = 'default_transaction_read_only';
    const change = (statement: string): unknown =>
      cluster.primary.query(`begin read write; ${statement}; commit`);
    change(`alter database postgres set ${name} = on`);
    context.after(() => change(`alter database postgres reset ${name}`));
    await assertRefused(url, new RegExp(`is the primary, and is set to take no writes: ${name} is `
      + `on \\(source: database\\).*alter database "postgres" reset ${name}`));
    change(`alter database postgres reset ${name}`);
    change(`alter role postgres set ${name} = on`);
    await assertRefused(url, /source: user\).*alter role … reset/);
    change(`alter role postgres reset ${name}`);
    assert.match(await examine(url), /^ok: /);
  });
