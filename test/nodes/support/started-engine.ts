/** An engine of one machine with room for many logs, of each kind that there is. */
import { randomUUID } from 'node:crypto';
import { postgresMissing } from './driver.ts';
import { etcdMissing, startEtcd } from './etcd-cluster.ts';
import { PostgresCluster } from './postgres-cluster.ts';

export type StartedEngine = {
  /** The URL of a log that nobody has begun. */
  readonly newLog: () => string;
  close(): Promise<void>;
};

export type EngineKind = {
  readonly name: string;
  /** Why tests with it cannot run here; false when they can. */
  readonly missing: string | false;
  start(): Promise<StartedEngine>;
};

export const POSTGRES: EngineKind = {
  name: 'PostgreSQL',
  missing: postgresMissing,
  async start() {
    const cluster = await PostgresCluster.start();
    return {
      newLog() {
        const database = `log_${randomUUID().replaceAll('-', '')}`;
        cluster.primary.query(`create database ${database}`);
        return cluster.primary.url(undefined, '?sslmode=disable&durability=primary', database);
      },
      close: () => cluster.stop(),
    };
  },
};

export const ETCD: EngineKind = {
  name: 'etcd',
  missing: etcdMissing,
  async start() {
    const cluster = await startEtcd({ members: 1 });
    return { newLog: () => `${cluster.url}/${randomUUID()}`, close: () => cluster.close() };
  },
};
