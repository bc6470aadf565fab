/** A request to be diagnosed: one that somebody writes down, or one that is kept. */
import { invalid } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { parseTime } from '../../../base/time.ts';
import { notFoundError } from '../../../resources/not-found.ts';
import { MASK } from '../../http/url-credentials.ts';
import type { KeptRequest } from '../../requests/request.ts';
import type { RequestService } from '../../requests/service.ts';
import type { Decided } from '../../senders/diagnosis/decided.ts';
import { readerOf, type SignedRequest } from '../../senders/request/reader.ts';
import type { Scheme } from '../../senders/scheme/scheme.ts';
import { joinHeaders } from '../joined-headers.ts';
import type { ReadyHook } from '../receiving/hook-index.ts';
import { rawHeadersOf } from './given-headers.ts';

export type DiagnosedRequest = {
  readonly request: SignedRequest;
  readonly url: string | null;
  /** null: not known. */
  readonly client: string | null;
  /** When it came; null: now. */
  readonly atMs: number | null;
  /** What was decided when it came, where what decided it was not kept; else null. */
  readonly decided: Decided | null;
  /** null: it is not kept. */
  readonly kept: KeptRequest | null;
};

export function writtenRequest(given: JsonObject): DiagnosedRequest {
  const { url = null, client = null, at, method = 'POST', body = '' } = given;
  const rawHeaders = rawHeadersOf(given['headers']);
  return {
    request: {
      method: String(method), headers: joinHeaders(rawHeaders), rawHeaders,
      search: searchOf(String(url ?? '')), body: Buffer.from(String(body), 'base64'),
    },
    url: url === null ? null : String(url),
    client: client === null ? null : String(client),
    atMs: at === undefined ? null : parseTime(String(at)), decided: null, kept: null,
  };
}

/** Throws `not_found`, and `invalid` for a request of another webhook. */
export function storedRequest(
  requests: Pick<RequestService, 'find' | 'body'>, hook: ReadyHook, scheme: Scheme, id: string,
): DiagnosedRequest {
  const kept = requests.find(id);
  const body = requests.body(id);
  if (kept === undefined || body === null) throw notFoundError('request', id);
  if (kept.hook !== hook.identifier) {
    throw invalid([{ pointer: '/request', detail: 'is a request of another webhook' }]);
  }
  const rawHeaders = kept.headers.flat();
  const request = {
    method: kept.method, headers: joinHeaders(rawHeaders), rawHeaders, search: kept.query, body,
  };
  const search = kept.query === '' ? '' : `?${kept.query}`;
  return {
    request, kept, client: kept.client === '' ? null : kept.client,
    url: kept.host === '' ? null : `${kept.protocol}://${kept.host}${kept.path}${search}`,
    atMs: Date.parse(kept.receivedAt),
    decided: decidedFor(kept, request, scheme),
  };
}

function decidedFor(
  { verdict, bodyBytes }: KeptRequest, request: SignedRequest, scheme: Scheme,
): Decided | null {
  const { accepted, failedCheck, secret } = verdict;
  if (bodyBytes !== request.body.length) {
    return { accepted, failedCheck, secret, missing: 'the whole body was not kept' };
  }
  const signature = readerOf(scheme, request).read(scheme.signature.from);
  if (signature?.includes(MASK) !== true) return null;
  return { accepted, failedCheck, secret, missing: 'the token itself is never kept' };
}

function searchOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : url.slice(query + 1).replace(/#.*$/s, '');
}
