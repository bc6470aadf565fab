/**
 * Tells which requests carry the same event again. One request at a time holds the claim to an
 * event and runs its actions; others wait for the outcome of that run. A finished event is
 * remembered, in memory or by its stored request; a failed event may be claimed and run again.
 */
import { endsInTime, type Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { loadCrypto } from '../../../base/node-modules.ts';
import type { MaybePromise } from '../../../base/when-done.ts';
import { findCommitted } from '../../../store/find-record.ts';
import type { Store } from '../../../store/store-port.ts';
import { deliveryCollection, getAnsweredData, getRouteName } from '../../deliveries/delivery.ts';
import { parseRequestId } from '../../deliveries/route-delivery-id.ts';
import { findRequest, requestCollection } from '../request-codec.ts';
import { eventIdCollection, findEventId } from '../event-ids.ts';
import type { StoredRequest } from '../../incoming/stored-request.ts';
import { setRequestId, type WebhookResponse } from '../../incoming/receiving/webhook-response.ts';
import type { ReadyIncomingWebhook } from '../../incoming/receiving/incoming-webhook-index.ts';
import type { AdmittedRequest } from '../../incoming/receiving/admitted-request.ts';
import { Claim, SenderEvent } from './sender-event.ts';

/** The event of a request that another request had before. */
export type DuplicateEvent = {
  /** The first request; null: it is not stored. */
  readonly requestId: string | null;
  /** The member `data` of the response. */
  readonly dataJson: string;
  /** The response to the first request; null: the usual response to a duplicate. */
  readonly response: WebhookResponse | null;
  /** See `SenderEvent.isIdReused`. */
  readonly isIdReused: boolean;
};

/** How an event would be judged if its request came now. */
type EventLookup = {
  /** See `SenderEvent.isIdReused`. */
  readonly isIdReused: boolean;
  /** null: the event is new. `requestId` is the first request's, null where none is stored. */
  readonly previous: { readonly requestId: string | null; readonly hasFailed: boolean } | null;
};

/** An event that is not finished: its claim is held in this process, or its request is pending. */
type RunningEvent = { readonly event: SenderEvent; readonly holder: Claim | StoredRequest };

/** An event that came before: finished and remembered, or of a stored request of any status. */
type PreviousEvent = {
  readonly bodySha256: string | null; readonly requestId: string | null; readonly dataJson: string;
  readonly request: StoredRequest | null;
};

/** How long a duplicate waits if the sender does not say how long it waits for its response. */
const WAIT_MS = 10_000;
/** Requests of one webhook that may wait for other requests at once. */
const WAITING_MAX = 1000;
const BUSY_RETRY_S = 1;

export class Duplicates {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #memory = new EventMemory();
  readonly #unfinishedClaims = new Map<string, Claim>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** null: the request has no event id. */
  createEvent(
    { webhook, eventId, body: { received }, verdict, receivedAtMs }: AdmittedRequest,
  ): SenderEvent | null {
    if (eventId === null || eventId === '') return null;
    const isSigned = verdict.preset !== null && webhook.isEventIdSigned;
    return new SenderEvent({
      webhookId: webhook.identifier, eventId,
      bodySha256: isSigned ? null : loadCrypto().hash('sha256', received, 'hex'),
      expiresAtMs: receivedAtMs + webhook.deduplicateMs,
    });
  }

  /** Judges the event of a request that would pass its checks, for a diagnosis. */
  lookUp(
    { identifier, isEventIdSigned, sender, hasSecret }: ReadyIncomingWebhook,
    { eventId, bodySha256 }: { readonly eventId: string; readonly bodySha256: string },
  ): EventLookup {
    const isSigned = isEventIdSigned && (sender !== null || hasSecret);
    const event = new SenderEvent({
      webhookId: identifier, eventId, bodySha256: isSigned ? null : bodySha256, expiresAtMs: 0,
    });
    const first = this.#findPrevious(event);
    const isIdReused = first !== undefined && hasOtherBody(first, event);
    const previous = isIdReused ? this.#findPrevious(event.toReused()) : first;
    return {
      isIdReused,
      previous: previous === undefined ? null
        : { requestId: previous.requestId, hasFailed: previous.request?.status === 'failed' },
    };
  }

  /**
   * Claims the event, or tells that it is a duplicate: at once if no other request holds the claim.
   * Else it waits as long as the sender does, and rejects with `unavailable` after that.
   */
  claim(event: SenderEvent, request: AdmittedRequest): MaybePromise<Claim | DuplicateEvent> {
    const result = this.#tryClaim(event, request);
    return 'holder' in result ? this.#waitForClaim(result, request) : result;
  }

  /** Claims the event of the id alone, or if that came before with another body, of id and body. */
  #tryClaim(
    firstEvent: SenderEvent, request: AdmittedRequest,
  ): Claim | DuplicateEvent | RunningEvent {
    for (let event = firstEvent; ;) {
      const previous = this.#unfinishedClaims.get(event.key) ?? this.#findPrevious(event);
      if (previous === undefined) return new Claim(event, null, this.#unfinishedClaims);
      if (hasOtherBody(previous, event)) {
        event = event.toReused();
        continue;
      }
      if (previous instanceof Claim) return { event, holder: previous };
      const { request: storedRequest, requestId } = previous;
      if (storedRequest?.status === 'failed') {
        return new Claim(event, storedRequest, this.#unfinishedClaims);
      }
      if (storedRequest?.status === 'pending') return { event, holder: storedRequest };
      const dataJson = storedRequest === null ? previous.dataJson
        : encodeDuplicateData(request, storedRequest);
      return { requestId, dataJson, response: null, isIdReused: event.isIdReused };
    }
  }

  async #waitForClaim(
    running: RunningEvent, request: AdmittedRequest,
  ): Promise<Claim | DuplicateEvent> {
    const deadlineMs = this.#clock.monotonicMs() + getWaitMs(request);
    for (let { event, holder } = running; ;) {
      if (holder instanceof Claim) {
        const outcome = await this.#wait(request, deadlineMs, holder.waitForOutcome());
        if (outcome === null) throw createBusyError();
        const { requestId, dataJson } = outcome;
        const response = outcome.response.status === 200 ? null
          : setRequestId(outcome.response, requestId);
        return { requestId, dataJson, response, isIdReused: event.isIdReused };
      }
      const watch = this.#watchRequest(holder.id);
      await this.#wait(request, deadlineMs, watch.nextChange).finally(watch.stop);
      const result = this.#tryClaim(event, request);
      if (!('holder' in result)) return result;
      ({ event, holder } = result);
    }
  }

  /** Finds a finished event whose request is not stored; null: none, or only with another body. */
  findRemembered(event: SenderEvent): DuplicateEvent | null {
    const finishedEvent = this.#memory.find(event.key, this.#clock.now());
    if (finishedEvent === undefined || hasOtherBody(finishedEvent, event)) return null;
    const { dataJson } = finishedEvent;
    return { requestId: null, dataJson, response: null, isIdReused: false };
  }

  /** For a finished event whose request is not stored. */
  remember({ key, bodySha256, expiresAtMs }: SenderEvent, dataJson: string): void {
    this.#memory.add(key, { bodySha256, expiresAtMs, dataJson });
  }

  #findPrevious(event: SenderEvent): PreviousEvent | undefined {
    const nowMs = this.#clock.now();
    const finishedEvent = this.#memory.find(event.key, nowMs);
    if (finishedEvent !== undefined) {
      const { bodySha256, dataJson } = finishedEvent;
      return { bodySha256, dataJson, requestId: null, request: null };
    }
    const ids = this.#store.collection(eventIdCollection.name);
    // The identifier of a record is a hash, which the usual case need not compute.
    if (ids.size === 0) return undefined;
    const record = findEventId((identifier) => ids.findBytes(identifier), event, nowMs);
    if (record === undefined) return undefined;
    const { bodySha256, request: requestId } = record;
    const request = findRequest(findCommitted(this.#store), requestId) ?? null;
    return { bodySha256, requestId, request, dataJson: '{}' };
  }

  /**
   * Waits for `promise`; rejects with `unavailable` at the deadline, or when too many wait already.
   * A waiting request runs nothing, so it does not count among the running requests meanwhile.
   */
  async #wait<T>(
    { webhook: { traffic } }: AdmittedRequest, deadlineMs: number, promise: Promise<T>,
  ): Promise<T> {
    if (traffic.waiting >= WAITING_MAX) throw createBusyError();
    traffic.waiting += 1;
    traffic.running -= 1;
    const remainingMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
    try {
      if (!await endsInTime(this.#clock, remainingMs, promise)) throw createBusyError();
      return await promise;
    } finally {
      traffic.running += 1;
      traffic.waiting -= 1;
    }
  }

  /** `nextChange` resolves with the next change of a stored request or of its deliveries. */
  #watchRequest(id: string): { readonly nextChange: Promise<void>; readonly stop: () => void } {
    const unlisten: (() => void)[] = [];
    const nextChange = new Promise<void>((resolve) => {
      const records = this.#store.collection(requestCollection.name);
      const deliveries = this.#store.collection(deliveryCollection.name);
      unlisten.push(
        records.onChange((change) => {
          if (change.id === id) resolve();
        }),
        deliveries.onChange((change) => {
          if (parseRequestId(change.id) === id) resolve();
        }));
    });
    return {
      nextChange,
      stop() {
        for (const end of unlisten) end();
      },
    };
  }
}

export function hasOtherBody(
  previous: { readonly bodySha256: string | null }, { bodySha256 }: SenderEvent,
): boolean {
  return bodySha256 !== null && previous.bodySha256 !== null && previous.bodySha256 !== bodySha256;
}

/** The data of the response that a finished request had. */
function encodeDuplicateData(
  { webhook }: AdmittedRequest, { id, deliveries }: StoredRequest,
): string {
  if (webhook.answer === 'accepted') return encodeJson({ request: id });
  const data = deliveries.map((delivery) =>
    [getRouteName(delivery), getAnsweredData(delivery)] as const);
  return encodeJson(webhook.hasRoutes ? { routes: Object.fromEntries(data) }
    : data[0]?.[1] ?? {});
}

function getWaitMs({ webhook: { sender } }: AdmittedRequest): number {
  const { ackWithin } = sender?.verifier.scheme ?? {};
  return ackWithin === undefined ? WAIT_MS : ackWithin * 1000;
}

function createBusyError(): AppError {
  return new AppError('unavailable', 'the same event is under way', { retryAfterS: BUSY_RETRY_S });
}

/** `dataJson` is the data of the response to a duplicate. */
type FinishedEvent = {
  readonly expiresAtMs: number; readonly bodySha256: string | null; readonly dataJson: string;
};

const COUNT_MAX = 50_000;
const BYTES_MAX = 16 << 20;
/** Longer data is not kept: a duplicate is then answered without data. */
const DATA_LENGTH_MAX = 1024;
/** Estimated for an entry with its key and its hash. */
const ENTRY_BYTES = 250;
const NO_DATA = '{}';

/**
 * Remembers finished events whose requests are not stored, in memory, by their keys
 * (`SenderEvent.key`). The oldest are forgotten first.
 */
class EventMemory {
  readonly #events = new Map<string, FinishedEvent>();
  // The same iterator for ever: a new iterator would walk over the gaps of forgotten entries.
  readonly #keysByAge = this.#events.keys();
  #bytes = 0;

  add(key: string, { dataJson, ...event }: FinishedEvent): void {
    this.#forget(key);
    // Equal texts share the constant, so that an entry without data holds no text of its own.
    const hasData = dataJson !== NO_DATA && dataJson.length <= DATA_LENGTH_MAX;
    const storedJson = hasData ? dataJson : NO_DATA;
    this.#events.set(key, { ...event, dataJson: storedJson });
    this.#bytes += estimateBytes(storedJson);
    while (this.#events.size > COUNT_MAX || this.#bytes > BYTES_MAX) {
      const { value: oldestKey } = this.#keysByAge.next();
      if (oldestKey === undefined) return;
      this.#forget(oldestKey);
    }
  }

  find(key: string, nowMs: number): FinishedEvent | undefined {
    const event = this.#events.get(key);
    if (event === undefined || event.expiresAtMs > nowMs) return event;
    this.#forget(key);
    return undefined;
  }

  #forget(key: string): void {
    const event = this.#events.get(key);
    if (event === undefined) return;
    this.#events.delete(key);
    this.#bytes -= estimateBytes(event.dataJson);
  }
}

function estimateBytes(dataJson: string): number {
  return ENTRY_BYTES + (dataJson === NO_DATA ? 0 : dataJson.length * 2);
}
