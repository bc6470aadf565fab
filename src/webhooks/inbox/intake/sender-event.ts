/**
 * The event that a request tells of, by its sender's id; not an event of ours. In memory its key is
 * a text that costs no hash; the identifier of its record is computed when it is needed. One
 * request at a time holds the claim to an event.
 */
import { hashEventId, type EventKey } from '../event-ids.ts';
import type { StoredRequest } from '../../incoming/stored-request.ts';
import type { WebhookResponse } from '../../incoming/receiving/webhook-response.ts';

/** `bodySha256` is null if the body does not tell events apart. */
type EventInput = {
  readonly webhookId: string; readonly eventId: string; readonly bodySha256: string | null;
  readonly expiresAtMs: number;
};

/** A longer id is hashed, so that memory does not depend on the length of ids. */
const PLAIN_LENGTH_MAX = 64;

export class SenderEvent implements EventKey {
  readonly bodySha256: string | null;
  readonly expiresAtMs: number;
  /** Whether the id came before with another body. */
  readonly isIdReused: boolean;
  /** The key by which it is found in memory. */
  readonly key: string;
  readonly #input: EventInput;
  #identifier: string | null = null;

  constructor(input: EventInput, isIdReused = false) {
    const { webhookId, eventId, bodySha256, expiresAtMs } = input;
    this.#input = input;
    this.isIdReused = isIdReused;
    // The key of a reused id holds the body's hash, so it stands for one body alone.
    this.bodySha256 = isIdReused ? null : bodySha256;
    this.expiresAtMs = expiresAtMs;
    const body = isIdReused ? bodySha256 ?? '' : '';
    // A webhook's identifier holds no line break, and a hash no `=`: no two events share a key.
    this.key = eventId.length > PLAIN_LENGTH_MAX ? this.identifier
      : `${webhookId}\n${body}=${eventId}`;
  }

  /** The identifier of its record. */
  get identifier(): string {
    const { webhookId, eventId, bodySha256 } = this.#input;
    this.#identifier ??= hashEventId(webhookId, eventId, this.isIdReused ? bodySha256 : null);
    return this.#identifier;
  }

  /** The event of a request whose id came before with another body: id and body identify it. */
  toReused(): SenderEvent {
    return new SenderEvent(this.#input, true);
  }
}

/** The outcome of a run, for the requests that wait for it; `requestId` is the stored request's. */
type ClaimOutcome = {
  readonly response: WebhookResponse; readonly dataJson: string; readonly requestId: string | null;
};

/** The right of one request to run the actions of an event. The others wait for its outcome. */
export class Claim {
  readonly event: SenderEvent;
  /** The request whose failed routes are to run again; null: the request is new. */
  readonly failedRequest: StoredRequest | null;
  readonly #unfinishedClaims: Map<string, Claim>;
  #outcome: Promise<ClaimOutcome | null> | null = null;
  #resolveOutcome: ((outcome: ClaimOutcome | null) => void) | null = null;

  /** Adds itself to `unfinishedClaims`, by the key of its event, until it is finished. */
  constructor(
    event: SenderEvent, failedRequest: StoredRequest | null, unfinishedClaims: Map<string, Claim>,
  ) {
    this.event = event;
    this.failedRequest = failedRequest;
    this.#unfinishedClaims = unfinishedClaims;
    unfinishedClaims.set(event.key, this);
  }

  get bodySha256(): string | null {
    return this.event.bodySha256;
  }

  /** Must be called before the claim is finished. Few events have a request that waits. */
  waitForOutcome(): Promise<ClaimOutcome | null> {
    this.#outcome ??= new Promise((resolve) => {
      this.#resolveOutcome = resolve;
    });
    return this.#outcome;
  }

  /** null: the run had no outcome, and nothing was accepted. */
  finish(outcome: ClaimOutcome | null): void {
    this.#unfinishedClaims.delete(this.event.key);
    this.#resolveOutcome?.(outcome);
  }
}
