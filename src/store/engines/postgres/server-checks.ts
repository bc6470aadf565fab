/**
 * Checks whether a PostgreSQL server can keep a log: how durable its commits are, why it may take
 * no writes, and whether a pooler between (such as pgbouncer) can be used. A session needs
 * connections of its own: settings, prepared statements and LISTEN must last from one statement to
 * the next, and a second connection must go on while the first waits for standbys.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import type { Connection, Row } from './driver.ts';
import { ConnectionLimitRejection, SilentServerRejection } from './postgres-errors.ts';
import type { PostgresAddress } from './postgres-url.ts';
import { readNumber, readText } from './rows.ts';
import { READ_ONLY_CAUSE, markStatement } from './statements.ts';

export type Durability = {
  /** A text for people. */
  readonly description: string;
  /** Whether commits wait for standbys. */
  readonly needsStandbys: boolean;
};

const VERSION_MIN = 130_000;

/** Checks the row of INSPECT. Throws `misconfigured` for a server whose commits may be lost. */
export function checkDurability(
  row: Row, { durability }: PostgresAddress,
): Durability {
  const version = readText(row, 'version_text');
  if (readNumber(row, 'version') < VERSION_MIN) {
    throw new AppError('misconfigured', `this is PostgreSQL ${version}; 13 or later is needed`);
  }
  const encoding = readText(row, 'encoding');
  if (!/^UTF-?8$/i.test(encoding)) {
    throw new AppError('misconfigured', `the database has the encoding ${encoding}; make one with `
      + 'createdb -E UTF8 -T template0');
  }
  const warning = readText(row, 'fsync') === 'on' ? ''
    : ' (and runs with fsync = off: what it has confirmed is lost when the power fails)';
  const server = `${readText(row, 'product').split(' ')[0] ?? 'PostgreSQL'} ${version}${warning}`;
  const standbys = readText(row, 'standbys').trim();
  if (durability === 'engine') {
    return { needsStandbys: false,
      description: `${server}: the service keeps several copies by itself, `
      + 'as durability=engine says' };
  }
  if (standbys !== '') {
    return { needsStandbys: true, description: `${server}: each commit waits for its standbys `
      + `(synchronous_standby_names = '${standbys}'), and survives the loss of one machine` };
  }
  if (durability === 'primary') {
    return { needsStandbys: false,
      description: `${server}: each commit is on the disk of one machine, `
      + 'and is lost with it, as durability=primary says' };
  }
  throw new AppError('misconfigured', 'PostgreSQL confirms commits that only one machine has: '
    + "synchronous_standby_names is empty. Name its standbys there, as in 'ANY 1 (s1, s2)'; or add "
    + 'durability=engine or durability=primary to the URL: engine, when the service keeps several '
    + 'copies by itself (as Aurora and CockroachDB do); primary, when one machine is enough for '
    + 'you');
}

/** How to reset the setting, by the place it comes from (`pg_settings.source`). */
const RESET_BY_SOURCE: Readonly<Record<string, (database: string) => string>> = {
  'database': (database) => `alter database "${database}" reset default_transaction_read_only`,
  'user': () => 'alter role … reset default_transaction_read_only',
  'database user': (database) => `alter role … in database "${database}" reset `
    + 'default_transaction_read_only',
};
const RESET_ELSEWHERE =
  'in postgresql.conf, or by alter system reset default_transaction_read_only';

/** Explains why a server takes no writes: it is a standby, or its settings forbid them. */
export async function explainReadOnly(
  connection: Connection, host: string, database: string,
): Promise<AppError> {
  const { rows: [row] } = await connection.query(READ_ONLY_CAUSE);
  if (row?.is_standby === true) {
    return new AppError('unavailable', `${host} is a standby, not the primary`);
  }
  if (row?.setting !== 'on') {
    return new AppError('unavailable', `PostgreSQL at ${host} takes no writes now `
      + '(transaction_read_only is on)');
  }
  const source = String(row.source);
  const reset = RESET_BY_SOURCE[source]?.(database) ?? RESET_ELSEWHERE;
  return new AppError('misconfigured', `PostgreSQL at ${host} is the primary, and is set to take `
    + `no writes: default_transaction_read_only is on (source: ${source}). Some services set it `
    + `when the disk fills: make room there. Else take it back: ${reset}, in a session that begins `
    + 'with set default_transaction_read_only = off');
}

/** A mark may come back by chance, among the statements of other clients, but not in each round. */
const ROUNDS = 2;
const CONNECTION_COUNTS = { 1: 'one connection', 2: 'two connections' } as const;
const NEXT_ORDINALS = { 1: 'second', 2: 'third' } as const;

/**
 * Throws `misconfigured` if statements of one connection go to several of the server, as with
 * `pool_mode = transaction`. A connection that left a mark then finds another one's mark, or none.
 * Each connection asks twice in a row, since a pool may hand out the server's connections in turns,
 * or the last one again and again.
 */
export async function checkSessions(
  writer: Connection, reader: Connection, host: string,
): Promise<void> {
  const lastMarks = new Map<Connection, string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const connection of [writer, writer, reader, reader]) {
      const mark = randomUUID();
      const previousMark = await exchangeMark(connection, mark);
      // Without marks it cannot be found out: the session is used as it is.
      if (previousMark === undefined) return;
      const expectedMark = lastMarks.get(connection);
      if (expectedMark !== undefined && previousMark !== expectedMark) {
        throw createTransactionPoolError(host);
      }
      lastMarks.set(connection, mark);
    }
  }
}

/** Whether an error says that there is no further connection for us. */
export function isPoolFull(thrown: unknown): boolean {
  return thrown instanceof SilentServerRejection || thrown instanceof ConnectionLimitRejection;
}

/** Creates the error for a session that has `count` connections and cannot open the next one. */
export function createPoolError(host: string, count: 1 | 2, thrown: unknown): AppError {
  const detail = thrown instanceof ConnectionLimitRejection ? ` (${thrown.serverMessage})` : '';
  return new AppError('unavailable',
    `${host} lets ${CONNECTION_COUNTS[count]} in and no ${NEXT_ORDINALS[count]}, as `
    + `a pool of ${CONNECTION_COUNTS[count]} does${detail}. A node needs two, three while it `
    + 'starts or keeps a snapshot, and a command beside it up to three more: raise the limits of '
    + 'pgbouncer (default_pool_size, max_db_connections, max_client_conn) or of the role, or '
    + 'connect to PostgreSQL itself', {}, thrown);
}

/**
 * Leaves a mark, and returns the one before; null: there was none. Returns undefined where the
 * service has no custom settings.
 */
async function exchangeMark(connection: Connection, mark: string): Promise<unknown> {
  try {
    const { rows: [row] } = await connection.query(markStatement(mark));
    return row?.found ?? null;
  } catch (thrown) {
    if (connection.lossError !== null) throw thrown;
    return undefined;
  }
}

function createTransactionPoolError(host: string): AppError {
  return new AppError('misconfigured', `${host} gives each transaction another connection, as `
    + 'pgbouncer does with pool_mode = transaction or statement: what is set for a connection is '
    + 'lost then, and writes fail at random. Set pool_mode = session there for this database, or '
    + 'connect to PostgreSQL itself');
}
