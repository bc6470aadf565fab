/**
 * From what was thrown to RFC 9457 problem documents. The only place that knows which HTTP status
 * an error has. What is not an AppError is a bug: its text goes to the log, never to the caller.
 */
import { AppError } from '../base/errors.ts';
import type { ErrorCode, FieldError } from '../base/errors.ts';
import { http } from '../base/network/modules.ts';
import type { AnswerSpec } from './route.ts';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export type Problem = {
  /** Tells apart what shares a status: `urn:hookshelf:problem:<error code>`. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The path of the request. */
  readonly instance?: string;
  readonly errors?: readonly FieldError[];
};

const STATUS: Readonly<Record<ErrorCode, number>> = {
  malformed: 400,
  usage: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  misdirected: 421,
  invalid: 422,
  too_many_requests: 429,
  internal: 500,
  damaged: 500,
  misconfigured: 500,
  unavailable: 503,
  unknown_outcome: 503,
  storage_full: 507,
};

// RFC 9110's names, where Node still has those of older RFCs.
const TITLES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The problem answers of a route, for its table of answers. */
export function problemAnswers(...statuses: readonly number[]): AnswerSpec[] {
  return statuses.map((status) =>
    ({ status, description: titleOf(status), mediaType: PROBLEM_MEDIA_TYPE }));
}

/** The problem document for anything that was thrown while serving `instance`. */
export function toProblem(thrown: unknown, instance?: string): Problem {
  const isKnown = thrown instanceof AppError;
  const code = isKnown ? thrown.code : 'internal';
  const status = STATUS[code];
  const isTold = isKnown && code !== 'internal';
  return {
    type: typeOf(code),
    title: titleOf(status),
    status,
    detail: isTold ? thrown.message : 'internal error',
    ...instance === undefined ? {} : { instance },
    ...isKnown && thrown.details.errors !== undefined ? { errors: thrown.details.errors } : {},
  };
}

/** The code that a problem's `type` stands for; null when it is none of ours. */
export function codeOfType(type: unknown): ErrorCode | null {
  const codes = Object.keys(STATUS).filter(isCode);
  return codes.find((code) => typeOf(code) === type) ?? null;
}

function typeOf(code: ErrorCode): string {
  return `urn:hookshelf:problem:${code.replaceAll('_', '-')}`;
}

function isCode(name: string): name is ErrorCode {
  return Object.hasOwn(STATUS, name);
}

/** Headers that belong to an error whatever the shape of its body, `Allow` for instance. */
export function problemHeaders(thrown: unknown): string[] {
  if (!(thrown instanceof AppError)) return [];
  const headers: string[] = [];
  const { allow, retryAfterS } = thrown.details;
  const challenge = thrown.details.challenge ?? (thrown.code === 'unauthorized' ? 'Bearer' : null);
  if (allow !== undefined) headers.push('Allow', allow.join(', '));
  if (retryAfterS !== undefined) headers.push('Retry-After', String(Math.ceil(retryAfterS)));
  if (challenge !== null) headers.push('WWW-Authenticate', challenge);
  return headers;
}

function titleOf(status: number): string {
  return TITLES[status] ?? http.STATUS_CODES[status] ?? 'Error';
}
