/**
 * The part of the shared HTTP client that webhooks need, and the form in which people see its
 * responses.
 */
import { systemCodeOf } from '../../base/errors.ts';
import { parseJson } from '../../base/json/parse.ts';
import { hideSecretText, isSecretName } from '../../base/log.ts';
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

/** Kept of a response in the record of an attempt. */
export const RESPONSE_BYTES_MAX = 1024;
/** Shown of a response where a webhook is sent by hand. */
export const SHOWN_BYTES_MAX = 64 * 1024;
/** Escapes, as `\\u0061` within JSON within JSON, lengthen a secret by no more than this. */
const ESCAPED_LENGTH_FACTOR = 16;
/** Shorter values may stand in any text. */
export const SECRET_LENGTH_MIN = 6;
/** A scheme and its token (RFC 9110 §11.4). */
const AUTHORIZATION = /^[a-z]+ +(\S+)$/i;

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
 * with the headers that they got. Of a long body only the start is searched, and only that is left:
 * mostly `shownBytesMax`, and less where secrets take much of it.
 */
export function hideSecrets(
  body: Buffer, secrets: readonly string[], shownBytesMax: number,
): Buffer {
  if (secrets.length === 0) return body;
  const longestBytes = Math.max(...secrets.map((secret) => Buffer.byteLength(secret)));
  const marginBytes = longestBytes * ESCAPED_LENGTH_FACTOR;
  // Twice what is shown, as the secrets in it become shorter.
  const searchedBytes = 2 * shownBytesMax + marginBytes;
  const text = secrets.reduce(hideSecretText, body.toString('utf8', 0, searchedBytes));
  // The end of a text that was cut may be the beginning of a secret.
  const isCut = body.length > searchedBytes;
  return Buffer.from(isCut ? text.slice(0, Math.max(0, text.length - marginBytes)) : text, 'utf8');
}

/** The values of headers with secret-like names; of `Bearer <token>` and the like the token. */
export function listHeaderSecrets(
  headers: Readonly<Record<string, string | readonly string[]>>,
): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value]) => [value].flat())
    .map((value) => AUTHORIZATION.exec(value)?.[1] ?? value)
    .filter((value) => value.length >= SECRET_LENGTH_MIN);
}

/** At most `bytesMax` bytes of `body` as text, cut between characters. */
export function decodeTextStart(body: Buffer, bytesMax: number): string {
  if (body.length <= bytesMax) return body.toString('utf8');
  let end = bytesMax;
  // A continuation byte (10xxxxxx) belongs to the character before it.
  while (end > bytesMax - 4 && ((body[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return body.toString('utf8', 0, end);
}
