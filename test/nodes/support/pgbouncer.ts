/**
 * A real pgbouncer before a server of PostgreSQL, on a port from the kernel. It lets everybody in
 * as the superuser, and ends with the test file, whatever becomes of it.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { owned } from '../../support/children.ts';
import { until } from '../../support/until.ts';
import { closedPort } from '../../support/servers.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { postgresMissing } from './driver.ts';
import { POSTGRES_PASSWORD } from './postgres-cluster.ts';
import type { PostgresServer } from './postgres-cluster.ts';

const READY_MS = 30_000;
// Debian's place, which is not on everybody's PATH.
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`;

const isInstalled = spawnSync('pgbouncer', ['--version'], { env: { PATH } }).status === 0;

/** Why tests that need pgbouncer cannot run here; false when they can. */
export const pgbouncerMissing: string | false = postgresMissing !== false ? postgresMissing
  : isInstalled ? false : 'pgbouncer is not installed: run .ci/install-tools as root';

type PoolerOptions = {
  readonly server: PostgresServer;
  readonly mode: 'session' | 'transaction' | 'statement';
  /** Connections that it holds with the server. */
  readonly poolSize: number;
  /** Further lines of its settings. */
  readonly settings?: readonly string[];
};

export class Pgbouncer {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
  }

  /** Resolves when it takes connections. */
  static async start(
    { server, mode, poolSize, settings = [] }: PoolerOptions,
  ): Promise<Pgbouncer> {
    const folder = createTemporaryFolder();
    const port = await closedPort();
    const file = join(folder, 'pgbouncer.ini');
    const password = POSTGRES_PASSWORD.replaceAll("'", "''");
    writeFileSync(file, [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port} user=postgres password='${password}'`,
      '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =',
      'auth_type = any', `pool_mode = ${mode}`, `default_pool_size = ${poolSize}`,
      ...settings, '',
    ].join('\n'));
    const user = server.user;
    if (user !== null) {
      chmodSync(folder, 0o755);
      for (const path of [folder, file]) chownSync(path, user.uid, user.gid);
    }
    const child = owned(spawn('pgbouncer', ['-q', file],
      { stdio: 'ignore', env: { PATH }, ...user ?? {} }));
    const pooler = new Pgbouncer(port, folder, child);
    await until('pgbouncer takes connections', () => answers(port), { msMax: READY_MS });
    return pooler;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = new Promise((resolve) => void this.#child.once('exit', resolve));
      this.#child.kill('SIGINT');
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
