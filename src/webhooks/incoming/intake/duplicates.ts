/**
 * Which requests are the same event again. An event is under way in this process, or was done and
 * is remembered, in memory or by the record of its request, or has failed and runs again. Whoever
 * finds it under way waits for it, and hears what came of it.
 */
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { loadCrypto } from '../../../base/node-modules.ts';
import type { Store } from '../../../store/store-port.ts';
import { decodeRequest } from '../../inbox/request-codec.ts';
import { eventIdCollection, findEventId } from '../../inbox/event-ids.ts';
import { requestCollection, type StoredRequest } from '../../inbox/stored-request.ts';
import type { WebhookResponse } from '../receiving/webhook-response.ts';
import type { ReadyIncomingWebhook } from '../receiving/incoming-webhook-index.ts';
import type { AdmittedRequest } from '../receiving/admitted-request.ts';
import { EventMemory } from './event-memory.ts';
import { Claim, Event } from './event.ts';

/** The request is one that was seen; `of` is null where that left no record. */
export type Seen = {
  readonly of: string | null; readonly dataJson: string;
  /** What the first was answered; null: as one that is done. */
  readonly answer: WebhookResponse | null;
  readonly isReused: boolean;
};

/** What an event would be found to be. */
export type LookedUp = {
  /** The id came before with another body, and only the same body is the same event. */
  readonly isReused: boolean;
  /** null: the event is new. `of` is the request that first had it, null where none was kept. */
  readonly before: { readonly of: string | null; readonly hasFailed: boolean } | null;
};

/** An event that is under way: in this process, or by its record. */
type UnderWay = { readonly event: Event; readonly awaits: Claim | StoredRequest };

/** What is known of an event that is not under way here. */
type Known = {
  readonly bodySha256: string | null; readonly of: string | null; readonly dataJson: string;
  readonly request: StoredRequest | null;
};

// Where the sender does not say how long it waits for its answer.
const WAIT_MS = 10_000;
/** Requests of one webhook that wait for another one at once. */
const WAITING_MAX = 1000;
const BUSY_RETRY_S = 1;

export class Duplicates {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #memory = new EventMemory();
  readonly #running = new Map<string, Claim>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** null: the request is compared with no other. */
  eventOf({ webhook, eventNames, body, verified, receivedAtMs }: AdmittedRequest): Event | null {
    if (webhook.deduplicateMs === 0) return null;
    const { eventId } = eventNames;
    if (eventId === null || eventId === '') return null;
    const isSigned = verified !== null && webhook.isEventIdSigned;
    return new Event({
      hook: webhook.identifier, eventId,
      bodySha256: isSigned ? null : loadCrypto().hash('sha256', body, 'hex'),
      expiresAtMs: receivedAtMs + webhook.deduplicateMs,
    });
  }

  /** The same for a diagnosis, of a request that would pass its checks. */
  look({ identifier, isEventIdSigned, sender, hasSecret }: ReadyIncomingWebhook,
    { eventId, bodySha256 }: {
    readonly eventId: string; readonly bodySha256: string;
  }): LookedUp {
    const isSigned = isEventIdSigned && (sender !== null || hasSecret);
    const event = new Event({
      hook: identifier, eventId, bodySha256: isSigned ? null : bodySha256, expiresAtMs: 0,
    });
    const first = this.#find(event);
    const isReused = first !== undefined && isOther(first, event);
    const known = isReused ? this.#find(event.reused()) : first;
    return {
      isReused,
      before: known === undefined ? null
        : { of: known.of, hasFailed: known.request?.status === 'failed' },
    };
  }

  /**
   * Claims the event, or tells what is known of it: at once where nobody has to wait. Else it
   * waits as long as the sender does, and rejects with `unavailable` when that was not enough.
   */
  meet(event: Event, received: AdmittedRequest): Claim | Seen | Promise<Claim | Seen> {
    const met = this.#meetNow(event, received);
    return 'awaits' in met ? this.#meetLater(met, received) : met;
  }

  #meetNow(given: Event, received: AdmittedRequest): Claim | Seen | UnderWay {
    for (let event = given; ;) {
      const met = this.#running.get(event.key) ?? this.#find(event);
      if (met === undefined) return new Claim(event, null, this.#running);
      if (isOther(met, event)) {
        event = event.reused();
        continue;
      }
      if (met instanceof Claim) return { event, awaits: met };
      const { request, of } = met;
      if (request?.status === 'failed') return new Claim(event, request, this.#running);
      if (request?.status === 'pending') return { event, awaits: request };
      const dataJson = request === null ? met.dataJson : dataOf(received, request);
      return { of, dataJson, answer: null, isReused: event.isReused };
    }
  }

  async #meetLater(given: UnderWay, received: AdmittedRequest): Promise<Claim | Seen> {
    const deadlineMs = this.#clock.monotonicMs() + waitMs(received);
    for (let { event, awaits } = given; ;) {
      if (awaits instanceof Claim) {
        const outcome = await this.#wait(received, deadlineMs, awaits.settled());
        if (outcome === null) throw underWay();
        const { answer, of, dataJson } = outcome;
        const { isReused } = event;
        return { of, dataJson, isReused, answer: answer.status === 200 ? null : answer };
      }
      const change = this.#changeOf(awaits.id);
      await this.#wait(received, deadlineMs, change.happened).finally(change.forget);
      const met = this.#meetNow(event, received);
      if (!('awaits' in met)) return met;
      ({ event, awaits } = met);
    }
  }

  /** Whether something is known of the event. */
  isKnown(event: Event): boolean {
    return this.#find(event) !== undefined;
  }

  /** What was done and left no record; null: nothing, or only of another body. */
  findRemembered(event: Event): Seen | null {
    const done = this.#memory.find(event.key, this.#clock.now());
    if (done === undefined || isOther(done, event)) return null;
    return { of: null, dataJson: done.dataJson, answer: null, isReused: false };
  }

  /** For an event that was done and left no record. */
  remember({ key, bodySha256, expiresAtMs }: Event, dataJson: string): void {
    this.#memory.add(key, { bodySha256, expiresAtMs, dataJson });
  }

  #find(event: Event): Known | undefined {
    const nowMs = this.#clock.now();
    const done = this.#memory.find(event.key, nowMs);
    if (done !== undefined) {
      const { bodySha256, dataJson } = done;
      return { bodySha256, dataJson, of: null, request: null };
    }
    const ids = this.#store.collection(eventIdCollection.name);
    // The identifier of a record is a hash, which the usual case need not make.
    if (ids.size === 0) return undefined;
    const known = findEventId((identifier) => ids.findBytes(identifier), event, nowMs);
    if (known === undefined) return undefined;
    const { bodySha256, request: of } = known;
    const bytes = this.#store.collection(requestCollection.name).findBytes(of);
    const request = bytes === undefined ? null : decodeRequest(bytes);
    return { bodySha256, of, request, dataJson: '{}' };
  }

  /**
   * Waits for `settled`; rejects with `unavailable` at the deadline, or when too many wait already.
   * A request that waits runs nothing, so it is not counted among those that run.
   */
  async #wait<T>(
    { webhook: { load } }: AdmittedRequest, deadlineMs: number, settled: Promise<T>,
  ): Promise<T> {
    if (load.waiting >= WAITING_MAX) throw underWay();
    load.waiting += 1;
    load.running -= 1;
    const leftMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const timer = this.#clock.startTimer(leftMs, () => reject(underWay()));
      cancel = () => timer.cancel();
    });
    try {
      return await Promise.race([settled, late]);
    } finally {
      cancel();
      load.running += 1;
      load.waiting -= 1;
    }
  }

  /** Of a kept request. */
  #changeOf(id: string): { readonly happened: Promise<void>; readonly forget: () => void } {
    const records = this.#store.collection(requestCollection.name);
    let forget = (): void => {};
    const happened = new Promise<void>((resolve) => {
      forget = records.onChange((change) => {
        if (change.id === id) resolve();
      });
    });
    return { happened, forget: () => forget() };
  }
}

export function isOther(
  known: { readonly bodySha256: string | null }, { bodySha256 }: Event,
): boolean {
  return bodySha256 !== null && known.bodySha256 !== null && known.bodySha256 !== bodySha256;
}

/** What the answer to a request told that is done. */
function dataOf({ webhook }: AdmittedRequest, { id, routes }: StoredRequest): string {
  if (webhook.answer === 'accepted') return JSON.stringify({ request: id });
  const data = routes.map(({ name, attempts }) => [name, attempts.at(-1)?.data ?? {}] as const);
  return JSON.stringify(webhook.isRouted ? { routes: Object.fromEntries(data) }
    : data[0]?.[1] ?? {});
}

function waitMs({ webhook: { sender } }: AdmittedRequest): number {
  const { ackWithin } = sender?.verifier.scheme ?? {};
  return ackWithin === undefined ? WAIT_MS : ackWithin * 1000;
}

function underWay(): AppError {
  return new AppError('unavailable', 'the same event is under way', { retryAfterS: BUSY_RETRY_S });
}
