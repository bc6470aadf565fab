/**
 * Stored API tokens. Once a token has existed the API stays closed: revoked and expired tokens
 * remain as records, so that the end of the last one does not open the API. A record stands for
 * tokens of the settings too: the loss of an environment variable must not open it either.
 */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { parseObject } from '../base/fields.ts';
import type { Logger } from '../base/log.ts';
import { loadCrypto } from '../base/node-modules.ts';
import type { JsonObject } from '../base/schema.ts';
import type { IdSource } from '../base/uuid.ts';
import { listEntriesWith, type BoundWebhook } from '../base/webhook-binding.ts';
import type { Grant } from '../server/http-route.ts';
import type { TokenVerifier } from './token-verifier.ts';
import { followRecords } from '../resources/projection.ts';
import { createTimestamps } from '../resources/record.ts';
import type { WriteOptions } from '../resources/repository.ts';
import type {
  Change, CollectionSpec, FindRecord, Store, Transaction,
} from '../store/store-port.ts';
import { SCOPES } from './scope.ts';
import {
  TOKEN_MODEL, createGrant, decodeToken, decodeTokens, encodeToken, parseExpiry, generateToken,
  hashToken, isUsable, mayRead, toPublicToken,
} from './token.ts';
import type { Token } from './token.ts';

export const TOKENS: CollectionSpec = { name: 'tokens', key: 'identifier' };

const LAST_USE_EVERY_MS = 60_000;
/** The maximum of tokens in force. */
export const TOKENS_MAX = 1000;

export class Tokens implements TokenVerifier {
  /** Whether a token has existed: set with each change, as every request reads it. */
  isRequired = false;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #makeId: IdSource;
  readonly #log: Logger;
  readonly #byHash = new Map<string, Token>();
  /** By entry of a binding, the hashes of the tokens that have it. */
  readonly #hashesByEntry = new Map<string, Set<string>>();

  constructor(deps: { store: Store; clock: Clock; makeId: IdSource; log: Logger }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#makeId = deps.makeId;
    this.#log = deps.log;
    const collection = deps.store.collection(TOKENS.name);
    followRecords(collection, (change) => {
      // First: a record that cannot be read closes the API too.
      this.isRequired = collection.size > 0;
      this.#apply(change);
    });
  }

  /** Verifies the same tokens, and opens the API again when none of them is usable any more. */
  createAnonymousVerifier(): TokenVerifier {
    const hasUsableToken = (): boolean => this.hasUsableToken;
    return {
      get isRequired() {
        return hasUsableToken();
      },
      verify: (text) => this.verify(text),
    };
  }

  /** Records that the settings have a token, unless the API stays closed already. */
  async recordConfiguredToken(): Promise<void> {
    if (this.isRequired) return;
    const identifier = this.#makeId();
    const { createdAt, updatedAt } = createTimestamps(this.#clock.now());
    const token: Token = {
      identifier, createdAt, updatedAt, name: 'server.apiToken', scope: 'admin',
      isConfigured: true,
    };
    await this.#store.transact((transaction) => {
      transaction.put(TOKENS.name, identifier, encodeToken(token));
    });
  }

  /** Whether the token is neither revoked nor expired. `find` finds its record. */
  isInForce(find: FindRecord, identifier: string): boolean {
    const bytes = find(TOKENS.name, identifier);
    return bytes !== undefined && isUsable(decodeToken(bytes), this.#clock.now());
  }

  /** Lists the tokens in force that are bound to webhooks. */
  listBound(): readonly Token[] {
    return this.#listUsable().filter(({ webhooks }) => webhooks !== undefined);
  }

  /**
   * Lists the names of the bound tokens in force that see a webhook. An apply asks it for each: to
   * test each token for 500 of them held the server for 200 ms.
   */
  listBoundNames(webhook: BoundWebhook): readonly string[] {
    const nowMs = this.#clock.now();
    const hashes = new Set([...listEntriesWith(webhook)].flatMap((entry) =>
      [...this.#hashesByEntry.get(entry) ?? []]));
    return [...hashes].flatMap((hash) => this.#byHash.get(hash) ?? [])
      .filter((token) => isUsable(token, nowMs)).map(({ name }) => name);
  }

  /** Whether any stored token is neither revoked nor expired. */
  get hasUsableToken(): boolean {
    const nowMs = this.#clock.now();
    return [...this.#byHash.values()].some((token) => isUsable(token, nowMs));
  }

  /** Whether any of them lets its holder look at the service, which one to emit does not. */
  get hasReadingToken(): boolean {
    const nowMs = this.#clock.now();
    return [...this.#byHash.values()].some((token) => mayRead(token, nowMs));
  }

  verify(text: string): Grant | null {
    const hash = hashToken(text);
    const token = this.#byHash.get(hash);
    if (token?.hash === undefined) return null;
    if (!loadCrypto().timingSafeEqual(Buffer.from(token.hash), Buffer.from(hash))) return null;
    const nowMs = this.#clock.now();
    if (!isUsable(token, nowMs)) return null;
    this.#recordUse(token, nowMs);
    return createGrant(token);
  }

  list(isInForceAlone = false): JsonObject[] {
    const nowMs = this.#clock.now();
    return decodeTokens(this.#store.collection(TOKENS.name))
      .filter((token) => token.isConfigured !== true)
      .filter((token) => !isInForceAlone || isUsable(token, nowMs)).map(toPublicToken);
  }

  /**
   * Returns the new token and, as `token`, its text, which is not stored. With `isReplacing` the
   * tokens of its name end in the same transaction. Throws `invalid`, and `conflict` where
   * `TOKENS_MAX` are in force.
   */
  async create(
    body: unknown, options: WriteOptions & { readonly isReplacing?: boolean } = {},
  ): Promise<JsonObject> {
    const nowMs = this.#clock.now();
    const { createdAt, updatedAt } = createTimestamps(nowMs);
    const { expiresAt, name, scope, events, webhooks } = parseObject(TOKEN_MODEL, body);
    const text = generateToken();
    const token: Token = {
      identifier: this.#makeId(),
      createdAt,
      updatedAt,
      name: String(name),
      scope: SCOPES.find((name) => name === scope) ?? 'read',
      ...Array.isArray(events) ? { events: events.map(String) } : {},
      ...Array.isArray(webhooks) ? { webhooks: webhooks.map(String) } : {},
      ...expiresAt === undefined ? {} : { expiresAt: parseExpiry(String(expiresAt), nowMs) },
      hash: hashToken(text),
    };
    const usableTokens = this.#listUsable();
    const replacedTokens = options.isReplacing === true
      ? usableTokens.filter((usableToken) => usableToken.name === token.name) : [];
    if (usableTokens.length - replacedTokens.length >= TOKENS_MAX) {
      throw new AppError('conflict',
        `${TOKENS_MAX} tokens are in force already: revoke one by token:revoke`);
    }
    await this.#store.transact((transaction) => {
      for (const { identifier } of replacedTokens) {
        stageRevocation(transaction, identifier, createdAt, options);
      }
      const { bytes: after } =
        transaction.put(TOKENS.name, token.identifier, encodeToken(token));
      options.onStaged?.({
        collection: TOKENS.name, id: token.identifier, before: null, after,
      });
    });
    return { ...toPublicToken(token), token: text };
  }

  /** Makes a token invalid at once; its record stays. Throws `not_found`. */
  async revoke(identifier: string, options: WriteOptions = {}): Promise<JsonObject> {
    const now = new Date(this.#clock.now()).toISOString();
    return this.#store.transact((transaction) =>
      toPublicToken(stageRevocation(transaction, identifier, now, options)));
  }

  #listUsable(): readonly Token[] {
    const nowMs = this.#clock.now();
    return [...this.#byHash.values()].filter((token) => isUsable(token, nowMs));
  }

  #apply({ before, after }: Change): void {
    const previous = before === null ? null : decodeToken(before);
    if (previous?.hash !== undefined) {
      this.#byHash.delete(previous.hash);
      for (const entry of previous.webhooks ?? []) {
        const hashes = this.#hashesByEntry.get(entry);
        hashes?.delete(previous.hash);
        if (hashes?.size === 0) this.#hashesByEntry.delete(entry);
      }
    }
    const token = after === null ? null : decodeToken(after);
    if (token?.hash === undefined) return;
    this.#byHash.set(token.hash, token);
    for (const entry of token.webhooks ?? []) {
      const hashes = this.#hashesByEntry.get(entry) ?? new Set();
      this.#hashesByEntry.set(entry, hashes.add(token.hash));
    }
  }

  #recordUse(token: Token, nowMs: number): void {
    const lastUsedMs = token.lastUsedAt === undefined ? 0 : Date.parse(token.lastUsedAt);
    if (token.hash === undefined || nowMs - lastUsedMs < LAST_USE_EVERY_MS) return;
    const lastUsedAt = new Date(nowMs).toISOString();
    // Set before it is written, so that a burst of requests writes one record.
    this.#byHash.set(token.hash, { ...token, lastUsedAt });
    const write = this.#store.transact((transaction) => {
      const bytes = transaction.find(TOKENS.name, token.identifier);
      if (bytes === undefined) return;
      const { hash, ...current } = decodeToken(bytes);
      const usedToken = { ...current, lastUsedAt, ...hash === undefined ? {} : { hash } };
      transaction.put(TOKENS.name, token.identifier, encodeToken(usedToken));
    });
    // The use is allowed even if its time cannot be written, as on a full disk.
    write.catch((error: unknown) => {
      this.#log.warning('the last use of an API token was not recorded', {
        identifier: token.identifier, error,
      });
    });
  }
}

function stageRevocation(
  transaction: Transaction, identifier: string, now: string, { onStaged }: WriteOptions,
): Token {
  const bytes = transaction.find(TOKENS.name, identifier);
  const previousToken = bytes === undefined ? null : decodeToken(bytes);
  if (previousToken === null || previousToken.isConfigured === true) {
    throw new AppError('not_found', `there is no token ${identifier}`);
  }
  const { hash: _, ...token } = previousToken;
  const revokedToken = { ...token, updatedAt: now, revokedAt: token.revokedAt ?? now };
  const { bytes: after } = transaction.put(TOKENS.name, identifier, encodeToken(revokedToken));
  onStaged?.({ collection: TOKENS.name, id: identifier, before: bytes ?? null, after });
  return revokedToken;
}
