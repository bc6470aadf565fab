/**
 * The part of the shared HTTP client that webhooks need, and the form in which people see its
 * responses.
 */
import { systemCodeOf } from '../../base/errors.ts';
import { parseJson } from '../../base/json/parse.ts';
import { hideSecretText } from '../../base/log.ts';
import type { HttpRequest } from '../../client/http-client.ts';
import type { HttpResponse } from '../../client/http-response.ts';
import type { NetworkError } from '../../client/network-error.ts';

export type TargetResponse = Pick<HttpResponse, 'statusCode' | 'headers' | 'body'>;

/**
 * The shared client. Resolves with any status; rejects with NetworkError if there is no response.
 */
export interface HttpSender {
  request(request: HttpRequest): Promise<TargetResponse>;
}

const SHOWN_BYTES_MAX = 64 * 1024;
/** Twice what is shown of a response at most, so that no secret is cut where that ends. */
const SEARCHED_BYTES_MAX = 2 * SHOWN_BYTES_MAX;

export function isSuccessStatus(statusCode: number): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Whether the proxy failed, or we did, so that the server got no request. */
export function wasServerNotAsked({ isProxyFailure, kind }: NetworkError): boolean {
  return isProxyFailure || kind === 'busy';
}

/** The code of a network error. The message may name the target, so it is never shown. */
export function networkErrorCode(thrown: unknown): string {
  return systemCodeOf(thrown) ?? 'EUNKNOWN';
}

/** The body of a response as JSON, else as text, cut at 64 KiB; '' if it is empty. */
export function formatResponseBody(body: Buffer): unknown {
  if (body.length <= SHOWN_BYTES_MAX) {
    try {
      return parseJson(body);
    } catch {
      // Not JSON, or nested too deep to be shown: shown as text.
    }
  }
  return decodeTextStart(body, SHOWN_BYTES_MAX);
}

/**
 * The body of a response with `***` for the secrets that its request held, as some targets answer
 * with the headers that they got. No more of it is left than can be shown.
 */
export function hideSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  if (secrets.length === 0) return body;
  const text = body.toString('utf8', 0, SEARCHED_BYTES_MAX);
  const publicText = secrets.reduce(hideSecretText, text);
  return publicText === text ? body : Buffer.from(publicText, 'utf8');
}

/** At most `bytesMax` bytes of `body` as text, cut between characters. */
export function decodeTextStart(body: Buffer, bytesMax: number): string {
  if (body.length <= bytesMax) return body.toString('utf8');
  let end = bytesMax;
  // A continuation byte (10xxxxxx) belongs to the character before it.
  while (end > bytesMax - 4 && ((body[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return body.toString('utf8', 0, end);
}
