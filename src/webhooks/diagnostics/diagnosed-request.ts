/** A request to be diagnosed: a person describes it, or it is a stored request. */
import { MASK } from '../../base/log.ts';
import type { FieldError } from '../../base/errors.ts';
import { invalid, pointerStep } from '../../base/fields.ts';
import type { JsonObject } from '../../base/schema.ts';
import { parseTime } from '../../base/time.ts';
import { notFoundError } from '../../resources/not-found.ts';
import type { StoredRequest } from '../incoming/stored-request.ts';
import type { RequestService } from '../inbox/request-service.ts';
import type { RecordedVerdict } from '../senders/diagnosis/diagnose.ts';
import { createRequestReader, type RawRequest } from '../senders/request/request-reader.ts';
import type { Scheme } from '../senders/scheme/scheme.ts';
import { joinHeaders } from '../incoming/join-headers.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';

export type DiagnosedRequest = {
  readonly request: RawRequest;
  readonly url: string | null;
  readonly client: string | null;
  /** null: the request comes now. */
  readonly atMs: number | null;
  /** The verdict of that time, if the request was not stored whole; null: it is judged again. */
  readonly recordedVerdict: RecordedVerdict | null;
  /** null: a person described the request. */
  readonly storedRequest: StoredRequest | null;
};

export function parseDescribedRequest(
  { bodyReading: { plainBytesMax } }: ReadyIncomingWebhook, input: JsonObject,
): DiagnosedRequest {
  const { url = null, client = null, at, method = 'POST', body = '' } = input;
  const rawHeaders = parseRawHeaders(input['headers']);
  return {
    request: {
      method: String(method), headers: joinHeaders(rawHeaders), rawHeaders,
      search: parseSearch(String(url ?? '')), body: Buffer.from(String(body), 'base64'),
      plainBytesMax,
    },
    url: url === null ? null : String(url),
    client: client === null ? null : String(client),
    atMs: at === undefined ? null : parseTime(String(at)), recordedVerdict: null,
    storedRequest: null,
  };
}

/** Returns names and values in turn. Throws `invalid`. */
export function parseRawHeaders(headers: unknown): string[] {
  const errors: FieldError[] = [];
  const raw = Object.entries(headers ?? {}).flatMap(([name, value]: [string, unknown]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.every((one) => typeof one === 'string')) {
      return values.flatMap((one) => [name, String(one).trim()]);
    }
    errors.push({
      pointer: `/headers${pointerStep(name)}`, detail: 'must be a string, or an array of strings',
    });
    return [];
  });
  if (errors.length > 0) throw invalid(errors);
  return raw;
}

/** Throws `not_found`, and `invalid` for a request of another webhook. */
export function loadStoredRequest(
  requests: Pick<RequestService, 'find' | 'findBody'>, webhook: ReadyIncomingWebhook,
  scheme: Scheme, id: string,
): DiagnosedRequest {
  const storedRequest = requests.find(id);
  const body = requests.findBody(id);
  if (storedRequest === undefined || body === null) throw notFoundError('request', id);
  if (storedRequest.hook !== webhook.identifier) {
    throw invalid([{ pointer: '/request', detail: 'is a request of another webhook' }]);
  }
  const rawHeaders = storedRequest.headers.flat();
  const { method, query, client, protocol, host, path } = storedRequest;
  const request = {
    method, headers: joinHeaders(rawHeaders), rawHeaders, search: query, body,
    plainBytesMax: webhook.bodyReading.plainBytesMax,
  };
  const search = query === '' ? '' : `?${query}`;
  return {
    request, storedRequest, client: client === '' ? null : client,
    url: host === '' ? null : `${protocol}://${host}${path}${search}`,
    atMs: Date.parse(storedRequest.receivedAt),
    recordedVerdict: findRecordedVerdict(storedRequest, request, scheme),
  };
}

function findRecordedVerdict(
  { verdict, bodyBytes }: StoredRequest, request: RawRequest, scheme: Scheme,
): RecordedVerdict | null {
  const { accepted, failedCheck, secret } = verdict;
  if (bodyBytes !== request.body.length) {
    return { accepted, failedCheck, secret, missingEvidence: 'the whole body was not kept' };
  }
  const signature = createRequestReader(scheme, request).read(scheme.signature.from);
  if (signature?.includes(MASK) !== true) return null;
  return { accepted, failedCheck, secret, missingEvidence: 'the token itself is never kept' };
}

function parseSearch(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : url.slice(query + 1).replace(/#.*$/s, '');
}
