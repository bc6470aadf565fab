/**
 * Requests with an `Idempotency-Key`. The response to the first request is stored in the
 * transaction of its effect, and a request that repeats it within a day gets the stored response. A
 * key belongs to its caller and route: another token, or route, may use the same key. Only
 * committed effects are stored, so that a request that failed may be corrected and sent again with
 * its key.
 *
 * A stored response is a record of the collection `idempotency-keys`: `{"identifier": <SHA-256 of
 * caller, route and key>, "createdAt", "request": <SHA-256 of the body>, "status", "headers",
 * "body"}`. Expired records are removed in transactions of their own.
 */
import { formatTimestamp, type Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { loadCrypto } from '../base/node-modules.ts';
import { parseJsonBody } from '../server/exchange/read-body.ts';
import { parseHeaderText } from '../server/exchange/header-text.ts';
import type { Exchange, HeaderList, HeaderText, ParameterSpec } from '../server/http-route.ts';
import type { CollectionSpec, Store, Transaction } from '../store/store-port.ts';
import {
  ExpiringRecords, type ExpiringRecordsDeps, type ExpiryLimits,
} from './expiring-records.ts';
import { TIME_LENGTH, decodeRecordAs } from './record.ts';
import { JSON_TYPE } from './route-specs.ts';

export const IDEMPOTENCY_KEYS: CollectionSpec = { name: 'idempotency-keys', key: 'identifier' };

const IDEMPOTENCY_HEADER = 'idempotency-key';
const REPLAYED_HEADER = 'Idempotency-Replayed';

export const IDEMPOTENCY_PARAMETER: ParameterSpec = {
  name: 'Idempotency-Key', in: 'header',
  description: 'Makes the request safe to repeat: with the same key and body the first answer '
    + 'comes again, for 24 hours; with another body 422, while the first is under way 409',
  schema: { kind: 'string', minLength: 1, maxLength: 255 },
};
/** Headers of a response, for a route's table of responses. */
export const REPLAYED_HEADERS = {
  [REPLAYED_HEADER]: '`true`: the answer of an earlier request with the same key',
};

const RETENTION_MS = 24 * 3_600_000;
/** Beyond either limit the oldest records are removed before their day is over. */
const KEYS_MAX = 100_000;
const BYTES_MAX = 64 << 20;
const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

type IdempotentResponse = {
  readonly status: number;
  readonly headers: HeaderList | HeaderText;
  readonly body: Buffer | string;
};

/**
 * Puts the response aside; it is sent once the effect is committed. To be called in the transaction
 * of the effect, in which a response to a request with a key is stored; with null for no effect.
 */
type KeepResponse = (transaction: Transaction | null, response: IdempotentResponse) => void;

/** Commits the effect of a request; calls `keepResponse` once for each run of its transaction. */
type IdempotentHandler = (body: Buffer, keepResponse: KeepResponse) => Promise<unknown>;

/** A JSON response that is 202: what the request asks for is on disk, and goes on later. */
export function acceptedResponse(json: string, headers: HeaderList = []): IdempotentResponse {
  return { status: 202, headers: ['Content-Type', JSON_TYPE, ...headers], body: json };
}

type StoredResponse = {
  readonly createdAt: string;
  /** Hash of the request's body. */
  readonly request: string;
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
};

/**
 * Serves a write with a JSON body whose client may repeat it. With an `Idempotency-Key` the effect
 * happens once; a request without a key is handled each time that it comes. Throws what `handle`
 * throws, what `Exchange.readJsonBytes` throws, and with a key: `malformed` for a bad key,
 * `conflict` while another request with the key is being served, `invalid` when the key came with
 * another body before.
 */
export async function serveOnce(
  keys: IdempotencyKeys | null, exchange: Exchange, handle: IdempotentHandler,
): Promise<void> {
  if (keys !== null && exchange.request.headers[IDEMPOTENCY_HEADER] !== undefined) {
    return keys.serve(exchange, handle);
  }
  const body = await exchange.readJsonBytes();
  const result: HandlerResult = { response: null };
  await handle(body, (_transaction, response) => {
    result.response = response;
  });
  send(exchange, result.response);
}

/** Holds the response that `keepResponse` puts aside; null until then. */
type HandlerResult = { response: IdempotentResponse | null };

export class IdempotencyKeys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #records: ExpiringRecords;
  /** Identifiers of the keys whose requests are being served. */
  readonly #running = new Set<string>();

  constructor(
    deps: Pick<ExpiringRecordsDeps, 'store' | 'clock' | 'log' | 'mayRemove'>,
    limits: ExpiryLimits = { countMax: KEYS_MAX, bytesMax: BYTES_MAX },
  ) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#records = new ExpiringRecords({
      ...deps, limits, collection: IDEMPOTENCY_KEYS.name, noun: 'idempotency keys',
      readExpiryMs: (bytes) => readCreatedAt(bytes) + RETENTION_MS,
    });
  }

  /** Starts the removal of expired records. Commands leave that to the server. */
  start(): void {
    this.#records.start();
  }

  close(): Promise<void> {
    return this.#records.close();
  }

  /** Does the work of `serveOnce` for a request that has the header. */
  async serve(exchange: Exchange, handle: IdempotentHandler): Promise<void> {
    const identifier = computeIdentifier(exchange);
    const body = await exchange.readJsonBytes();
    const request = digest(body);
    if (this.#running.has(identifier)) throw underWayError();
    this.#running.add(identifier);
    try {
      const storedResponse = this.#find(identifier);
      if (storedResponse !== null) return replay(exchange, storedResponse, request);
      const result: HandlerResult = { response: null };
      try {
        result.response = await this.#handleOnce(identifier, request, body, handle);
      } catch (thrown) {
        // Another node that shares the store may have been first.
        const firstResponse = this.#find(identifier);
        if (firstResponse === null) throw thrown;
        return replay(exchange, firstResponse, request);
      }
      send(exchange, result.response);
    } finally {
      this.#running.delete(identifier);
    }
  }

  /** The response of `handle`, stored beside its effect. */
  async #handleOnce(
    identifier: string, request: string, body: Buffer, handle: IdempotentHandler,
  ): Promise<IdempotentResponse | null> {
    const nowMs = this.#clock.now();
    const result: HandlerResult = { response: null };
    let isStored = false;
    const storeResponse = (transaction: Transaction, response: IdempotentResponse): void => {
      const previous = transaction.find(IDEMPOTENCY_KEYS.name, identifier);
      if (previous !== undefined && !isExpired(readCreatedAt(previous), nowMs)) {
        throw underWayError();
      }
      const json = encodeStoredResponse(identifier, formatTimestamp(nowMs), request, response);
      transaction.put(IDEMPOTENCY_KEYS.name, identifier, json);
      isStored = true;
    };
    await handle(body, (transaction, response) => {
      result.response = response;
      if (transaction !== null) storeResponse(transaction, response);
    });
    const { response } = result;
    if (!isStored && response !== null) {
      await this.#store.transact((transaction) => storeResponse(transaction, response));
    }
    return response;
  }

  #find(identifier: string): StoredResponse | null {
    const bytes = this.#store.collection(IDEMPOTENCY_KEYS.name).findBytes(identifier);
    if (bytes === undefined) return null;
    const storedResponse = decodeStoredResponse(bytes);
    const createdMs = Date.parse(storedResponse.createdAt);
    return isExpired(createdMs, this.#clock.now()) ? null : storedResponse;
  }
}

/** `{}` for an empty body. Throws `malformed`. */
export function parseOptionalBody(body: Buffer): unknown {
  return body.length === 0 ? {} : parseJsonBody(body);
}

/** A hash of caller, route, path parameters and key. Throws `malformed` for a bad key. */
function computeIdentifier({ request, route, params, isControl }: Exchange): string {
  const key = String(request.headers[IDEMPOTENCY_HEADER]);
  if (!KEY_PATTERN.test(key)) {
    throw new AppError('malformed', '`Idempotency-Key` must be 1 to 255 printable characters');
  }
  const { authorization = '' } = request.headers;
  const caller = isControl ? 'control' : `token ${authorization.replace(/^Bearer +/i, '').trim()}`;
  return digest(Buffer.from([caller, route.operationId, ...params, key].join('\n')));
}

function replay(exchange: Exchange, storedResponse: StoredResponse, request: string): void {
  if (storedResponse.request !== request) {
    throw new AppError('invalid', 'the `Idempotency-Key` came with another body before: use a new '
      + 'key for a new request');
  }
  const { status, headers, body } = storedResponse;
  exchange.send(status, [...headers, REPLAYED_HEADER, 'true'], body);
}

function send(exchange: Exchange, response: IdempotentResponse | null): void {
  if (response === null) throw new TypeError(`${exchange.route.operationId} kept no answer`);
  exchange.send(response.status, response.headers, response.body);
}

function underWayError(): AppError {
  return new AppError('conflict', 'a request with this `Idempotency-Key` is still under way',
    { retryAfterS: 1 });
}

function encodeStoredResponse(
  identifier: string, createdAt: string, request: string,
  { status, headers, body }: IdempotentResponse,
): string {
  const list = typeof headers === 'string' ? parseHeaderText(headers) : headers;
  return JSON.stringify(
    { identifier, createdAt, request, status, headers: list, body: body.toString() });
}

function decodeStoredResponse(bytes: Buffer): StoredResponse {
  return decodeRecordAs<StoredResponse>(bytes, ({ createdAt, request, status, headers, body }) =>
    typeof createdAt === 'string' && typeof request === 'string' && typeof status === 'number'
    && Array.isArray(headers) && typeof body === 'string');
}

// 256 bits in base64url are 43 characters.
const CREATED_AT_START = '{"identifier":"","createdAt":"'.length + 43;

/** Reads the time without parsing the record: identifiers and times have one length. */
function readCreatedAt(bytes: Buffer): number {
  return Date.parse(bytes.toString('latin1', CREATED_AT_START, CREATED_AT_START + TIME_LENGTH));
}

function isExpired(atMs: number, nowMs: number): boolean {
  return atMs <= nowMs - RETENTION_MS;
}

function digest(bytes: Buffer): string {
  return loadCrypto().createHash('sha256').update(bytes).digest('base64url');
}
