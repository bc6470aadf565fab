/** A server whose engine has no room left: it says so, serves reads, and goes on by itself. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer, type Running } from '../e2e/processes.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { postgresMissing } from './support/driver.ts';
import { etcdMissing, startEtcd } from './support/etcd-cluster.ts';
import { PostgresCluster } from './support/postgres-cluster.ts';

const BOOKS_MAX = 5000;

test('a server whose PostgreSQL has a full disk', { skip: postgresMissing }, async (context) => {
  const cluster = await PostgresCluster.start();
  const { primary } = cluster;
  const base = join(primary.data, 'base');
  try {
    await primary.kill('SIGINT');
    // What is committed is written elsewhere: without room for that the whole server ends.
    renameSync(base, `${base}-was`);
    if (!sh(`mkdir ${base} && mount -t tmpfs -o size=40m,mode=700 none ${base}`)) {
      return context.skip('a tmpfs cannot be mounted here');
    }
    try {
      assert.ok(sh(`cp -a ${base}-was/. ${base} && chown --reference=${base}-was ${base}`));
      await primary.start();
      const url = primary.url(undefined, '?sslmode=disable&durability=primary');
      await fill(url, /No space left on device/, () => sh(`mount -o remount,size=400m ${base}`));
    } finally {
      await primary.kill('SIGQUIT');
      sh(`umount ${base}`);
    }
  } finally {
    await cluster.stop();
  }
  return undefined;
});

test('a server whose etcd has used up its quota', { skip: etcdMissing }, async () => {
  const cluster = await startEtcd({ members: 1, flags: ['--quota-backend-bytes', '16000000'] });
  const [member] = cluster.members;
  assert.ok(member !== undefined);
  try {
    await fill(`${cluster.url}/x`, /--quota-backend-bytes/, async () => {
      await member.kill('SIGTERM');
      member.start(['--quota-backend-bytes', '64000000']);
      const path = '/v3/maintenance/alarm';
      await until('the alarm is disarmed', async () => {
        const found = await cluster.ask(member, path, { action: 'GET' });
        if (found === null) return false;
        const alarms = Array.isArray(found['alarms']) ? found['alarms'] : [];
        for (const alarm of alarms) {
          await cluster.ask(member, path, { action: 'DEACTIVATE', ...alarm });
        }
        return alarms.length === 0;
      });
    });
  } finally {
    await cluster.close();
  }
});

const sh = (words: string): boolean => spawnSync('sh', ['-c', words]).status === 0;

async function fill(url: string, reason: RegExp, makeRoom: () => unknown): Promise<void> {
  await inFolder(async (folder) => {
    const data = join(folder, 'data');
    const environment = { HOOKSHELF_STORE_URL: url };
    const server = await startServer(['--data', data], { environment });
    try {
      await fillAndGoOn(server, reason, makeRoom);
    } finally {
      await server.stop();
    }
  });
}

async function fillAndGoOn(
  { url, stderr }: Running, reason: RegExp, makeRoom: () => unknown,
): Promise<void> {
  const ask = (path: string, method = 'GET', body?: object): Promise<Response> =>
    fetch(url + path, {
      method, ...body === undefined ? {}
        : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) },
    });
  const post = (): Promise<Response> => ask('/api/books', 'POST',
    { title: 'x', description: randomBytes(14_000).toString('base64') });
  const readiness = async (): Promise<string> => {
    const answer = await ask('/readyz');
    return `${answer.status} ${await answer.text()}`;
  };
  for (const [path, record] of [
    ['action-configurations', { identifier: 'a', actionType: 'log' }],
    ['incoming-webhooks', { pathSegment: 'in', actionConfiguration: 'a', inbox: 'all' }],
  ] as const) {
    assert.equal((await ask(`/api/${path}`, 'POST', record)).status, 201, path);
  }

  let stored = 0;
  let refused: Response | null = null;
  for (; refused === null && stored < BOOKS_MAX;) {
    const answer = await post();
    if (answer.status === 201) stored += 1;
    else refused = answer;
  }
  assert.equal(refused?.status, 507);
  assert.match(await refused.text(), reason);
  const unready = await readiness();
  assert.ok(unready.startsWith('503'), unready);
  assert.match(unready, reason);
  assert.match(await (await ask('/metrics')).text(), /^hookshelf_store_writable 0$/m);
  assert.match(stderr(), /writing stopped until the engine takes it again/);
  assert.equal((await ask('/webhook/in/in', 'POST', {})).status, 507);
  assert.doesNotMatch(stderr(), /"message":"webhook received"/, 'no action ran');
  const countOf = async (): Promise<number> =>
    Number((await ask('/api/books?limit=1')).headers.get('x-total-count'));
  assert.equal(await countOf(), stored);
  // Less than a book still fits into what is left.
  for (let second = 0; second < 5; second += 1) {
    await delay(1000);
    assert.ok((await readiness()).startsWith('503'));
  }
  assert.doesNotMatch(stderr(), /writing goes on/);

  await makeRoom();
  await until('it is ready again', async () => (await readiness()).startsWith('200'),
    { seen: stderr });
  assert.equal((await post()).status, 201);
  assert.equal(await countOf(), stored + 1);
  assert.match(stderr(), /writing goes on/);
}
