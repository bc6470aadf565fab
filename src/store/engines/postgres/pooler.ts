/**
 * Recognizes poolers (such as pgbouncer) between us and PostgreSQL that cannot be used. A session
 * needs connections of its own: settings, prepared statements and LISTEN must last from one
 * statement to the next, and a second connection must go on while the first waits for standbys.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import type { Connection } from './driver.ts';
import { ConnectionLimitRejection, SilentServerRejection } from './postgres-errors.ts';
import { markStatement } from './statements.ts';

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
