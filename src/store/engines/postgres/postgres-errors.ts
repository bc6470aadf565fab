/**
 * Converts PostgreSQL's errors to ours. An ERROR ends its transaction, so nothing was written. The
 * outcome is unknown after a graver error, or without a reply (PostgreSQL's appendix "PostgreSQL
 * Error Codes").
 */
import { AppError, messageOf, systemCodeOf } from '../../../base/errors.ts';
import type { ErrorCode } from '../../../base/errors.ts';

/** States of a transaction that conflicted with others, and can be run again. */
const REPEATABLE_STATES = ['40001', '40P01'];
// States after which the connection is lost, or the outcome is unknown: 40003 says so itself, and
// 25006 comes from a server that has ceased to be the primary.
const LOST_CONNECTION_STATES = /^(08...|57P..|40003|25006|25P03|25P04)$/;

export class PostgresRejection extends AppError {
  readonly isRepeatable: boolean;

  constructor(code: ErrorCode, message: string, sqlState: string) {
    super(code, message);
    this.isRepeatable = REPEATABLE_STATES.includes(sqlState);
  }
}

/** The first statement got no reply: the server hangs, or a pool has no connection to spare. */
export class SilentServerRejection extends AppError {
  constructor(host: string) {
    super('unavailable', `PostgreSQL at ${host} takes connections and does not answer; if that is `
      + 'a pool, as of pgbouncer, all that it holds may be in use');
  }
}

/** The server has no connection left, for this user or for anybody. */
export class ConnectionLimitRejection extends AppError {
  readonly serverMessage: string;

  constructor(host: string, reason: string) {
    super('unavailable', `PostgreSQL at ${host} does not let us in: ${reason}; a node needs two `
      + 'connections, three while it starts or keeps a snapshot');
    this.serverMessage = reason;
  }
}

/** Whether an error of the driver leaves the outcome of the statement unknown. */
export function isLost(thrown: unknown): boolean {
  const sqlState = systemCodeOf(thrown) ?? '';
  return readSeverity(thrown) !== 'ERROR' || LOST_CONNECTION_STATES.test(sqlState);
}

/** Converts an error for which `isLost` is false: the statement has changed nothing. */
export function convertRejection(thrown: unknown): PostgresRejection {
  const sqlState = systemCodeOf(thrown) ?? '';
  const reason = `PostgreSQL refused it: ${messageOf(thrown)} (${sqlState})`;
  const reject = (code: ErrorCode, message: string): PostgresRejection =>
    new PostgresRejection(code, message, sqlState);
  switch (sqlState) {
    case '55P03': return reject('unavailable', 'the log has been locked for 2 s: by an append that '
      + 'waits for its standbys, if these are away, or by somebody else (pg_blocking_pids tells)');
    case '53100': return reject('storage_full', reason);
    case '23505': return reject('damaged', `${reason}: the head of the log and its entries differ`);
    case '42501': return reject('misconfigured', `${reason}: hookshelf's user is to own the schema `
      + 'hookshelf and its tables, which an administrator makes so (create schema hookshelf '
      + 'authorization <user>, or alter … owner to <user>)');
    default: return reject('unavailable', reason);
  }
}

type LoginTarget = {
  readonly host: string; readonly user: string; readonly database: string;
  readonly password: string | null;
};

/** Creates the error for a server that did not let us in, with advice. */
export function createLoginError(thrown: unknown, target: LoginTarget): AppError {
  const reason = messageOf(thrown);
  switch (systemCodeOf(thrown)) {
    case '28P01': case '28000':
      return new AppError('misconfigured', `PostgreSQL at ${target.host} does not let the user `
        + `${target.user} in (${reason})${target.password === null ? '; no password was found: '
        + 'give one in the URL, in a password file, or by PGPASSFILE' : ''}`);
    case '3D000':
      return new AppError('misconfigured', `PostgreSQL at ${target.host} has no database `
        + `${target.database}: createdb -E UTF8 ${target.database}`);
    case '53300': return new ConnectionLimitRejection(target.host, reason);
    // The package's own code, whose message names no real host.
    case 'CONNECT_TIMEOUT': return new SilentServerRejection(target.host);
    default:
      // The message of pgbouncer, whose state (a protocol violation) does not tell.
      if (/no more connections allowed/.test(reason)) {
        return new ConnectionLimitRejection(target.host, reason);
      }
      return new AppError('unavailable',
        `PostgreSQL at ${target.host} does not let us in: ${reason}`);
  }
}

function readSeverity(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'severity' in thrown
    ? thrown.severity : undefined;
}
