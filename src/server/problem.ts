/**
 * Converts thrown errors to error responses, and problem documents (RFC 9457) back to errors. No
 * other file knows which HTTP status an error code has. Anything thrown that is no AppError is a
 * bug: its text never reaches the caller.
 */
import { CHAIN_REFUSED } from '../base/webhook-chain.ts';
import { AppError } from '../base/errors.ts';
import type { ErrorCode, FieldError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import { http } from '../base/node-modules.ts';
import { listNamesOnce } from '../base/text/error-message.ts';
import { escapeControls } from '../base/text/printable.ts';
import type { ResponseSpec, ErrorFormat } from './http-route.ts';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export type Problem = {
  /** `urn:hookshelf:problem:<error code>`: several codes share a status. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The path of the request. */
  readonly instance?: string;
  readonly errors?: readonly FieldError[];
  /** The columns of a table that cannot be read, each with what it is taken for. */
  readonly columns?: Readonly<Record<string, string>>;
};

const STATUS: Readonly<Record<ErrorCode, number>> = {
  malformed: 400,
  usage: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  timeout: 408,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  headers_too_large: 431,
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

// RFC 9110 has renamed these two, and Node has not.
const TITLES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

const ERRORS_SHOWN_MAX = 20;

/** The error responses of a route, for its table of responses. */
export function problemResponses(...statuses: readonly number[]): ResponseSpec[] {
  return statuses.map((status) =>
    ({ status, description: formatTitle(status), mediaType: PROBLEM_MEDIA_TYPE }));
}

type ErrorResponse = {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
};

/** The response to anything that was thrown while a route served the path `instance`. */
export function createErrorResponse(
  thrown: unknown, instance: string, format: ErrorFormat | undefined,
): ErrorResponse {
  const problem = toProblem(thrown, instance);
  const { mediaType = PROBLEM_MEDIA_TYPE } = format ?? {};
  return {
    status: problem.status,
    headers: ['Content-Type', mediaType, ...errorHeaders(thrown)],
    body: format?.encode(readCode(thrown), problem.detail) ?? JSON.stringify(problem),
  };
}

/** The error for all that such a token may not use, whether or not it exists. */
export function boundTokenError(): AppError {
  return new AppError('forbidden', 'this token may see some webhooks, their deliveries and events, '
    + 'and nothing else: GET /api/access names them',
    { wwwAuthenticate: 'Bearer error="insufficient_scope"' });
}

export function findStatus(code: ErrorCode): number {
  return STATUS[code];
}

/** The problem document for anything that was thrown while the path `instance` was served. */
export function toProblem(thrown: unknown, instance?: string): Problem {
  const code = readCode(thrown);
  const status = STATUS[code];
  const isAppError = thrown instanceof AppError;
  const isPublic = isAppError && code !== 'internal';
  return {
    type: problemType(code),
    title: formatTitle(status),
    status,
    detail: isPublic ? thrown.message : 'internal error',
    ...instance === undefined ? {} : { instance },
    ...isAppError ? listFieldErrors(thrown, status) : {},
    ...isAppError && thrown.details.columns !== undefined
      ? { columns: thrown.details.columns } : {},
  };
}

/** A 422 always lists errors: the pointer '' blames the whole body where no member is at fault. */
function listFieldErrors(
  { message, details: { errors } }: AppError, status: number,
): { readonly errors?: readonly FieldError[] } {
  if (errors !== undefined) return { errors };
  return status === STATUS.invalid ? { errors: [{ pointer: '', detail: message }] } : {};
}

/**
 * The error that a response with a status of at least 400 stands for. `document` is its parsed
 * body. The error's message lists the broken rules, fit for a terminal.
 */
export function parseProblem(
  status: number, document: unknown, retryAfter: string | undefined,
): AppError {
  const problem = isJsonObject(document) ? document : {};
  const errors = Array.isArray(problem['errors']) ? problem['errors'].flatMap(parseFieldError) : [];
  const detail = typeof problem['detail'] === 'string' ? problem['detail'] : `status ${status}`;
  const retryAfterS = Number(retryAfter ?? NaN);
  const code = Object.keys(STATUS).filter(isCode)
    .find((known) => problemType(known) === problem['type']);
  return new AppError(code ?? 'internal', errors.length > 0 ? formatFieldErrors(errors) : detail,
    { errors, ...Number.isFinite(retryAfterS) ? { retryAfterS } : {} });
}

function parseFieldError(entry: unknown): FieldError[] {
  if (!isJsonObject(entry)) return [];
  const { pointer, detail } = entry;
  return typeof pointer === 'string' && typeof detail === 'string' ? [{ pointer, detail }] : [];
}

/** All broken rules in one line, fit for a terminal. */
export function formatFieldErrors(errors: readonly FieldError[]): string {
  const lines = listNamesOnce(errors.slice(0, ERRORS_SHOWN_MAX).map(({ pointer, detail }) =>
    escapeControls(pointer === '' ? detail : `${pointer}: ${detail}`)));
  const rest = errors.length - lines.length;
  return lines.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function readCode(thrown: unknown): ErrorCode {
  return thrown instanceof AppError ? thrown.code : 'internal';
}

function problemType(code: ErrorCode): string {
  return `urn:hookshelf:problem:${code.replaceAll('_', '-')}`;
}

function isCode(name: string): name is ErrorCode {
  return Object.hasOwn(STATUS, name);
}

/** Headers that an error has in every format, such as `Allow`. */
function errorHeaders(thrown: unknown): string[] {
  if (!(thrown instanceof AppError)) return [];
  const headers: string[] = [];
  const { allow, retryAfterS, chainHops } = thrown.details;
  const usual = thrown.code === 'unauthorized' ? 'Bearer' : null;
  const { wwwAuthenticate = usual } = thrown.details;
  if (thrown.code === 'not_acceptable') headers.push('Vary', 'Accept');
  if (allow !== undefined) headers.push('Allow', allow.join(', '));
  if (retryAfterS !== undefined) headers.push('Retry-After', String(Math.ceil(retryAfterS)));
  if (wwwAuthenticate !== null) headers.push('WWW-Authenticate', wwwAuthenticate);
  if (chainHops !== undefined) headers.push('X-Hookshelf-Chain', CHAIN_REFUSED);
  return headers;
}

function formatTitle(status: number): string {
  return TITLES[status] ?? http.STATUS_CODES[status] ?? 'Error';
}
