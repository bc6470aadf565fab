/**
 * Engines under nodes of a life: each node reaches them through proxies of its own. A promotion is
 * strict, as the tools that people use for it do it: of the standbys the one that has most, and the
 * former primary comes back only as what it follows.
 */
import { EngineProbe } from '../support/engine-probe.ts';
import { EtcdCommits, PostgresCommits } from '../support/commit-reader.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import type { EtcdCluster } from '../support/etcd-cluster.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { Outage } from '../support/outages.ts';
import { createPostgresCommit } from '../support/postgres-commit.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import type { PostgresServer } from '../support/postgres-cluster.ts';

export interface EngineRig {
  /** Settings of the node of that number. */
  environment(node: number): Readonly<Record<string, string>>;
  /** All links of that node. */
  proxies(node: number): readonly FaultProxy[];
  /** When the engine was not there for anybody. */
  readonly outages: readonly Outage[];
  close(): Promise<void>;
}

/** One node over files in its directory. */
export const filesRig: EngineRig = {
  environment: () => ({}),
  proxies: () => [],
  outages: [],
  close: () => Promise.resolve(),
};

export class PostgresRig implements EngineRig {
  readonly cluster: PostgresCluster;
  primary: PostgresServer;
  readonly #proxies: FaultProxy[] = [];
  readonly #probe: EngineProbe;

  private constructor(cluster: PostgresCluster) {
    this.cluster = cluster;
    this.primary = cluster.primary;
    this.#probe = new EngineProbe(createPostgresCommit(() => this.primary));
  }

  static async start(nodes: number): Promise<PostgresRig> {
    const rig = new PostgresRig(await PostgresCluster.start({ standbys: 2 }));
    for (let node = 0; node < nodes; node += 1) {
      rig.#proxies.push(await FaultProxy.start({
        target: () => rig.primary.port, commits: () => new PostgresCommits(),
      }));
    }
    return rig;
  }

  environment(node: number): Readonly<Record<string, string>> {
    const [proxy] = this.proxies(node);
    return { HOOKSHELF_STORE_URL: this.primary.url(proxy?.port, '?sslmode=disable') };
  }

  proxies(node: number): readonly FaultProxy[] {
    return this.#proxies.slice(node, node + 1);
  }

  get outages(): readonly Outage[] {
    return this.#probe.outages;
  }

  /** All servers but the primary, that run. */
  get standbys(): readonly PostgresServer[] {
    return this.cluster.servers.filter((server) => server !== this.primary && server.isRunning);
  }

  /** The primary is gone; the standby that has most takes its place, and the others follow it. */
  async promote(): Promise<void> {
    const [first, ...others] = this.standbys
      .map((server) => ({ server, lsn: receivedBy(server) }))
      .sort((left, right) => right.lsn > left.lsn ? 1 : -1)
      .map(({ server }) => server);
    if (first === undefined) throw new Error('no standby is left to promote');
    const names = this.cluster.servers.filter((server) => server !== first).map(({ name }) => name);
    first.set(`synchronous_standby_names='ANY 1 (${names.join(',')})'`);
    first.promote();
    // pg_rewind reads the new timeline from the control file, which a checkpoint brings up to date.
    first.query('checkpoint');
    this.primary = first;
    for (const other of others) {
      await other.kill('SIGINT');
      other.follow(first);
      await other.start();
    }
    // Connections to the former primary lead nowhere.
    for (const proxy of this.#proxies) proxy.reset();
  }

  /** A former primary comes back as a standby. */
  async rejoin(server: PostgresServer): Promise<void> {
    server.rewind(this.primary);
    server.follow(this.primary);
    await server.start();
  }

  async close(): Promise<void> {
    const closed = this.#probe.close();
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    // What the probe waits for ends with it.
    await this.cluster.stop();
    await closed;
  }
}

/** Bytes of the log that a standby has. */
function receivedBy(server: PostgresServer): bigint {
  const sql = "select coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'";
  return BigInt(server.query(sql));
}

export class EtcdRig implements EngineRig {
  readonly cluster: EtcdCluster;
  readonly #proxies: FaultProxy[][] = [];
  readonly #probe: EngineProbe;

  private constructor(cluster: EtcdCluster) {
    this.cluster = cluster;
    this.#probe = new EngineProbe(() => cluster.canWrite());
  }

  static async start(nodes: number): Promise<EtcdRig> {
    const rig = new EtcdRig(await startEtcd({ members: 3 }));
    for (let node = 0; node < nodes; node += 1) {
      rig.#proxies.push(await Promise.all(rig.cluster.members.map(({ ports }) =>
        FaultProxy.start({ target: () => ports.client, commits: () => new EtcdCommits() }))));
    }
    return rig;
  }

  environment(node: number): Readonly<Record<string, string>> {
    const hosts = this.proxies(node).map(({ port }) => `127.0.0.1:${port}`);
    return { HOOKSHELF_STORE_URL: `etcd://${hosts.join(',')}` };
  }

  proxies(node: number): readonly FaultProxy[] {
    return this.#proxies[node] ?? [];
  }

  get outages(): readonly Outage[] {
    return this.#probe.outages;
  }

  async close(): Promise<void> {
    const closed = this.#probe.close();
    await Promise.all(this.#proxies.flat().map((proxy) => proxy.close()));
    await this.cluster.close();
    await closed;
  }
}
