/**
 * One connection to PostgreSQL, and the only file that imports the package `postgres` (written for
 * 3.4.9). That package reconnects, queues and repeats on its own, which must not happen to an
 * append. So it gets one socket, once, and one statement at a time: when the socket closes, all
 * statements without a reply reject, and nothing is ever sent again.
 */
import type { Socket } from 'node:net';
import { AppError, messageOf, systemCodeOf } from '../../../base/errors.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import {
  SilentServerRejection, convertRejection, createLoginError, isLost,
} from './postgres-errors.ts';

export type Row = Readonly<Record<string, unknown>>;

/** The bytes of each column, as PostgreSQL writes them; null for an SQL null. */
export type Columns = readonly (Buffer | null)[];

/** The parameters of a statement: `$1`… */
export type SqlParameters = readonly (string | number)[];

export type QueryResult = {
  readonly rows: readonly Row[];
  /** The server's last WARNING during the statement: a commit may not last. Null: none came. */
  readonly warning: string | null;
};

type DriverOptions = {
  readonly open: () => Promise<Socket>;
  readonly user: string;
  readonly database: string;
  readonly password: string | null;
  /** For messages. */
  readonly host: string;
  /** Longest wait until the reply to the first statement. */
  readonly timeoutMs: number;
  readonly onNotify?: (payload: string) => void;
  /** Called once when the connection is lost or closed. */
  readonly onLost?: (error: AppError) => void;
};

// The package holds shorter statements back until the next turn of the event loop. A busy node
// would send its commit late, and other nodes wait for that commit to free the log.
const STATEMENT_BYTES_MIN = 1024;

const PREPARED = { prepare: true };

const loadDriver = lazyImport(findDriver);

/** Resolves when the server has let us in. */
export async function openConnection(options: DriverOptions): Promise<Connection> {
  const postgres = await loadDriver();
  if (postgres === null) {
    throw new AppError('misconfigured', 'the URL is of a PostgreSQL database, and the package '
      + 'that speaks to it is not installed: npm install postgres');
  }
  const connection = new Connection(options, postgres);
  try {
    await connection.start();
    return connection;
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

async function findDriver(): Promise<typeof import('postgres').default | null> {
  try {
    return (await import('postgres')).default;
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ERR_MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}

function padStatement(text: string): string {
  return text.padEnd(STATEMENT_BYTES_MIN);
}

/** Use `openConnection`. */
export class Connection {
  readonly #options: DriverOptions;
  readonly #client: ReturnType<typeof import('postgres').default>;
  /** Rejects the statement under way: the package leaves some of them pending for ever. */
  #rejectPending: (error: AppError) => void = () => undefined;
  #socket: Socket | null = null;
  #isOpened = false;
  #turn: Promise<unknown> = Promise.resolve();
  #warning: string | null = null;
  /** Why the connection is lost; null while it is in use. */
  lossError: AppError | null = null;

  constructor(options: DriverOptions, postgres: typeof import('postgres').default) {
    this.#options = options;
    const { user, database, password, timeoutMs, onNotify } = options;
    this.#client = postgres({
      socket: () => this.#open(),
      // Every option is set, since the package would take it from the environment otherwise.
      host: 'postgres', port: 0, user, database, password: () => password ?? '', ssl: false,
      max: 1, prepare: true, fetch_types: false, no_subscribe: true,
      target_session_attrs: 'primary', connect_timeout: timeoutMs / 1000,
      idle_timeout: null, max_lifetime: null, keep_alive: null, sslnegotiation: null, debug: false,
      backoff: false, max_pipeline: 2, publications: '',
      connection: { application_name: 'hookshelf' },
      onnotice: ({ severity, message = '' }) => {
        if (severity === 'WARNING') this.#warning = message;
      },
      onnotify: (_, payload) => onNotify?.(payload),
    });
  }

  async #open(): Promise<Socket> {
    if (this.#isOpened) throw new Error('the connection is lost');
    this.#isOpened = true;
    const socket = await this.#options.open();
    this.#socket = socket;
    socket.once('close', () => this.#markLost('the connection was closed'));
    if (this.lossError !== null) socket.destroy();
    return socket;
  }

  /** Runs a first statement. Throws the reason for which the server does not let us in. */
  async start(): Promise<void> {
    const { host, timeoutMs } = this.#options;
    let isLate = false;
    // A pooler accepts any client, but its first statement waits until a connection is free.
    const timer = setTimeout(() => {
      isLate = true;
      this.close();
    }, timeoutMs);
    try {
      await this.#rejectWhenLost(this.#client.unsafe('select 1'));
    } catch (thrown) {
      if (isLate) throw new SilentServerRejection(host);
      if (thrown instanceof AppError && thrown !== this.lossError) throw thrown;
      // The package disconnects from a server that is not a primary with this code.
      if (systemCodeOf(thrown) === 'CONNECTION_DESTROYED' && this.lossError === null) {
        throw new AppError('unavailable', `${host} is a standby, not the primary`);
      }
      throw createLoginError(thrown, this.#options);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs one statement with `$1`…, or several without parameters. Resolves with all their rows
   * together. Rejects with `unknown_outcome` when the connection is lost, else with the server's
   * refusal: nothing was changed then.
   */
  query(text: string, parameters: SqlParameters = []): Promise<QueryResult> {
    return this.#inTurn(async () => this.#createResult(await this.#send(text, parameters)));
  }

  /** Runs one statement whose rows are large. Decoding them as text would cost 1 µs a kB. */
  queryBytes(text: string, parameters: SqlParameters): Promise<readonly Columns[]> {
    return this.#inTurn(() => this.#client.unsafe(text, [...parameters], PREPARED).raw());
  }

  /** Runs several statements whose rows are large. Resolves with all their rows together. */
  queryAllBytes(text: string): Promise<readonly Columns[]> {
    return this.#inTurn(async () => (await this.#client.unsafe(padStatement(text)).raw()).flat());
  }

  /**
   * Runs the last statement of a transaction and its commit, which are sent together. Rejects as
   * `query` does; the transaction is rolled back then.
   */
  queryAndCommit(text: string, parameters: SqlParameters): Promise<QueryResult> {
    return this.#inTurn(async () => {
      // Statement and commit go in one packet: the server would be woken twice otherwise.
      const socket = this.#socket;
      socket?.cork();
      process.nextTick(() => socket?.uncork());
      const [result, commit] = await Promise.allSettled(
        [this.#send(text, parameters), this.#send('commit', [])]);
      if (result.status === 'rejected') throw result.reason;
      if (commit.status === 'rejected') throw commit.reason;
      return this.#createResult(result.value);
    });
  }

  #createResult(result: readonly (Row | readonly Row[])[]): QueryResult {
    return { rows: result.flat(), warning: this.#warning };
  }

  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(() => this.#runQuery(run));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #runQuery<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.lossError !== null) throw this.lossError;
    this.#warning = null;
    try {
      return await this.#rejectWhenLost(run());
    } catch (thrown) {
      if (isLost(thrown)) this.#markLost(messageOf(thrown));
      throw this.lossError ?? convertRejection(thrown);
    }
  }

  #send(text: string, parameters: SqlParameters): Promise<readonly (Row | readonly Row[])[]> {
    return parameters.length === 0 ? this.#client.unsafe(padStatement(text))
      : this.#client.unsafe(text, [...parameters], PREPARED);
  }

  /**
   * Rejects if the connection is lost before `result` settles; one call at a time. A race of each
   * reply with one promise of the loss would keep all replies in memory.
   */
  #rejectWhenLost<Result>(result: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject;
      result.then(resolve, reject);
    });
  }

  /** Closes the socket. The server still finishes a statement under way. Idempotent. */
  close(): void {
    this.#markLost('the connection is closed');
  }

  #markLost(reason: string): void {
    if (this.lossError !== null) return;
    this.lossError = new AppError('unknown_outcome',
      `the connection to PostgreSQL at ${this.#options.host} is lost (${reason})`);
    this.#rejectPending(this.lossError);
    // Only the socket: asking the server to cancel could make it confirm what is not replicated.
    this.#socket?.destroy();
    this.#options.onLost?.(this.lossError);
  }
}
