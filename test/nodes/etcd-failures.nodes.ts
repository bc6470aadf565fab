import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createEtcdEngine } from '../../src/store/engines/etcd/etcd-engine.ts';
import { appendAll, beginCase, entryAfter } from './support/engine-suite.ts';
import { etcdMissing, startEtcd } from './support/etcd-cluster.ts';
import type { EtcdCluster } from './support/etcd-cluster.ts';
import { until } from '../support/until.ts';

const skip = etcdMissing;
const MS_MAX = 60_000;

test('what is left of a log that lost its head is refused', { skip }, async (context) => {
  const cluster = await start(context, 1);
  const prefix = randomUUID();
  const given = await beginCase(context, () =>
    createEtcdEngine({ url: `${cluster.url}/${prefix}` }));
  await appendAll(given, 2);
  const [member] = cluster.members;
  assert.ok(member !== undefined);
  for (const key of ['log', 'head']) {
    const encoded = Buffer.from(`${prefix}/${key}`).toString('base64');
    assert.ok(await cluster.ask(member, '/v3/kv/deleterange', { key: encoded }) !== null);
  }
  assert.equal(await given.session.head(), null);
  await assert.rejects(given.session.create(given.head), { code: 'damaged' });
});

test('a compaction of etcd\'s history, ours or another\'s, takes no entry away', { skip },
  async (context) => {
    const cluster = await start(context, 1);
    const given = await beginCase(context, () => createEtcdEngine({ url: cluster.url }));
    let wakes = 0;
    const watching = await given.connect();
    context.after(watching.watch(() => { wakes += 1; }));
    const entries = await appendAll(given, 10);
    const [member] = cluster.members;
    assert.ok(member !== undefined);
    const status = await cluster.ask(member, '/v3/maintenance/status', {});
    const { revision } = status?.header as { revision: string };
    assert.ok(await cluster.ask(member, '/v3/kv/compaction', { revision }) !== null);
    assert.deepEqual(await given.session.readAfter(0, 100), entries);
    await given.session.trim(entries[5]?.sequence ?? 0);
    const before = wakes;
    await appendAll(given, 1, entries.at(-1));
    await until('the watch wakes', () => wakes > before, { msMax: MS_MAX });
    assert.equal((await watching.readAfter(0, 100)).length, 6);
  });

test('a snapshot may be there before its log, and is refused where it was trimmed away meanwhile',
  { skip }, async (context) => {
    const cluster = await start(context, 1);
    const early = await createEtcdEngine({ url: `${cluster.url}/early` }).connect();
    context.after(() => early.close());
    await early.snapshots.complete({ sequence: 7, chain: 'c' }, 0);
    assert.deepEqual(await early.snapshots.list(), [{ sequence: 7, chain: 'c', parts: 0 }]);
    const given = await beginCase(context, () => createEtcdEngine({ url: cluster.url }));
    const entries = await appendAll(given, 5);
    const [first, , , fourth] = entries;
    assert.ok(first !== undefined && fourth !== undefined);
    const part = { sha256: 'x', bytes: Buffer.from('y') };
    await given.session.snapshots.writePart(first, 0, part);
    await given.session.snapshots.writePart(fourth, 0, part);
    await given.session.trim(fourth.sequence);
    await assert.rejects(given.session.snapshots.complete(first, 1), { code: 'unavailable' });
    await given.session.snapshots.complete(fourth, 1);
    assert.deepEqual(await given.session.snapshots.readPart(fourth, 0), part);
  });

test('an old backup of etcd under a running node makes no append succeed', { skip },
  async (context) => {
    const cluster = await start(context, 1);
    const [member] = cluster.members;
    assert.ok(member !== undefined);
    const given = await beginCase(context, () => createEtcdEngine({ url: cluster.url }));
    const before = await appendAll(given, 3);
    await member.kill('SIGTERM');
    const [data, backup] = ['m1', 'backup'].map((name) => join(cluster.directory, name));
    assert.ok(data !== undefined && backup !== undefined);
    cpSync(data, backup, { recursive: true });
    await cluster.startAll();
    const known = await appendAll({ ...given, session: await given.connect() }, 4, before.at(-1));
    await member.kill('SIGTERM');
    rmSync(data, { recursive: true });
    cpSync(backup, data, { recursive: true });
    await cluster.startAll();
    // As many revisions as there were: only what the head holds tells the two logs apart.
    const session = await given.connect();
    await appendAll({ ...given, session }, 4, before.at(-1));
    const last = known.at(-1);
    assert.ok(last !== undefined);
    assert.equal((await session.head())?.sequence, last.sequence);
    assert.equal(await session.append(given.head.log, last, entryAfter(last)), false);
  });

test('over TLS the certificate is checked', { skip }, async (context) => {
  const cluster = await start(context, 1, true);
  const url = `${cluster.url}/x`;
  await assert.rejects(createEtcdEngine({ url }).connect(), { message: /self-signed/ });
  await assert.rejects(createEtcdEngine({ url: url.replace('etcds', 'etcd') }).connect());
});

test('a user who may write below the prefix is enough', { skip }, async (context) => {
  const guarded = await start(context, 1);
  const [member] = guarded.members;
  assert.ok(member !== undefined);
  const ask = async (path: string, body: object): Promise<void> =>
    assert.ok(await guarded.ask(member, `/v3/auth/${path}`, body) !== null, path);
  const encode = (key: string): string => Buffer.from(key).toString('base64');
  await ask('user/add', { name: 'root', password: 'r' });
  await ask('role/add', { name: 'root' });
  await ask('user/grant', { user: 'root', role: 'root' });
  await ask('user/add', { name: 'shelf', password: 'p@ss' });
  await ask('role/add', { name: 'shelf' });
  await ask('role/grant', {
    name: 'shelf',
    perm: { permType: 'READWRITE', key: encode('mine/'), range_end: encode('mine0') },
  });
  await ask('user/grant', { user: 'shelf', role: 'shelf' });
  await ask('enable', {});
  const at = guarded.url.replace('://', '://shelf:p%40ss@');
  const given = await beginCase(context, () => createEtcdEngine({ url: `${at}/mine` }));
  const entries = await appendAll(given, 5);
  await given.session.barrier(randomUUID());
  await given.session.trim(entries[2]?.sequence ?? 0);
  assert.deepEqual(await given.session.readAfter(0, 9), entries.slice(2));
  for (const [url, message] of [
    [`${at}/other`, /roles of shelf/], [`${guarded.url}/mine`, /name a user/],
    [at.replace('p%40ss', 'wrong'), /invalid user ID or password/],
  ] as const) {
    await assert.rejects(async () => (await createEtcdEngine({ url }).connect()).head(),
      { code: 'misconfigured', message });
  }
});

async function start(
  context: TestContext, members: 1 | 3 = 3, isTls = false,
): Promise<EtcdCluster> {
  const cluster = await startEtcd({ members, isTls });
  context.after(() => cluster.close());
  return cluster;
}
