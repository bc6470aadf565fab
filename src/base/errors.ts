/**
 * The only error type of the program. `code` says what kind of failure it is; `server/problem.ts`
 * alone turns codes into HTTP statuses and `cli/report-error.ts` alone into exit codes. Anything
 * else that is thrown is a bug.
 */
import * as types from 'node:util/types';

export type ErrorCode =
  | 'malformed' // cannot be read at all: bad JSON, bad UTF-8, a bad query parameter
  | 'invalid' // read, but breaks a rule of the model; `details.errors` says where
  | 'usage' // the command line or the settings are wrong
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'gone' // existed once, and is not known any more
  | 'method_not_allowed'
  | 'conflict' // a duplicate key, or something that is still in use
  | 'precondition_failed'
  | 'too_large'
  | 'headers_too_large'
  | 'not_acceptable' // there is no form of the answer that the caller takes
  | 'unsupported_media_type'
  | 'misdirected'
  | 'too_many_requests'
  | 'timeout' // the sender was too slow
  | 'unavailable' // not now; `details.retryAfterS` when known
  | 'unknown_outcome' // a write that may or may not be on disk (failed fsync)
  | 'storage_full'
  | 'damaged' // acknowledged data cannot be read back
  | 'misconfigured' // the program around us keeps us from serving; the message says what to do
  | 'internal';

/** One broken rule: `pointer` is an RFC 6901 JSON Pointer into the body, `''` for all of it. */
export type FieldError = { readonly pointer: string; readonly detail: string };

export type ErrorDetails = {
  readonly errors?: readonly FieldError[];
  /** The columns of a table that cannot be read, each with what it is taken for. */
  readonly columns?: Readonly<Record<string, string>>;
  readonly retryAfterS?: number;
  /** Methods for the `Allow` header of a 405. */
  readonly allow?: readonly string[];
  /** The number of hops of a chain that ended here: see webhook-chain.ts. */
  readonly chainHops?: number;
  /** The target that the chain would have called next, without credentials. */
  readonly chainTarget?: string;
  /** The `WWW-Authenticate` header of a 401 or 403; a 401 says `Bearer` unless this is null. */
  readonly wwwAuthenticate?: string | null;
};

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'AppError';
    this.code = code;
    this.details = details;
  }
}

const TEMPORARY_CODES: readonly ErrorCode[] = ['unavailable', 'storage_full', 'unknown_outcome'];

/** Whether there is no room, or the store takes no writes, at present: a later try may succeed. */
export function isTemporary(thrown: unknown): thrown is AppError {
  return thrown instanceof AppError && TEMPORARY_CODES.includes(thrown.code);
}

/**
 * Whether a value is an error, of this realm or another: under Jest, and in every context of
 * node:vm, what Node itself throws is no instance of the `Error` seen there.
 */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown);
}

/** The `code` of a system error (`ENOSPC`, `ECONNREFUSED`, …), or undefined. */
export function systemCodeOf(thrown: unknown): string | undefined {
  const isCoded = typeof thrown === 'object' && thrown !== null && 'code' in thrown;
  return isCoded && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Whether the system refused something for want of a permission. */
export function isAccessRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(systemCodeOf(error) ?? '');
}
