/**
 * The event of a request, by its sender's id. In memory it goes by a text that costs no hash; that
 * of its record is made when it is asked for. One request at a time has the claim to an event.
 */
import { hashEventId, type EventKey } from '../../inbox/event-ids.ts';
import type { StoredRequest } from '../../inbox/stored-request.ts';
import type { WebhookResponse } from '../receiving/webhook-response.ts';

/** The body is null where it does not tell events apart. */
type EventInput = {
  readonly hook: string; readonly eventId: string; readonly bodySha256: string | null;
  readonly expiresAtMs: number;
};

/** Of a longer id the hash stands in memory, as how many are remembered must not hang on it. */
const PLAIN_LENGTH_MAX = 64;

export class Event implements EventKey {
  readonly bodySha256: string | null;
  readonly expiresAtMs: number;
  /** The id came before with another body. */
  readonly isReused: boolean;
  /** By which it is found in memory. */
  readonly key: string;
  readonly #given: EventInput;
  #identifier: string | null = null;

  constructor(input: EventInput, isReused = false) {
    const { hook, eventId, bodySha256, expiresAtMs } = input;
    this.#given = input;
    this.isReused = isReused;
    // The id of one that is reused stands for one body alone.
    this.bodySha256 = isReused ? null : bodySha256;
    this.expiresAtMs = expiresAtMs;
    const body = isReused ? bodySha256 ?? '' : '';
    // A webhook's identifier holds no line break, and a hash no `=`: no two events share a key.
    this.key = eventId.length > PLAIN_LENGTH_MAX ? this.identifier : `${hook}\n${body}=${eventId}`;
  }

  /** Of its record. */
  get identifier(): string {
    const { hook, eventId, bodySha256 } = this.#given;
    this.#identifier ??= hashEventId(hook, eventId, this.isReused ? bodySha256 : null);
    return this.#identifier;
  }

  /** The event that the request is when its id came before with another body: known by both. */
  reused(): Event {
    return new Event(this.#given, true);
  }
}

/** What came of a run, for those who wait for it; `of` is the request that it was for. */
type ClaimOutcome = {
  readonly response: WebhookResponse; readonly dataJson: string; readonly requestId: string | null;
};

/** That one request alone runs what belongs to its event; the others hear what came of it. */
export class Claim {
  readonly event: Event;
  /** The request whose failed routes are to run again; null: the request is new. */
  readonly failedRequest: StoredRequest | null;
  readonly #running: Map<string, Claim>;
  #settled: Promise<ClaimOutcome | null> | null = null;
  #settle: ((outcome: ClaimOutcome | null) => void) | null = null;

  /** `running` has the claims that are not at an end, by the keys of their events. */
  constructor(event: Event, failedRequest: StoredRequest | null, running: Map<string, Claim>) {
    this.event = event;
    this.failedRequest = failedRequest;
    this.#running = running;
    running.set(event.key, this);
  }

  get bodySha256(): string | null {
    return this.event.bodySha256;
  }

  /** To be asked for before the end. Few events have anyone who waits. */
  waitForOutcome(): Promise<ClaimOutcome | null> {
    this.#settled ??= new Promise((resolve) => {
      this.#settle = resolve;
    });
    return this.#settled;
  }

  /** null: nothing came of the run, and nothing was accepted. */
  finish(outcome: ClaimOutcome | null): void {
    this.#running.delete(this.event.key);
    this.#settle?.(outcome);
  }
}
