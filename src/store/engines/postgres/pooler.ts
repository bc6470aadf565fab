/**
 * Poolers between us and PostgreSQL (pgbouncer and its like), and what of them is of no use. We
 * need connections of our own: what is set, prepared and listened to must still be there with the
 * next statement, and a second one must get on while the first waits for standbys.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import type { Connection } from './driver.ts';
import { ConnectionLimitRejection, SilentServerRejection } from './postgres-errors.ts';
import { markStatement } from './statements.ts';

/** Among the statements of others a mark may be found again by chance; not each time. */
const ROUNDS = 2;
const CONNECTION_COUNTS = { 1: 'one connection', 2: 'two connections' } as const;
const NEXT_ORDINALS = { 1: 'second', 2: 'third' } as const;

/**
 * Throws `misconfigured` where statements of one connection go to several of the server, as with
 * `pool_mode = transaction`: then one finds the mark of the other, or none, where it left its own.
 * Each asks twice in a row: a pool may give the server's connections out in turns, or the last one
 * again and again.
 */
export async function checkSessions(
  writer: Connection, reader: Connection, host: string,
): Promise<void> {
  const lastMarks = new Map<Connection, string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const connection of [writer, writer, reader, reader]) {
      const mark = randomUUID();
      const previousMark = await exchangeMark(connection, mark);
      if (previousMark === undefined) return;
      const expected = lastMarks.get(connection);
      if (expected !== undefined && previousMark !== expected) {
        throw createTransactionPoolError(host);
      }
      lastMarks.set(connection, mark);
    }
  }
}

/** Whether a server that lets us in at all has no connection more for us. */
export function isPoolFull(thrown: unknown): boolean {
  return thrown instanceof SilentServerRejection || thrown instanceof ConnectionLimitRejection;
}

/** `count` connections stand, and the next was not to be had. */
export function createPoolError(host: string, count: 1 | 2, thrown: unknown): AppError {
  const detail = thrown instanceof ConnectionLimitRejection ? ` (${thrown.serverMessage})` : '';
  return new AppError('unavailable',
    `${host} lets ${CONNECTION_COUNTS[count]} in and no ${NEXT_ORDINALS[count]}, as `
    + `a pool of ${CONNECTION_COUNTS[count]} does${detail}. A node needs two, three while it `
    + 'starts or keeps a snapshot, and a command beside it up to three more: raise the limits of '
    + 'pgbouncer (default_pool_size, max_db_connections, max_client_conn) or of the role, or '
    + 'connect to PostgreSQL itself', {}, thrown);
}

/** Undefined where the service has no settings of such names. */
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
