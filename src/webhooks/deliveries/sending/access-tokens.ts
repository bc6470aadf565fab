/**
 * The access tokens of outgoing webhooks with `oauth2`. Each webhook has one, in memory alone, and
 * asks for it once, however many attempts wait for it. A change of the webhook begins with none, as
 * the change may be of the credentials.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { HttpSender } from '../../members/http-sender.ts';
import type { Oauth2 } from '../../outgoing/oauth2-member.ts';
import { requestToken } from './token-request.ts';

/** The token of one webhook. */
type TokenSlot = {
  /** null: there is none that can be used. */
  token: string | null;
  /** On the monotonic clock. */
  usableUntilMs: number;
  /** The request for a token that is under way. */
  pendingToken: Promise<string> | null;
  /** Why the server gave no token when it was last asked; null: it gave one, or was not reached. */
  refusal: AppError | null;
  /** The server is not asked again before, on the monotonic clock. */
  refusedUntilMs: number;
};

/** A token is not used so shortly before its end, as the target may take a while to look at it. */
const MARGIN_MS = 60_000;
/** A server that asks for more patience is asked once an hour: its administrator may mend it. */
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
   * Resolves with a token. Throws as `requestToken` does. A refusal is thrown to all who come
   * before the server may be asked again: each of many pending deliveries would ask it in vain.
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

  /** Forgets a token that the target has refused, unless a newer one is there already. */
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

  async #request(
    oauth2: Oauth2, slot: TokenSlot, timeoutMs: number | undefined,
  ): Promise<string> {
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
