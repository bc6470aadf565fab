/**
 * Real PostgreSQL servers for tests: a primary and its synchronous standbys, in a directory of
 * their own, on ports from the kernel. They end with the test file, whatever becomes of it.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  appendFileSync, chmodSync, chownSync, cpSync, existsSync, readFileSync, readdirSync, rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { owned } from '../../support/children.ts';
import { until } from '../../support/until.ts';
import { closedPort } from '../../support/servers.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

export const POSTGRES_PASSWORD = 'a+pass word/of:tests';
const INSTALLED = '/usr/lib/postgresql';
const READY_MS = 60_000;
const START_MS = 20_000;
const POLL_MS = 50;
const PSQL_MS = 30_000;

const binaries = findBinaries();
/** PostgreSQL refuses to run as root. */
const user = process.geteuid?.() === 0 ? userNamed('postgres') : null;

/** Why tests that need PostgreSQL cannot run here; false when they can. */
export const postgresMissing: string | false = binaries === null
  ? 'PostgreSQL is not installed: run .ci/install-tools as root'
  : process.geteuid?.() === 0 && user === null
    ? 'PostgreSQL does not run as root, and there is no user postgres' : false;

type ClusterOptions = {
  /** How many standbys follow the first server; each of them may confirm a commit. */
  readonly standbys?: number;
  /** Further lines of postgresql.conf, for all servers. */
  readonly settings?: readonly string[];
};

export class PostgresCluster {
  readonly directory: string;
  readonly servers: readonly PostgresServer[];

  private constructor(directory: string, servers: readonly PostgresServer[]) {
    this.directory = directory;
    this.servers = servers;
  }

  /** The first server of all; it is the primary until another one is promoted. */
  get primary(): PostgresServer {
    return this.at(0);
  }

  get standbys(): readonly PostgresServer[] {
    return this.servers.slice(1);
  }

  at(index: number): PostgresServer {
    const server = this.servers[index];
    if (server === undefined) throw new Error(`the cluster has no server ${index}`);
    return server;
  }

  /** Resolves when every standby streams, so that commits are confirmed. */
  static async start({ standbys = 0, settings = [] }: ClusterOptions = {},
  ): Promise<PostgresCluster> {
    const directory = createTemporaryFolder();
    chmodSync(directory, 0o755);
    if (user !== null) chownSync(directory, user.uid, user.gid);
    const names = ['primary', ...Array.from({ length: standbys }, (_, index) => `s${index + 1}`)];
    const servers: PostgresServer[] = [];
    for (const name of names) {
      servers.push(new PostgresServer(directory, name, await closedPort()));
    }
    const cluster = new PostgresCluster(directory, servers);
    try {
      await cluster.#initialize(settings);
      await cluster.primary.start();
      for (const standby of cluster.standbys) await standby.start();
      await cluster.streams(standbys);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Resolves when so many standbys confirm what the server commits. */
  async streams(standbys: number, server = this.primary): Promise<void> {
    await until(`${standbys} standbys that stream`, async () => {
      await delay(POLL_MS);
      return server.query('select count(*) from pg_stat_replication '
        + "where state = 'streaming' and sync_state <> 'async'") === String(standbys);
    }, { msMax: READY_MS });
  }

  /** One directory is made and copied: a standby may start as its primary began. */
  async #initialize(settings: readonly string[]): Promise<void> {
    const { primary } = this;
    const passwordFile = join(this.directory, 'password');
    writeFileSync(passwordFile, POSTGRES_PASSWORD, { mode: 0o644 });
    await run('initdb', ['-D', primary.data, '-U', 'postgres', '-E', 'UTF8', '--locale=C',
      '--no-sync', '--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${passwordFile}`]);
    appendFileSync(join(primary.data, 'postgresql.conf'), [
      "listen_addresses='127.0.0.1'", `unix_socket_directories='${this.directory}'`,
      'shared_buffers=32MB', 'wal_level=replica', 'wal_log_hints=on',
      'hot_standby=on', 'wal_keep_size=256MB', 'wal_retrieve_retry_interval=200ms',
      'restart_after_crash=off', 'dynamic_shared_memory_type=mmap', ...settings, '',
    ].join('\n'));
    for (const standby of this.standbys) {
      cpSync(primary.data, standby.data, { recursive: true });
      own(standby.data);
      standby.follow(primary);
    }
    if (this.standbys.length > 0) {
      const names = this.standbys.map(({ name }) => name).join(',');
      primary.set(`synchronous_standby_names='ANY 1 (${names})'`);
    }
  }

  /** Gives a file to the user that the servers run as. */
  own(path: string): void {
    if (user !== null) chownSync(path, user.uid, user.gid);
  }

  async stop(): Promise<void> {
    for (const server of this.servers) server.signal('SIGCONT');
    await Promise.all(this.servers.map((server) => server.kill('SIGQUIT')));
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class PostgresServer {
  readonly name: string;
  readonly port: number;
  readonly data: string;
  readonly #sockets: string;
  #child: ChildProcess | null = null;
  /** What it has written to its standard error. */
  log = '';

  constructor(directory: string, name: string, port: number) {
    this.name = name;
    this.port = port;
    this.data = join(directory, name);
    this.#sockets = directory;
  }

  /** Where it listens, with the password; `port` is another one for a proxy before it. */
  url(port = this.port, parameters = '', database = 'postgres'): string {
    const password = encodeURIComponent(POSTGRES_PASSWORD);
    return `postgres://postgres:${password}@127.0.0.1:${port}/${database}${parameters}`;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const launch = async (): Promise<boolean> => {
      const child = owned(spawn(binary('postgres'), ['-D', this.data, '-p', String(this.port)],
        { stdio: ['ignore', 'ignore', 'pipe'], ...user ?? {} }));
      this.#child = child;
      child.stderr?.on('data', (text: Buffer) => void (this.log += text.toString()));
      let isOver = false;
      child.once('exit', () => void (isOver = true));
      await until(`${this.name} to start`, async () => isOver || await this.#isReady(),
        { msMax: READY_MS });
      // Processes of the one before may still hold its shared memory.
      return !isOver;
    };
    await until(`${this.name} to stay up`, launch, { msMax: START_MS }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${this.log.slice(-2000)}`);
    });
  }

  async #isReady(): Promise<boolean> {
    await delay(POLL_MS);
    const words = ['-q', '-h', this.#sockets, '-p', String(this.port)];
    return spawnSync(binary('pg_isready'), words).status === 0;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** SIGKILL is a crash, SIGQUIT one that leaves no shared memory, SIGINT a fast stop. */
  async kill(signal: 'SIGKILL' | 'SIGINT' | 'SIGQUIT' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isRunning) return;
    const ended = new Promise((resolve) => void child.once('exit', resolve));
    const processes = this.processes();
    child.kill(signal);
    if (signal === 'SIGKILL') for (const pid of processes) send(pid, signal);
    await ended;
  }

  /** The server itself and what it has started, all of which stop together. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.processes()) send(pid, signal);
  }

  processes(): number[] {
    const pid = this.#child?.pid;
    if (pid === undefined || !this.isRunning) return [];
    const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
      .filter((name) => parentOf(name) === pid).map(Number);
    return [pid, ...children];
  }

  /** Makes a standby the primary; its former primary knows nothing of it. */
  async promote(): Promise<void> {
    await run('pg_ctl', ['promote', '-D', this.data, '-w']);
  }

  /** From its next start it follows another server. */
  follow({ port }: PostgresServer): void {
    const password = POSTGRES_PASSWORD.replaceAll("'", "''");
    this.set(`primary_conninfo='host=127.0.0.1 port=${port} user=postgres `
      + `application_name=${this.name} password=''${password}'''`);
    writeFileSync(join(this.data, 'standby.signal'), '');
    own(this.data);
  }

  /** Undoes what a stopped former primary has written since `other` left it. */
  async rewind(other: PostgresServer): Promise<void> {
    await run('pg_rewind', ['-D', this.data, '--no-sync',
      `--source-server=host=${this.#sockets} port=${other.port} user=postgres dbname=postgres`]);
  }

  /** Adds a line to postgresql.conf, which the last one decides; reloaded when it runs. */
  set(line: string): void {
    appendFileSync(join(this.data, 'postgresql.conf'), `${line}\n`);
    if (this.isRunning) this.query('select pg_reload_conf()');
  }

  /** As whom it runs, and other servers that refuse to run as root; null: as this process. */
  get user(): { readonly uid: number; readonly gid: number } | null {
    return user;
  }

  /** Where it listens for who may be anybody. */
  get socket(): string {
    return join(this.#sockets, `.s.PGSQL.${this.port}`);
  }

  /** What psql prints: a line a row, `|` between columns. Throws what the server says. */
  query(sql: string): string {
    const words = ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-U', 'postgres', '-d', 'postgres'];
    const result = spawnSync(binary('psql'),
      [...words, '-h', this.#sockets, '-p', String(this.port), '-c', sql],
      { encoding: 'utf8', timeout: PSQL_MS });
    if (result.status !== 0) throw new Error(`${this.name}: ${result.stderr} (${sql})`);
    return result.stdout.trimEnd();
  }
}

/** Meanwhile the proxies of the test go on: they are in this process. Rejects with its stderr. */
async function run(name: string, words: readonly string[]): Promise<void> {
  await promisify(execFile)(binary(name), [...words], { cwd: '/', ...user ?? {} });
}

function binary(name: string): string {
  if (binaries === null) throw new Error('PostgreSQL is not installed');
  return join(binaries, name);
}

function findBinaries(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
  const newest = versions.sort((left, right) => Number(right) - Number(left))
    .map((version) => join(INSTALLED, version, 'bin'));
  const folders = [...newest, ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

function userNamed(name: string): { readonly uid: number; readonly gid: number } | null {
  const line = readFileSync('/etc/passwd', 'utf8').split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

function own(path: string): void {
  if (user === null) return;
  chownSync(path, user.uid, user.gid);
  chmodSync(path, 0o700);
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(path, name), user.uid, user.gid);
  }
}

function parentOf(pid: string): number | null {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended with its parent.
  }
}
