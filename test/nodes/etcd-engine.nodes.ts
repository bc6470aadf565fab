import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';
import { createEtcdEngine } from '../../src/store/engines/etcd/etcd-engine.ts';
import { testEngine } from './support/engine-suite.ts';
import { etcdMissing, startEtcd } from './support/etcd-cluster.ts';
import type { EtcdCluster } from './support/etcd-cluster.ts';

let cluster: EtcdCluster | null = null;
before(async () => {
  if (etcdMissing === false) cluster = await startEtcd();
});
after(() => cluster?.close());

testEngine('etcd', etcdMissing, async () => {
  const url = `${cluster?.url}/${randomUUID()}`;
  return () => createEtcdEngine({ url });
});
