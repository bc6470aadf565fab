/**
 * The access tokens of outgoing webhooks with `oauth2`, asked for by client credentials (RFC 6749
 * §4.4). Each webhook has one token, in memory alone, and asks for it once, however many attempts
 * wait. A change of the webhook begins without a token, as it may be a change of the credentials.
 * The server's text about a failure is never shown, as it may repeat the secret; of its error codes
 * only registered ones are shown.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import {
  isSuccessStatus, wasServerNotAsked, type HttpSender, type TargetResponse,
} from '../../members/http-sender.ts';
import type { Oauth2 } from '../../outgoing/oauth2-member.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { parseJson } from '../../../base/json/parse.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { NetworkError } from '../../../client/network-error.ts';
import { parseRetryAfter } from '../../../client/policy/retry.ts';

/** The token of one webhook. Times are on the monotonic clock. */
type TokenSlot = {
  token: string | null;
  usableUntilMs: number;
  pendingToken: Promise<string> | null;
  /** Why the server gave no token last time; null: it gave one, or was not reached. */
  refusal: AppError | null;
  refusedUntilMs: number;
};

/** A token is not used so shortly before its end: the target may take a while to look at it. */
const MARGIN_MS = 60_000;
/** The longest wait for a server that asks for patience: its administrator may mend it. */
const REFUSAL_MS_MAX = 3_600_000;

export class AccessTokens {
  readonly #http: HttpSender;
  readonly #clock: Clock;
  // The credentials are an object of one version of one webhook.
  readonly #slots = new WeakMap<Oauth2, TokenSlot>();

  constructor(http: HttpSender, clock: Clock) {
    this.#http = http;
    this.#clock = clock;
  }

  /**
   * Resolves with a token. Throws as `requestToken` does. A refusal is thrown to all callers until
   * the server may be asked again: each of many pending deliveries would ask in vain.
   */
  get(oauth2: Oauth2, timeoutMs: number | undefined): Promise<string> {
    const slot = this.#findSlot(oauth2);
    const { token, refusal } = slot;
    const nowMs = this.#clock.monotonicMs();
    if (token !== null && nowMs < slot.usableUntilMs) return Promise.resolve(token);
    if (refusal !== null && nowMs < slot.refusedUntilMs) {
      return Promise.reject(new AppError(refusal.code, refusal.message,
        { retryAfterS: (slot.refusedUntilMs - nowMs) / 1000 }, refusal));
    }
    slot.pendingToken ??= this.#request(oauth2, slot, timeoutMs);
    return slot.pendingToken;
  }

  /** Forgets a token that the target has refused, unless there is a newer token. */
  drop(oauth2: Oauth2, token: string): void {
    const slot = this.#findSlot(oauth2);
    if (slot.token === token) slot.token = null;
  }

  #findSlot(oauth2: Oauth2): TokenSlot {
    const existingSlot = this.#slots.get(oauth2);
    if (existingSlot !== undefined) return existingSlot;
    const slot = {
      token: null, usableUntilMs: 0, pendingToken: null, refusal: null, refusedUntilMs: 0,
    };
    this.#slots.set(oauth2, slot);
    return slot;
  }

  async #request(oauth2: Oauth2, slot: TokenSlot, timeoutMs: number | undefined): Promise<string> {
    const askedMs = this.#clock.monotonicMs();
    try {
      const { text, lifeMs } = await requestToken(this.#http, this.#clock, oauth2, timeoutMs);
      slot.token = text;
      slot.refusal = null;
      slot.usableUntilMs = lifeMs === null ? Infinity
        : askedMs + lifeMs - Math.min(MARGIN_MS, lifeMs / 2);
      return text;
    } catch (thrown) {
      const { retryAfterS } = thrown instanceof AppError ? thrown.details : {};
      if (thrown instanceof AppError && retryAfterS !== undefined) {
        slot.refusal = thrown;
        slot.refusedUntilMs = this.#clock.monotonicMs()
          + Math.min(retryAfterS * 1000, REFUSAL_MS_MAX);
      }
      throw thrown;
    } finally {
      slot.pendingToken = null;
    }
  }
}

type AccessToken = {
  readonly text: string;
  /** How long the token is valid from when it was asked for; null: the server did not say. */
  readonly lifeMs: number | null;
};

const RESPONSE_BYTES_MAX = 64 * 1024;
const TIMEOUT_MS_MAX = 30_000;
const RETRY_AFTER_MS_MIN = 2000;
/** The characters that a header can carry (RFC 6750 §2.1, and what servers make beyond it). */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,16384}$/;
/** RFC 6749 §5.2, and further registered codes of token endpoints. */
const ERROR_CODES = [
  'invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client',
  'unsupported_grant_type', 'invalid_scope', 'invalid_target', 'access_denied', 'server_error',
  'temporarily_unavailable',
];

/**
 * Resolves with a token. Throws `unavailable` with the problem, and with when to ask again if the
 * server has answered; and NetworkError where the server was not asked, as the proxy failed or our
 * client is busy or closed. `timeoutMs` limits the whole request; undefined: the limit of the
 * client does.
 */
async function requestToken(
  http: HttpSender, clock: Clock, oauth2: Oauth2, timeoutMs: number | undefined,
): Promise<AccessToken> {
  const limitMs = timeoutMs === undefined ? undefined : Math.min(timeoutMs, TIMEOUT_MS_MAX);
  const { headers, body } = encodeTokenRequest(oauth2);
  let response: TargetResponse;
  try {
    response = await http.request({
      method: 'POST', url: oauth2.tokenUrl, headers, body, retries: 0,
      timeoutMs: limitMs, totalTimeoutMs: limitMs,
    });
  } catch (thrown) {
    if (!(thrown instanceof NetworkError) || thrown.kind === 'canceled') throw thrown;
    if (wasServerNotAsked(thrown)) throw thrown;
    throw new AppError('unavailable', describeNetworkError(thrown), {}, thrown);
  }
  if (isSuccessStatus(response.statusCode)) return parseToken(response);
  const waitMs = parseRetryAfter(response.headers['retry-after'], clock.now()) ?? 0;
  throw refused(describeRefusal(response), Math.max(waitMs, RETRY_AFTER_MS_MIN));
}

function refused(reason: string, waitMs: number, cause?: unknown): AppError {
  return new AppError('unavailable', reason, { retryAfterS: waitMs / 1000 }, cause);
}

function encodeTokenRequest(oauth2: Oauth2): {
  readonly headers: Readonly<Record<string, string>>; readonly body: string;
} {
  const { clientId, clientSecret, scope, audience, clientAuthentication } = oauth2;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) body.set('scope', scope);
  if (audience !== undefined) body.set('audience', audience);
  const headers = {
    accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded',
  };
  if (clientAuthentication === 'body') {
    body.set('client_id', clientId);
    body.set('client_secret', clientSecret);
    return { headers, body: body.toString() };
  }
  const credentials = `${encodeFormText(clientId)}:${encodeFormText(clientSecret)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { headers: { ...headers, authorization }, body: body.toString() };
}

/** RFC 6749 §2.3.1 wants the credentials encoded as a form in the header, too. */
function encodeFormText(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice('='.length);
}

function parseToken({ body }: TargetResponse): AccessToken {
  const { access_token: text, token_type: type, expires_in: life } = parseMembers(body);
  if (typeof text !== 'string' || !TOKEN_PATTERN.test(text)) {
    throw unusable(text === undefined ? 'has no access_token'
      : 'has an access_token that no header can carry');
  }
  // Servers that leave the type out mean Bearer: no other is in use.
  if (type !== undefined && !(typeof type === 'string' && type.toLowerCase() === 'bearer')) {
    throw unusable('has a token of another type than Bearer');
  }
  const lifeS = typeof life === 'string' && life.trim() !== '' ? Number(life) : life;
  const hasLife = typeof lifeS === 'number' && Number.isFinite(lifeS);
  return { text, lifeMs: hasLife ? Math.max(0, lifeS) * 1000 : null };
}

function parseMembers(body: Buffer): JsonObject {
  if (body.length > RESPONSE_BYTES_MAX) {
    throw unusable(`is longer than ${RESPONSE_BYTES_MAX / 1024} KiB`);
  }
  let value: unknown;
  try {
    value = parseJson(body);
  } catch (thrown) {
    // The message of the parser may quote a part of the token.
    throw unusable('is not JSON', thrown);
  }
  if (!isJsonObject(value)) throw unusable('is no JSON object');
  return value;
}

function unusable(problem: string, cause?: unknown): AppError {
  return refused(`the token server's answer ${problem}`, RETRY_AFTER_MS_MIN, cause);
}

function describeRefusal({ statusCode, body }: TargetResponse): string {
  if (statusCode >= 300 && statusCode <= 399) {
    return `the token server answered ${statusCode}, a redirect, which is not followed: tokenUrl `
      + 'must be the URL that it leads to';
  }
  const code = findErrorCode(body);
  return `the token server answered ${statusCode}${code === null ? '' : `: ${code}`}`;
}

function findErrorCode(body: Buffer): string | null {
  try {
    const { error } = parseMembers(body);
    return ERROR_CODES.find((code) => code === error) ?? null;
  } catch {
    // Many servers answer errors with a page: the status says enough.
    return null;
  }
}

function describeNetworkError({ kind, code, timeoutMs }: NetworkError): string {
  if (kind === 'denied') {
    return 'the token URL leads to an address on the list http.denyAddresses';
  }
  if (kind === 'certificate') return `the certificate of the token server was refused (${code})`;
  return timeoutMs === null ? `the token server could not be reached: ${code}`
    : `the token server gave no answer within ${Math.round(timeoutMs) / 1000} s`;
}
