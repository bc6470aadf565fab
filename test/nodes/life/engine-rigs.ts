/**
 * Engines under nodes of a life: each node reaches them through proxies of its own. A promotion is
 * strict, as the tools that people use for it do it: of the standbys the one that has most, and the
 * former primary comes back only as what it follows.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { EngineProbe } from '../support/engine-probe.ts';
import { EtcdCommits, PostgresCommits } from '../support/commit-reader.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import type { EtcdCluster, EtcdMember } from '../support/etcd-cluster.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import type { Outage } from '../support/outages.ts';
import { createPostgresCommit } from '../support/postgres-commit.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import type { PostgresServer } from '../support/postgres-cluster.ts';

export interface EngineRig {
  environment(node: number): Readonly<Record<string, string>>;
  /** All links of that node. */
  proxies(node: number): readonly FaultProxy[];
  /** When the engine was not there for anybody. */
  readonly outages: readonly Outage[];
  /** Stops the engine, keeps a copy of all its data, and starts it again. */
  backUp(): Promise<void>;
  /** Kills the engine, and starts it again with what it held then. */
  restore(): Promise<void>;
  /** What the bytes hold with which a node's first part of a snapshot goes to the engine. */
  readonly snapshotPart: string;
  close(): Promise<void>;
}

/** One node over files in its directory. */
export const filesRig: EngineRig = {
  environment: () => ({}),
  proxies: () => [],
  outages: [],
  backUp: () => Promise.resolve(),
  restore: () => Promise.resolve(),
  snapshotPart: '',
  close: () => Promise.resolve(),
};

export class PostgresRig implements EngineRig {
  readonly snapshotPart = 'insert into hookshelf.snapshot_part';
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
    await first.promote();
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

  async backUp(): Promise<void> {
    const { servers } = this.cluster;
    for (const server of servers) await server.kill('SIGINT');
    for (const { data } of servers) copy(data, backupOf(data));
    for (const server of servers) await server.start();
  }

  async restore(): Promise<void> {
    const { servers } = this.cluster;
    for (const server of servers) await server.kill();
    for (const { data } of servers) putBack(data);
    for (const server of servers) await server.start();
  }

  /** A former primary comes back as a standby. */
  async rejoin(server: PostgresServer): Promise<void> {
    await server.rewind(this.primary);
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
  /** Keys are sent in base64, of which 12 bytes fill 16 characters. */
  readonly snapshotPart = Buffer.from('hookshelf/p/').toString('base64');
  readonly cluster: EtcdCluster;
  /** By the port that they lead to. */
  readonly #peers: ReadonlyMap<number, FaultProxy>;
  readonly #proxies: FaultProxy[][] = [];
  readonly #probe: EngineProbe;

  private constructor(cluster: EtcdCluster, peers: ReadonlyMap<number, FaultProxy>) {
    this.cluster = cluster;
    this.#peers = peers;
    this.#probe = new EngineProbe(() => cluster.canWrite());
  }

  static async start(nodes: number): Promise<EtcdRig> {
    const peers = new Map<number, FaultProxy>();
    const rig = new EtcdRig(await startEtcd({
      members: 3,
      proxyPeer: async (port) => {
        const proxy = await FaultProxy.start({ target: () => port });
        peers.set(port, proxy);
        return proxy.port;
      },
    }), peers);
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

  async backUp(): Promise<void> {
    const { members } = this.cluster;
    for (const member of members) await member.kill('SIGTERM');
    for (const data of this.#data()) copy(data, backupOf(data));
    await this.cluster.startAll();
  }

  async restore(): Promise<void> {
    await Promise.all(this.cluster.members.map((member) => member.kill()));
    for (const data of this.#data()) putBack(data);
    await this.cluster.startAll();
  }

  /** The way on which the other members reach this one. */
  wayTo({ ports }: EtcdMember): FaultProxy {
    const proxy = this.#peers.get(ports.peer);
    if (proxy === undefined) throw new Error('each member has one');
    return proxy;
  }

  #data(): readonly string[] {
    const { members, directory } = this.cluster;
    return members.map(({ name }) => join(directory, name));
  }

  async close(): Promise<void> {
    const closed = this.#probe.close();
    const proxies = [...this.#peers.values(), ...this.#proxies.flat()];
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await this.cluster.close();
    await closed;
  }
}

function backupOf(data: string): string {
  return `${data}.old`;
}

function putBack(data: string): void {
  rmSync(data, { recursive: true });
  copy(backupOf(data), data);
}

/** With their owners. */
function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
