import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { etcdMissing, startEtcd } from './support/etcd-cluster.ts';

const skip = etcdMissing;

test('a cluster under test goes on without its leader, and nothing of it stays', { skip },
  async (context) => {
    const cluster = await startEtcd();
    context.after(() => cluster.close());
    const leader = await cluster.leader();
    assert.ok(leader !== null);
    const pids = cluster.members.map(({ pid }) => pid);
    await leader.kill();
    await cluster.ready();
    assert.notEqual((await cluster.leader())?.name, leader.name);
    leader.start();
    await cluster.startAll();
    await cluster.close();
    for (const pid of [...pids, leader.pid]) assert.ok(!existsSync(`/proc/${pid}/cmdline`));
    assert.ok(!existsSync(cluster.directory));
  });
