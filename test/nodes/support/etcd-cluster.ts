/**
 * An etcd of one or three members from a temporary directory, each with ports of its own. Whatever
 * becomes of the test, the members are ended by their pids and the directory is removed.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { owned } from '../../support/children.ts';
import { closedPort } from '../../support/servers.ts';
import { until } from '../../support/until.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { createCertificate } from '../../support/tls.ts';

/** False, or why tests with a real etcd are left out: for `skip`. */
export const etcdMissing: string | false =
  spawnSync('etcd', ['--version']).status === 0 ? false
    : 'etcd is not installed (Debian: apt-get install etcd-server)';

type EtcdOptions = {
  readonly members?: 1 | 3;
  readonly isTls?: boolean;
  /**
   * Stands between the members: is given the port that a member listens on for the others, and
   * resolves with the port that they are told.
   */
  readonly proxyPeer?: (port: number) => Promise<number>;
  readonly flags?: readonly string[];
};

// The files of a cluster whose ports another process took meanwhile are no use.
const ATTEMPTS_MAX = 5;
// A busy machine starts three processes slowly.
const READY_MS_MAX = 60_000;
const ASK_MS_MAX = 2000;

/** Resolves once it has a leader and takes writes. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  for (let attempt = 1; ; attempt += 1) {
    const cluster = await EtcdCluster.prepare(options);
    try {
      await cluster.startAll();
      return cluster;
    } catch (error) {
      const said = cluster.said;
      await cluster.close();
      if (attempt < ATTEMPTS_MAX && said.includes('address already in use')) continue;
      throw new Error(`no etcd: ${String(error)}\n${said}`, { cause: error });
    }
  }
}

type Ports = { readonly client: number; readonly peer: number; readonly advertised: number };

export class EtcdMember {
  readonly name: string;
  readonly ports: Ports;
  readonly #arguments: readonly string[];
  readonly #log: string;
  #child: ChildProcess | null = null;

  constructor(name: string, ports: Ports, args: readonly string[], log: string) {
    this.name = name;
    this.ports = ports;
    this.#arguments = args;
    this.#log = log;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null
      && this.#child.signalCode === null;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get said(): string {
    return readFileSync(this.#log, { encoding: 'utf8', flag: 'a+' });
  }

  /** Begins it, again after `kill`: it keeps its data and ports. The last of equal flags counts. */
  start(flags: readonly string[] = []): void {
    const log = openSync(this.#log, 'a');
    this.#child = owned(spawn('etcd', [...this.#arguments, ...flags], {
      stdio: ['ignore', log, log],
      // It starts nowhere else without being told so.
      env: process.arch === 'x64' ? process.env
        : { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch },
    }));
    closeSync(log);
  }

  /** Resolves once it is gone; idempotent. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isRunning) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** Stops it where it stands: its sockets stay open, and it says nothing. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }
}

export class EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly directory: string;
  /** Of the authority to trust, when it speaks TLS: for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string | null;
  readonly certificateFile: string;

  private constructor(
    directory: string, members: readonly EtcdMember[], certificate: string | null,
  ) {
    this.directory = directory;
    this.members = members;
    this.certificate = certificate;
    this.certificateFile = join(directory, 'cert.pem');
  }

  /** Makes directory, ports and command lines, and starts nothing. */
  static async prepare(options: EtcdOptions): Promise<EtcdCluster> {
    const { members = 3, isTls = false, proxyPeer, flags = [] } = options;
    const directory = createTemporaryFolder();
    const certificate = isTls ? createCertificate() : null;
    if (certificate !== null) {
      writeFileSync(join(directory, 'cert.pem'), certificate.cert);
      writeFileSync(join(directory, 'key.pem'), certificate.key);
    }
    const numbers = await Promise.all(Array.from({ length: members * 2 }, closedPort));
    const ports = await Promise.all(Array.from({ length: members }, async (_, index) => {
      const [client = 0, peer = 0] = numbers.slice(index * 2);
      return { client, peer, advertised: await proxyPeer?.(peer) ?? peer };
    }));
    const names = ports.map((_, index) => `m${index + 1}`);
    const initial = ports.map(({ advertised }, index) =>
      `${names[index]}=http://127.0.0.1:${advertised}`).join(',');
    return new EtcdCluster(directory, ports.map((place, index) => {
      const name = names[index] ?? '';
      const args = commandLine(name, directory, place, initial, isTls);
      return new EtcdMember(name, place, [...args, ...flags], join(directory, `${name}.log`));
    }), certificate?.cert ?? null);
  }

  /** `etcd://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3`; a path is put behind it by who wants one. */
  get url(): string {
    const places = this.members.map(({ ports }) => `127.0.0.1:${ports.client}`);
    return `${this.certificate === null ? 'etcd' : 'etcds'}://${places.join(',')}`;
  }

  get said(): string {
    return this.members.map(({ name, said }) => `--- ${name}\n${said.slice(-2000)}`).join('\n');
  }

  async startAll(): Promise<void> {
    for (const member of this.members) if (!member.isRunning) member.start();
    await this.ready();
  }

  /** Resolves once a majority takes writes. */
  async ready(): Promise<void> {
    await until('etcd takes writes', async () => {
      if (this.members.every(({ isRunning }) => !isRunning)) throw new Error('etcd has ended');
      return await this.leader() !== null && await this.canWrite();
    }, { msMax: READY_MS_MAX });
  }

  /** The member that the running ones take for their leader; null when they know none. */
  async leader(): Promise<EtcdMember | null> {
    const statuses = await Promise.all(this.members.map(async (member) => {
      if (!member.isRunning) return null;
      return { member, status: await this.ask(member, '/v3/maintenance/status', {}) };
    }));
    for (const found of statuses) {
      const id = (found?.status?.header as { member_id?: unknown } | undefined)?.member_id;
      if (id !== undefined && found?.status?.leader === id) return found?.member ?? null;
    }
    return null;
  }

  /** The answer of one member, null when it gave none within 2 s or refused. */
  async ask(
    member: EtcdMember, path: string, body: object,
  ): Promise<Record<string, unknown> | null> {
    const request = this.certificate === null ? httpRequest : httpsRequest;
    return new Promise((resolve) => {
      const sent = request({
        host: '127.0.0.1', port: member.ports.client, path, method: 'POST', agent: false,
        timeout: ASK_MS_MAX, ...this.certificate === null ? {} : { ca: this.certificate },
      }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => { text += piece; });
        response.on('end', () => resolve(response.statusCode === 200
          ? JSON.parse(text) as Record<string, unknown> : null));
        response.on('error', () => resolve(null));
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => resolve(null));
      sent.on('close', () => resolve(null));
      sent.end(JSON.stringify(body));
    });
  }

  /** Whether some member has had a write of ours committed. */
  async canWrite(): Promise<boolean> {
    const key = Buffer.from('ready').toString('base64');
    const running = this.members.filter(({ isRunning }) => isRunning);
    const asked = running.map(async (member) => {
      if (await this.ask(member, '/v3/kv/put', { key }) === null) throw new Error('not written');
    });
    return Promise.any(asked).then(() => true, () => false);
  }

  /** Ends all and removes their data; idempotent. */
  async close(): Promise<void> {
    for (const member of this.members) member.thaw();
    await Promise.all(this.members.map((member) => member.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function commandLine(
  name: string, directory: string, { client, peer, advertised }: Ports, initial: string,
  isTls: boolean,
): string[] {
  const scheme = isTls ? 'https' : 'http';
  const tls = isTls
    ? ['--cert-file', join(directory, 'cert.pem'), '--key-file', join(directory, 'key.pem')] : [];
  return [
    '--name', name, '--data-dir', join(directory, name),
    '--listen-client-urls', `${scheme}://127.0.0.1:${client}`,
    '--advertise-client-urls', `${scheme}://127.0.0.1:${client}`,
    '--listen-peer-urls', `http://127.0.0.1:${peer}`,
    '--initial-advertise-peer-urls', `http://127.0.0.1:${advertised}`,
    '--initial-cluster', initial, '--initial-cluster-token', directory,
    '--logger', 'zap', '--log-level', 'warn', ...tls,
  ];
}
