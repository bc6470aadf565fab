/**
 * What PostgreSQL refuses, as an error of ours. An ERROR ends its transaction, so that nothing of
 * it was written; after anything graver, or without an answer, nobody knows (its appendix
 * "PostgreSQL Error Codes").
 */
import { AppError, messageOf, systemCodeOf } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';

/** The state of a transaction that came between others, and can be run again. */
const REPEATABLE = ['40001', '40P01'];
// Of these the connection is of no use any more, or the outcome is open: 40003 says so itself, and
// 25006 comes from a server that has ceased to be the primary.
const LOST = /^(08...|57P..|40003|25006|25P03|25P04)$/;

export class PostgresRefusal extends AppError {
  readonly isRepeatable: boolean;

  constructor(code: ErrorCode, message: string, sqlState: string) {
    super(code, message);
    this.isRepeatable = REPEATABLE.includes(sqlState);
  }
}

/** No answer to the first statement: the server hangs, or a pool has no connection to spare. */
export class SilentServerRefusal extends AppError {
  constructor(place: string) {
    super('unavailable', `PostgreSQL at ${place} takes connections and does not answer; if that is `
      + 'a pool, as of pgbouncer, all that it holds may be in use');
  }
}

/** No connection is left, for this user or at all. */
export class ConnectionLimitRefusal extends AppError {
  /** What the server said. */
  readonly said: string;

  constructor(place: string, said: string) {
    super('unavailable', `PostgreSQL at ${place} does not let us in: ${said}; a node needs two `
      + 'connections, three while it starts or keeps a snapshot');
    this.said = said;
  }
}

/** Whether an error of the driver leaves open what became of the statement. */
export function isLost(thrown: unknown): boolean {
  const sqlState = systemCodeOf(thrown) ?? '';
  return severityOf(thrown) !== 'ERROR' || LOST.test(sqlState);
}

/** Of an error that is not of `isLost`: the statement has changed nothing. */
export function refusalOf(thrown: unknown): PostgresRefusal {
  const sqlState = systemCodeOf(thrown) ?? '';
  const said = `PostgreSQL refused it: ${messageOf(thrown)} (${sqlState})`;
  const refuse = (code: ErrorCode, message: string): PostgresRefusal =>
    new PostgresRefusal(code, message, sqlState);
  switch (sqlState) {
    case '55P03': return refuse('unavailable', 'the log has been locked for 2 s: by an append that '
      + 'waits for its standbys, if these are away, or by somebody else (pg_blocking_pids tells)');
    case '53100': return refuse('storage_full', said);
    case '23505': return refuse('damaged', `${said}: the head of the log and its entries differ`);
    case '42501': return refuse('misconfigured', `${said}: hookshelf's user is to own the schema `
      + 'hookshelf and its tables, which an administrator makes so (create schema hookshelf '
      + 'authorization <user>, or alter … owner to <user>)');
    default: return refuse('unavailable', said);
  }
}

type LoginTarget = {
  readonly place: string; readonly user: string; readonly database: string;
  readonly password: string | null;
};

/** Why a server did not let us in, and what to do. */
export function loginError(thrown: unknown, at: LoginTarget): AppError {
  const said = messageOf(thrown);
  switch (systemCodeOf(thrown)) {
    case '28P01': case '28000':
      return new AppError('misconfigured', `PostgreSQL at ${at.place} does not let the user `
        + `${at.user} in (${said})${at.password === null ? '; no password was found: give one in '
        + 'the URL, in a password file, or by PGPASSFILE' : ''}`);
    case '3D000':
      return new AppError('misconfigured', `PostgreSQL at ${at.place} has no database `
        + `${at.database}: createdb -E UTF8 ${at.database}`);
    case '53300': return new ConnectionLimitRefusal(at.place, said);
    // The package's own, with a host that it was not told.
    case 'CONNECT_TIMEOUT': return new SilentServerRefusal(at.place);
    default:
      // As pgbouncer says it, under the state of a broken protocol.
      if (/no more connections allowed/.test(said)) {
        return new ConnectionLimitRefusal(at.place, said);
      }
      return new AppError('unavailable', `PostgreSQL at ${at.place} does not let us in: ${said}`);
  }
}

function severityOf(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'severity' in thrown
    ? thrown.severity : undefined;
}
