/** Calls the service's public API: the console has no other way to the service. */
import { dropBackticks, formatFieldProblem, type FieldProblem } from './field-problem.ts';
import { encodeJson, parseJsonOrText } from './json-text.ts';
import { callerSession } from './caller-session.ts';
import { appendQuery, type Query } from './screen-address.ts';

type ProblemDocument = {
  readonly status: number;
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly FieldProblem[];
  /** The columns of a table that cannot be read, each with what it is taken for. */
  readonly columns?: Readonly<Record<string, string>>;
};

/** The server answered with an error, or did not answer (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: ProblemDocument;

  constructor(problem: ProblemDocument) {
    const { status, title = `the server answered ${status}`, errors = [] } = problem;
    const { detail = title } = problem;
    super(errors.length === 0 ? detail : errors.map(formatFieldProblem).join('; '));
    this.status = problem.status;
    this.problem = problem;
  }
}

/** `status` 0: the server did not answer. */
export function hasStatus(thrown: unknown, status: number): boolean {
  return thrown instanceof ApiError && thrown.status === status;
}

/** Statuses after which the same call may succeed: a timeout, and too many requests. */
const PASSING_STATUSES = [408, 429];

/**
 * Whether the same call may succeed later: the server was away or failed, had too much to do, or
 * waits for a token, for which the sign-in dialog asks.
 */
export function mayPass(thrown: unknown): boolean {
  if (!(thrown instanceof ApiError)) return false;
  const { status } = thrown;
  return status === 0 || status === 401 || status >= 500 || PASSING_STATUSES.includes(status);
}

type JsonResponse<Body> = {
  readonly body: Body;
  readonly headers: Headers;
  /** The version of the record; '' where the response has none. */
  readonly etag: string;
};

type CallOptions = {
  readonly body?: unknown;
  /** A body that is sent as it is, in place of `body`. */
  readonly raw?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Whether the browser may answer from its cache; `no-store` by default. */
  readonly cache?: RequestCache;
};

/** The path prefix under which a reverse proxy may publish the service; mostly empty. */
export const BASE = location.pathname.replace(/\/console\/?$/, '');

/**
 * Resolves with the body of a response of status 2xx. Throws what `fetchResponse` throws, and
 * ApiError with status 0 for a response that breaks off while its body is read.
 */
export async function callApi<Body>(
  method: string, path: string, options: CallOptions = {},
): Promise<JsonResponse<Body>> {
  const response = await fetchResponse(method, path, options);
  const body = await readBody(response, options.signal);
  const { headers } = response;
  return { body: body as Body, headers, etag: headers.get('ETag') ?? '' };
}

/**
 * Resolves with a response of status 2xx, whose body is read as it comes. Throws ApiError for any
 * other, and what `sendRequest` throws.
 */
export async function fetchResponse(
  method: string, path: string, options: CallOptions,
): Promise<Response> {
  const response = await sendRequest(method, path, options);
  if (response.ok) return response;
  const body = await readBody(response, options.signal);
  throw new ApiError({ ...toProblem(body), status: response.status });
}

/** Whether the body is that of a problem. */
function isProblem(body: unknown): body is Partial<ProblemDocument> {
  return typeof body === 'object' && body !== null;
}

/**
 * The texts of a problem are for people, who need no backticks around names. A proxy before the
 * server may answer with text, or with nothing, in place of a problem.
 */
function toProblem(body: unknown): Partial<ProblemDocument> {
  if (isProblem(body)) {
    const { detail, errors } = body;
    return {
      ...body,
      ...detail === undefined ? {} : { detail: dropBackticks(detail) },
      ...errors === undefined ? {} : { errors: errors.map((error) =>
        ({ ...error, detail: dropBackticks(error.detail) })) },
    };
  }
  return typeof body === 'string' && body !== '' ? { detail: body.slice(0, 300) } : {};
}

export async function getJson<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  return (await callApi<Body>('GET', path, { signal })).body;
}

/**
 * Resolves with the raw response, for streams and files. A 401 also opens the sign-in dialog above
 * the screen, whose inputs stay, unless the user has given another token meanwhile. Throws ApiError
 * (status 0) when the server cannot be reached, and the AbortError of `fetch` once `signal` is
 * aborted.
 */
export async function sendRequest(
  method: string, path: string, options: CallOptions = {},
): Promise<Response> {
  const { body, raw, headers = {}, signal, cache = 'no-store' } = options;
  const { token } = callerSession;
  const allHeaders = new Headers(headers);
  if (token !== null) allHeaders.set('Authorization', `Bearer ${token}`);
  if (body !== undefined && !allHeaders.has('Content-Type')) {
    allHeaders.set('Content-Type', 'application/json');
  }
  let response: Response;
  try {
    response = await fetch(BASE + path, {
      method, headers: allHeaders, cache, credentials: 'omit',
      body: raw ?? (body === undefined ? null : encodeJson(body)),
      signal: signal ?? null,
    });
  } catch (thrown) {
    throw toConnectionError(thrown, signal);
  }
  callerSession.setOnline(true);
  if (response.status === 401 && callerSession.token === token) callerSession.onRefused();
  return response;
}

/** Notes that the server is away, unless it was the caller who has ended the call. */
function toConnectionError(thrown: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return thrown;
  callerSession.setOnline(false);
  return new ApiError({ status: 0, detail: 'the server cannot be reached' });
}

/** The body as JSON where it is, else as text. */
async function readBody(
  response: Response, signal: AbortSignal | undefined,
): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (thrown) {
    throw toConnectionError(thrown, signal);
  }
  return /\bjson\b/.test(response.headers.get('Content-Type') ?? '') ? parseJsonOrText(text) : text;
}

export type ApiPage<Item> = {
  readonly items: readonly Item[];
  /** The path of the next page; null at the end. */
  readonly next: string | null;
  /** The number of items on all pages; null where the server does not say. */
  readonly total: number | null;
  /** The time that a search has come back to; null: it is complete, or the list is no search. */
  readonly searchedUntil: string | null;
  readonly headers: Headers;
};

/** Fetches one page of a list. `path` has its query, or is `next` of the page before. */
export async function getPage<Item>(path: string, signal?: AbortSignal): Promise<ApiPage<Item>> {
  const { body, headers } = await callApi<readonly Item[]>('GET', path, { signal });
  const total = headers.get('X-Total-Count');
  return {
    items: body, next: parseNextLink(path, headers.get('Link')),
    total: total === null ? null : +total, searchedUntil: headers.get('X-Search-Until'), headers,
  };
}

export async function countItems(
  path: string, query: Query, signal?: AbortSignal,
): Promise<number> {
  const { total } = await getPage(appendQuery(path, { ...query, limit: '1' }), signal);
  return total ?? 0;
}

/** Only the query of the link is used: its path may be one that only a reverse proxy knows. */
function parseNextLink(path: string, links: string | null): string | null {
  const target = /<([^<>]*)>;\s*rel="next"/.exec(links ?? '')?.[1];
  if (target === undefined) return null;
  return path.replace(/\?.*/, '') + new URL(target, location.href).search;
}

/** The signals of calls of which the latest alone counts: a new call aborts the one before. */
export class LatestCall {
  #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): AbortSignal {
    this.abort();
    this.#controller = new AbortController();
    return this.signal;
  }

  abort(): void {
    this.#controller.abort();
  }
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
