/**
 * PostgreSQL as an engine. It finds the primary among the hosts of the URL, refuses a server whose
 * commits may be lost, configures connections so that nothing cancels an append, and creates the
 * tables.
 */
import { AppError } from '../../../base/errors.ts';
import type { Engine, EngineSession } from '../engine.ts';
import { findPassword, formatAddress, parsePostgresUrl, formatHost } from './postgres-url.ts';
import type { PostgresAddress, PostgresHost } from './postgres-url.ts';
import { openConnection } from './driver.ts';
import type { Connection } from './driver.ts';
import {
  checkDurability, checkSessions, createPoolError, explainReadOnly, isPoolFull,
} from './server-checks.ts';
import type { Durability } from './server-checks.ts';
import type { PasswordFiles } from '../password-file.ts';
import { readText } from './rows.ts';
import { PostgresSession } from './postgres-session.ts';
import { CONNECT_MS_MAX, openSocket } from './postgres-socket.ts';
import {
  HAS_TABLES, IDENTITY, INSPECT, LISTEN, MAKE_ALONE, MAKE_SCHEMA, MAKE_TABLES, PREPARE_LOCK,
  SET_SESSION,
} from './statements.ts';

const BATCH_BYTES_MAX = 8 << 20;
/** Longest time for an attempt after connecting: new tables may have to wait for standbys. */
const BEGIN_MS_MAX = 5000;
/** Longest wait for the third connection: callers wait for a snapshot for at most 5 s. */
const THIRD_MS_MAX = 4000;

/** Throws `usage` for a URL that is wrong. Nothing is connected yet. */
export function createPostgresEngine(url: string, files: PasswordFiles): Engine {
  const address = parsePostgresUrl(url);
  const { hosts } = address;
  /** Index of the host that is tried first. */
  let first = 0;
  /**
   * Tries the hosts in turn until `use` succeeds with one. The next call tries that host last,
   * unless it has confirmed a write (`begin`): a primary that was replaced still accepts clients.
   */
  const tryHosts = async <Found>(
    use: (attempt: SessionAttempt, index: number) => Promise<Found>,
  ): Promise<Found> => {
    const order = hosts.map((_, step) => (first + step) % hosts.length);
    const rejections: AppError[] = [];
    for (const index of order) {
      const host = hosts[index];
      if (host === undefined) continue;
      const attempt = new SessionAttempt(address, host, findPassword(address, host, files));
      try {
        const result = await use(attempt, index);
        first = (index + 1) % hosts.length;
        return result;
      } catch (thrown) {
        attempt.close();
        if (!(thrown instanceof AppError)) throw thrown;
        rejections.push(thrown);
      }
    }
    throw combineErrors(rejections);
  };
  return {
    kind: 'postgres',
    name: formatAddress(address),
    batchBytesMax: BATCH_BYTES_MAX,
    maxSnapshotBytes: Infinity,
    connect: (mayCreate = true) => tryHosts((attempt, index) => attempt.begin(mayCreate, () => {
      first = index;
    })),
    inspect: () => tryHosts(async (attempt) => {
      const promise = await attempt.inspect();
      attempt.close();
      return promise;
    }),
  };
}

/** Joins all messages. A host that is misconfigured decides the code, before one that is away. */
function combineErrors(rejections: readonly AppError[]): AppError {
  const [first] = rejections;
  if (first === undefined) throw new Error('a URL has a host');
  const worst = rejections.find(({ code }) => code !== 'unavailable') ?? first;
  return new AppError(worst.code === 'unknown_outcome' ? 'unavailable' : worst.code,
    rejections.map(({ message }) => message).join('; '), {}, worst);
}

type ConnectionPair = {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly durability: Durability;
};

/** One attempt to begin a session with one server. */
class SessionAttempt {
  readonly #address: PostgresAddress;
  readonly #host: PostgresHost;
  readonly #password: string | null;
  readonly #connections: Connection[] = [];
  #session: PostgresSession | null = null;
  #hasTimedOut = false;

  constructor(address: PostgresAddress, host: PostgresHost, password: string | null) {
    this.#address = address;
    this.#host = host;
    this.#password = password;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  /** Opens a session. It calls `onConfirmed` when the server has confirmed a write. */
  begin(mayCreate: boolean, onConfirmed: () => void): Promise<EngineSession> {
    return this.#inTime(async () => {
      const { writer, reader, durability } = await this.#openPair();
      await this.#ensureTables(writer, mayCreate);
      await writer.query(PREPARE_LOCK);
      this.#session = new PostgresSession({
        ...durability, writer, reader, onConfirmed, openThird: () => this.#openBeside(2),
        notifies: await listen(writer),
      });
      return this.#session;
    });
  }

  /** Opens as many connections as a node has at most. Resolves with the durability, in words. */
  inspect(): Promise<string> {
    return this.#inTime(async () => {
      const { durability } = await this.#openPair();
      await this.#openBeside(2);
      return durability.description;
    });
  }

  async #inTime<Found>(run: () => Promise<Found>): Promise<Found> {
    const timer = setTimeout(() => {
      this.#hasTimedOut = true;
      this.close();
    }, CONNECT_MS_MAX + BEGIN_MS_MAX);
    try {
      return await run();
    } catch (thrown) {
      if (!this.#hasTimedOut) throw thrown;
      throw new AppError('unavailable',
        `PostgreSQL at ${formatHost(this.#host)} did not confirm in `
        + 'time; are the standbys that it waits for there?', {}, thrown);
    } finally {
      clearTimeout(timer);
    }
  }

  async #openPair(): Promise<ConnectionPair> {
    const hostText = formatHost(this.#host);
    const writer = await this.#open(CONNECT_MS_MAX);
    const { rows: [row] } = await writer.query(INSPECT);
    if (row === undefined || readText(row, 'is_read_only') !== 'off') {
      throw await explainReadOnly(writer, hostText, this.#address.database);
    }
    const durability = checkDurability(row, this.#address);
    const reader = await this.#openBeside(1);
    if (!await this.#isSameServer(writer, reader)) {
      throw new AppError('unavailable', `${hostText} leads to more than one server; connect to `
        + 'PostgreSQL directly, or through a pooler for sessions');
    }
    await checkSessions(writer, reader, hostText);
    return { writer, reader, durability };
  }

  /** Throws `unavailable` where `count` connections stand and no other is let in. */
  async #openBeside(count: 1 | 2): Promise<Connection> {
    try {
      return await this.#open(count === 1 ? CONNECT_MS_MAX : THIRD_MS_MAX);
    } catch (thrown) {
      throw isPoolFull(thrown) ? createPoolError(formatHost(this.#host), count, thrown) : thrown;
    }
  }

  async #open(timeoutMs: number): Promise<Connection> {
    const { user, database } = this.#address;
    const connection = await openConnection({
      open: () => openSocket(this.#address, this.#host),
      user, database, password: this.#password, host: formatHost(this.#host),
      timeoutMs,
      onNotify: (payload) => this.#session?.onNotification(payload),
      onLost: (error) => this.#session?.lose(error),
    });
    this.#connections.push(connection);
    await connection.query(SET_SESSION);
    return connection;
  }

  async #ensureTables(writer: Connection, mayCreate: boolean): Promise<void> {
    const { rows: [row] } = await writer.query(HAS_TABLES);
    if (row?.is_there === true) return;
    if (!mayCreate) {
      throw new AppError('not_found', `PostgreSQL at ${formatHost(this.#host)} holds no log in the `
        + `database ${this.#address.database}: name the right one, or put its backup back; to `
        + 'begin anew, start hookshelf serve');
    }
    const schema = row?.has_schema === true ? '' : `${MAKE_SCHEMA};`;
    // Statements that are sent in one message are one transaction.
    await writer.query(`${MAKE_ALONE}; ${schema} ${MAKE_TABLES}`);
  }

  /** One address may lead to several servers, one of which is no longer the primary. */
  async #isSameServer(left: Connection, right: Connection): Promise<boolean> {
    if (this.#address.durability === 'engine') return true;
    const [one, other] = [await left.query(IDENTITY), await right.query(IDENTITY)];
    return one.rows[0]?.started === other.rows[0]?.started;
  }
}

/** Begins to listen. Resolves with false if the service has no notifications. */
async function listen(writer: Connection): Promise<boolean> {
  try {
    await writer.query(LISTEN);
    return true;
  } catch (thrown) {
    if (writer.lossError !== null) throw thrown;
    return false;
  }
}
