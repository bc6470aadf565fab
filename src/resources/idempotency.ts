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
import { timeText } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { loadCrypto } from '../base/node-modules.ts';
import { checkMediaType, parseJsonBody } from '../server/exchange/read-body.ts';
import { announcesBody, findConsumedJson } from '../server/exchange/mounting.ts';
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
export const REPLAYED_ANSWER = {
  [REPLAYED_HEADER]: '`true`: the answer of an earlier request with the same key',
};

const KEPT_MS = 24 * 3_600_000;
/** Beyond one of these the oldest are removed before their day is over. */
const KEYS_MAX = 100_000;
const BYTES_MAX = 64 << 20;
const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

/** A request's body: its bytes, or its value where another program has parsed it before us. */
export type GivenBody = { readonly parsed: object | undefined; readonly bytes: Buffer };

type KeptAnswer = {
  readonly status: number;
  /** Name, value, name, … */
  readonly headers: readonly string[];
  readonly body: string;
};

/** To be called in the transaction of the effect that the answer tells of. */
type Remember = (transaction: Transaction, answer: KeptAnswer) => void;

type Kept = KeptAnswer & { readonly createdAt: string; readonly request: string };

export class IdempotencyKeys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #records: ExpiringRecords;
  /** Identifiers of what is being served. */
  readonly #running = new Set<string>();

  constructor(
    parts: {
      readonly store: Store; readonly clock: Clock; readonly logger: Logger;
      /** See `ExpiringRecords`. */
      readonly mayRemove?: () => boolean;
    },
    limits: ExpiryLimits = { countMax: KEYS_MAX, bytesMax: BYTES_MAX },
  ) {
    const { store, clock, logger: log } = parts;
    this.#store = store;
    this.#clock = clock;
    this.#records = new ExpiringRecords({
      store, clock, log, limits, collection: IDEMPOTENCY_KEYS.name, noun: 'idempotency keys',
      expiresAtMs: (bytes) => createdAtOf(bytes) + KEPT_MS,
      ...parts.mayRemove === undefined ? {} : { mayRemove: parts.mayRemove },
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
    work: (body: GivenBody, remember: Remember) => Promise<unknown>,
  ): Promise<void> {
    const identifier = identifierOf(exchange);
    if (isBodyExpected(exchange)) checkMediaType(exchange.request, mediaTypes);
    const parsed = findConsumedJson(exchange.request);
    const bytes = parsed === undefined
      ? await exchange.readBody() : Buffer.from(JSON.stringify(parsed));
    const request = digest(bytes);
    if (this.#running.has(identifier)) throw underWay();
    this.#running.add(identifier);
    try {
      const kept = this.#find(identifier);
      if (kept !== null) return replay(exchange, kept, request);
      const nowMs = this.#clock.now();
      let answer: KeptAnswer | null = null;
      try {
        await work({ parsed, bytes }, (transaction, given) => {
          const there = transaction.find(IDEMPOTENCY_KEYS.name, identifier);
          if (there !== undefined && !isExpired(createdAtOf(there), nowMs)) throw underWay();
          const record = { identifier, createdAt: timeText(nowMs), request, ...given };
          transaction.put(IDEMPOTENCY_KEYS.name, identifier, JSON.stringify(record));
          answer = given;
        });
      } catch (thrown) {
        // Another node that shares the store may have been first.
        const first = this.#find(identifier);
        if (first === null) throw thrown;
        return replay(exchange, first, request);
      }
      send(exchange, answer);
    } finally {
      this.#running.delete(identifier);
    }
  }

  #find(identifier: string): Kept | null {
    const bytes = this.#store.collection(IDEMPOTENCY_KEYS.name).findBytes(identifier);
    if (bytes === undefined) return null;
    const kept = decodeKept(bytes);
    return isExpired(Date.parse(kept.createdAt), this.#clock.now()) ? null : kept;
  }
}

/** The value of a JSON body. */
export function valueOf({ parsed, bytes }: GivenBody): unknown {
  return parsed ?? parseJsonBody(bytes);
}

/** `valueOf` of a body that may be left out. */
export function optionalValueOf(body: GivenBody): unknown {
  return body.parsed === undefined && body.bytes.length === 0 ? {} : valueOf(body);
}

/** Of the caller's key for this route, and for what its path names. */
function identifierOf({ request, route, params, isControl }: Exchange): string {
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

function replay(exchange: Exchange, kept: Kept, request: string): void {
  if (kept.request !== request) {
    throw new AppError('invalid', 'the `Idempotency-Key` came with another body before: use a new '
      + 'key for a new request');
  }
  exchange.send(kept.status, [...kept.headers, REPLAYED_HEADER, 'true'], kept.body);
}

function send(exchange: Exchange, answer: KeptAnswer | null): void {
  if (answer === null) throw new TypeError(`${exchange.route.operationId} kept no answer`);
  exchange.send(answer.status, answer.headers, answer.body);
}

function underWay(): AppError {
  return new AppError('conflict', 'a request with this `Idempotency-Key` is still under way',
    { retryAfterS: 1 });
}

function decodeKept(bytes: Buffer): Kept {
  return decodeRecordAs<Kept>(bytes, ({ createdAt, request, status, headers, body }) =>
    typeof createdAt === 'string' && typeof request === 'string' && typeof status === 'number'
    && Array.isArray(headers) && typeof body === 'string');
}

// 256 bits in base64url are 43 characters.
const HEAD_LENGTH = '{"identifier":"","createdAt":"'.length + 43;

/** Without parsing the record: identifiers and times have one length. */
function createdAtOf(bytes: Buffer): number {
  return Date.parse(bytes.toString('latin1', HEAD_LENGTH, HEAD_LENGTH + TIME_LENGTH));
}

function isExpired(atMs: number, nowMs: number): boolean {
  return atMs <= nowMs - KEPT_MS;
}

function digest(bytes: Buffer): string {
  return loadCrypto().createHash('sha256').update(bytes).digest('base64url');
}
