/**
 * Requests that come with an `Idempotency-Key`: the answer to the first one is kept with its
 * effect, in the same transaction, and a request that repeats it within a day gets that answer
 * again. A key is the caller's own: another token, or another route, may use the same one. Only
 * what was committed is kept, so a request that failed may be mended and sent again with its key.
 *
 * A kept answer is a record of the `idempotency-keys` collection, `{"identifier": <SHA-256 of
 * caller, route and key>, "createdAt", "request": <SHA-256 of the body>, "status", "headers",
 * "body"}`. Expired records are removed by transactions of their own.
 */
import type { Clock } from '../base/clock.ts';
import { formatTimestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { loadCrypto } from '../base/node-modules.ts';
import { checkMediaType, parseJsonBody } from '../server/exchange/read-body.ts';
import { announcesBody, findConsumedJson } from '../server/exchange/mounted-request.ts';
import type { Exchange, ParameterSpec } from '../server/http-route.ts';
import type { CollectionSpec, Store, Transaction } from '../store/store-port.ts';
import { ExpiringRecords, type ExpiryLimits } from './expiring-records.ts';
import { TIME_LENGTH, decodeRecordAs } from './record.ts';

export const IDEMPOTENCY_KEYS: CollectionSpec = { name: 'idempotency-keys', key: 'identifier' };

export const IDEMPOTENCY_HEADER = 'idempotency-key';
const REPLAYED_HEADER = 'Idempotency-Replayed';

export const IDEMPOTENCY_PARAMETER: ParameterSpec = {
  name: 'Idempotency-Key', in: 'header',
  description: 'Makes the request safe to repeat: with the same key and body the first answer '
    + 'comes again, for 24 hours; with another body 422, while the first is under way 409',
  schema: { kind: 'string', minLength: 1, maxLength: 255 },
};
/** For the table of a route's answers. */
export const REPLAYED_HEADERS = {
  [REPLAYED_HEADER]: '`true`: the answer of an earlier request with the same key',
};

const RETENTION_MS = 24 * 3_600_000;
/** Beyond one of these the oldest are removed before their day is over. */
const KEYS_MAX = 100_000;
const BYTES_MAX = 64 << 20;
const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

/** A request's body: its bytes, or its value where another program has parsed it before us. */
export type IdempotentBody = { readonly json: object | undefined; readonly bytes: Buffer };

type ReplayableResponse = {
  readonly status: number;
  /** Name, value, name, … */
  readonly headers: readonly string[];
  readonly body: string;
};

/** To be called in the transaction of the effect that the answer tells of. */
type StoreResponse = (transaction: Transaction, response: ReplayableResponse) => void;

type StoredResponse = ReplayableResponse & { readonly createdAt: string; readonly request: string };

export class IdempotencyKeys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #records: ExpiringRecords;
  /** Identifiers of what is being served. */
  readonly #running = new Set<string>();

  constructor(
    deps: {
      readonly store: Store; readonly clock: Clock; readonly logger: Logger;
      /** See `ExpiringRecords`. */
      readonly mayRemove?: () => boolean;
    },
    limits: ExpiryLimits = { countMax: KEYS_MAX, bytesMax: BYTES_MAX },
  ) {
    const { store, clock, logger: log } = deps;
    this.#store = store;
    this.#clock = clock;
    this.#records = new ExpiringRecords({
      store, clock, log, limits, collection: IDEMPOTENCY_KEYS.name, noun: 'idempotency keys',
      expiresAtMs: (bytes) => readCreatedAt(bytes) + RETENTION_MS,
      ...deps.mayRemove === undefined ? {} : { mayRemove: deps.mayRemove },
    });
  }

  /** From here on expired ones are removed. Commands leave that to the server. */
  start(): void {
    this.#records.start();
  }

  close(): Promise<void> {
    return this.#records.close();
  }

  /**
   * Serves a request that has the header. `work` commits the effect together with its answer; what
   * it throws is not kept. Throws `malformed` for a bad key, `conflict` while a request with that
   * key is under way, `invalid` when the key came with another body before.
   */
  async serve(
    exchange: Exchange, mediaTypes: readonly string[],
    handle: (body: IdempotentBody, remember: StoreResponse) => Promise<unknown>,
  ): Promise<void> {
    const identifier = computeIdentifier(exchange);
    if (isBodyExpected(exchange)) checkMediaType(exchange.request, mediaTypes);
    const json = findConsumedJson(exchange.request);
    const bytes = json === undefined
      ? await exchange.readBody() : Buffer.from(JSON.stringify(json));
    const request = digest(bytes);
    if (this.#running.has(identifier)) throw underWayError();
    this.#running.add(identifier);
    try {
      const stored = this.#find(identifier);
      if (stored !== null) return replay(exchange, stored, request);
      const nowMs = this.#clock.now();
      let response: ReplayableResponse | null = null;
      try {
        await handle({ json, bytes }, (transaction, stagedResponse) => {
          const previousBytes = transaction.find(IDEMPOTENCY_KEYS.name, identifier);
          if (previousBytes !== undefined && !isExpired(readCreatedAt(previousBytes),
            nowMs)) throw underWayError();
          const createdAt = formatTimestamp(nowMs);
          const record = { identifier, createdAt, request, ...stagedResponse };
          transaction.put(IDEMPOTENCY_KEYS.name, identifier, JSON.stringify(record));
          response = stagedResponse;
        });
      } catch (thrown) {
        // Another node that shares the store may have been first.
        const firstResponse = this.#find(identifier);
        if (firstResponse === null) throw thrown;
        return replay(exchange, firstResponse, request);
      }
      send(exchange, response);
    } finally {
      this.#running.delete(identifier);
    }
  }

  #find(identifier: string): StoredResponse | null {
    const bytes = this.#store.collection(IDEMPOTENCY_KEYS.name).findBytes(identifier);
    if (bytes === undefined) return null;
    const stored = decodeStoredResponse(bytes);
    return isExpired(Date.parse(stored.createdAt), this.#clock.now()) ? null : stored;
  }
}

/** The value of a JSON body. */
export function parseBody({ json, bytes }: IdempotentBody): unknown {
  return json ?? parseJsonBody(bytes);
}

/** `valueOf` of a body that may be left out. */
export function parseOptionalBody(body: IdempotentBody): unknown {
  return body.json === undefined && body.bytes.length === 0 ? {} : parseBody(body);
}

/** Of the caller's key for this route, and for what its path names. */
function computeIdentifier({ request, route, params, isControl }: Exchange): string {
  const key = String(request.headers[IDEMPOTENCY_HEADER]);
  if (!KEY_PATTERN.test(key)) {
    throw new AppError('malformed', '`Idempotency-Key` must be 1 to 255 printable characters');
  }
  const { authorization = '' } = request.headers;
  const caller = isControl ? 'control' : `token ${authorization.replace(/^Bearer +/i, '').trim()}`;
  return digest(Buffer.from([caller, route.operationId, ...params, key].join('\n')));
}

function isBodyExpected({ route, request }: Exchange): boolean {
  return route.body?.isOptional !== true || announcesBody(request);
}

function replay(exchange: Exchange, stored: StoredResponse, request: string): void {
  if (stored.request !== request) {
    throw new AppError('invalid', 'the `Idempotency-Key` came with another body before: use a new '
      + 'key for a new request');
  }
  exchange.send(stored.status, [...stored.headers, REPLAYED_HEADER, 'true'], stored.body);
}

function send(exchange: Exchange, response: ReplayableResponse | null): void {
  if (response === null) throw new TypeError(`${exchange.route.operationId} kept no answer`);
  exchange.send(response.status, response.headers, response.body);
}

function underWayError(): AppError {
  return new AppError('conflict', 'a request with this `Idempotency-Key` is still under way',
    { retryAfterS: 1 });
}

function decodeStoredResponse(bytes: Buffer): StoredResponse {
  return decodeRecordAs<StoredResponse>(bytes, ({ createdAt, request, status, headers, body }) =>
    typeof createdAt === 'string' && typeof request === 'string' && typeof status === 'number'
    && Array.isArray(headers) && typeof body === 'string');
}

// 256 bits in base64url are 43 characters.
const CREATED_AT_START = '{"identifier":"","createdAt":"'.length + 43;

/** Without parsing the record: identifiers and times have one length. */
function readCreatedAt(bytes: Buffer): number {
  return Date.parse(bytes.toString('latin1', CREATED_AT_START, CREATED_AT_START + TIME_LENGTH));
}

function isExpired(atMs: number, nowMs: number): boolean {
  return atMs <= nowMs - RETENTION_MS;
}

function digest(bytes: Buffer): string {
  return loadCrypto().createHash('sha256').update(bytes).digest('base64url');
}
