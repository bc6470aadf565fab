/**
 * Sends a request, with an access token (RFC 6750 §2.1) if the webhook has `oauth2`. A request that
 * the target refuses with 401 is sent again at once with a new token: the first may have been
 * revoked.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import type { HttpRequest } from '../../../client/http-client.ts';
import { canceledError, NetworkError } from '../../../client/network-error.ts';
import { unlessCutOff } from '../../work/ownership.ts';
import type { HttpSender, TargetResponse } from '../../members/http-sender.ts';
import type { Oauth2 } from '../../outgoing/oauth2-member.ts';
import { AccessTokens } from './access-tokens.ts';

export type AuthorizedResponse = TargetResponse & {
  /** The token of the request, which the target may repeat: see `hideSecrets`. */
  readonly accessToken?: string;
  readonly tokenError?: string;
};

const UNAUTHORIZED = 401;
/** With less of its time left a target is not asked: it would be blamed for the timeout. */
const TARGET_SHARE_MIN = 0.1;

export class AuthorizedSender {
  readonly #http: HttpSender;
  readonly #clock: Clock;
  readonly #tokens: AccessTokens;

  constructor(http: HttpSender, clock: Clock) {
    this.#http = http;
    this.#clock = clock;
    this.#tokens = new AccessTokens(http, clock);
  }

  /**
   * The target must answer, also to the second request, within the time limit of the request, which
   * begins before the first token is asked for. A request for a token has its own limit of that
   * length, as others may wait for it. Throws `unavailable` when there is no token in time, so that
   * the target was not asked, and NetworkError.
   */
  async send(oauth2: Oauth2 | undefined, request: HttpRequest): Promise<AuthorizedResponse> {
    if (oauth2 === undefined) return this.#http.request(request);
    const startedMs = this.#clock.monotonicMs();
    const send = async (accessToken: string): Promise<AuthorizedResponse> => {
      const headers = { ...request.headers, authorization: `Bearer ${accessToken}` };
      const limits = limitTime(this.#clock, request, startedMs);
      const response = await this.#http.request({ ...request, ...limits, headers });
      const { statusCode, body } = response;
      return { statusCode, headers: response.headers, body, accessToken };
    };
    const token = await this.#getToken(oauth2, request, startedMs);
    const response = await send(token);
    if (response.statusCode !== UNAUTHORIZED) return response;
    this.#tokens.drop(oauth2, token);
    let newToken: string;
    try {
      newToken = await this.#getToken(oauth2, request, startedMs);
    } catch (thrown) {
      if (request.signal?.aborted === true) throw thrown;
      if (!(thrown instanceof AppError) && !(thrown instanceof NetworkError)) throw thrown;
      return { ...response, tokenError: `no new token: ${messageOf(thrown)}` };
    }
    const secondResponse = await send(newToken);
    if (secondResponse.statusCode === UNAUTHORIZED) this.#tokens.drop(oauth2, newToken);
    return secondResponse;
  }

  /** Throws `unavailable` also for a token so late that the target could hardly answer. */
  async #getToken(oauth2: Oauth2, request: HttpRequest, startedMs: number): Promise<string> {
    const { timeoutMs, totalTimeoutMs, signal } = request;
    const pendingToken = this.#tokens.get(oauth2, timeoutMs);
    // The request for a token goes on: others may wait for it.
    const token = signal === undefined ? await pendingToken
      : await unlessCutOff(pendingToken, signal);
    if (token === null) throw canceledError('the request was canceled', signal?.reason);
    const limitMs = Math.min(timeoutMs ?? Infinity, totalTimeoutMs ?? Infinity);
    if (limitMs - (this.#clock.monotonicMs() - startedMs) < limitMs * TARGET_SHARE_MIN) {
      throw new AppError('unavailable', 'the access token came too late: of the time limit too '
        + 'little was left for the target');
    }
    return token;
  }
}

/** The rest of each time limit that a request has. */
function limitTime(
  clock: Clock, { timeoutMs, totalTimeoutMs }: HttpRequest, startedMs: number,
): Pick<HttpRequest, 'timeoutMs' | 'totalTimeoutMs'> {
  const elapsedMs = clock.monotonicMs() - startedMs;
  const shorten = (limitMs: number | undefined): number | undefined =>
    limitMs === undefined ? undefined : Math.max(1, limitMs - elapsedMs);
  return { timeoutMs: shorten(timeoutMs), totalTimeoutMs: shorten(totalTimeoutMs) };
}
