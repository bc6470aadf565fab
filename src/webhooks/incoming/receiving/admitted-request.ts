/** A request that passed its checks, and the form in which an action sees it, decoded lazily. */
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import { readTraceContext, type TraceContext } from '../../../base/trace-context.ts';
import { formatTimestamp } from '../../../base/clock.ts';
import { createTaggedLogger, type Logger } from '../../../base/log.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { ActionContext, VerifiedSender } from '../../actions/action.ts';
import type { Payload } from '../../actions/action-payload.ts';
import type { RunTurn } from '../../actions/action-registry.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import { isDecoded, type PlainBody } from '../../senders/request/plain-body.ts';
import type { RequestReader } from '../../senders/request/request-reader.ts';
import {
  readParsedPayload, readPayload, type BodyKind, type BodyReading,
} from '../body-format.ts';
import type { UnparsedBody } from '../../inbox/stored-request.ts';
import type { DecodedBody } from './decoded-body.ts';
import type { EventNames } from './event-names.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';
import { IncomingActionCall, NO_CONFIGURATION } from './incoming-action-call.ts';

/** A request that passed its checks and is not stored yet. */
export type AdmittedRequest = {
  readonly exchange: Exchange;
  readonly webhook: ReadyIncomingWebhook;
  readonly body: Buffer;
  readonly plainBody: PlainBody;
  /**
   * The reader that has parsed the body for the verification, or to find the event id; the payload
   * comes from it, so that the body is parsed once. null: neither was needed.
   */
  readonly parsedReader: RequestReader | null;
  readonly decoded: DecodedBody;
  readonly eventNames: EventNames;
  readonly verified: VerifiedSender | null;
  /** Milliseconds since the epoch; null where no time is signed. */
  readonly signedAtMs: number | null;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /**
   * Set when an action asks for the payload and the body cannot be parsed; with several routes, by
   * the first whose action asks. It is stored with the request (build-request.ts).
   */
  unparsed: UnparsedBody | null;
};

/**
 * The stored request that a run is for; null: it is not stored, or only after the run. `attempt` is
 * the number of the run; the first is 1.
 */
export type RunIdentity = { readonly storedRequestId: string | null; readonly attempt: number };

/** The run before the response: the request is stored after it, or not at all. */
export const FIRST_RUN: RunIdentity = { storedRequestId: null, attempt: 1 };

/** The length of what payloads and events are made of. */
export function getPlainLength({ body, plainBody }: AdmittedRequest): number {
  return isDecoded(plainBody) ? plainBody.length : body.length;
}

export class AdmittedActionCall extends IncomingActionCall {
  readonly #request: AdmittedRequest;
  readonly #run: RunIdentity;
  readonly #makeId: (() => string) | null;

  /** `makeId` makes the place of the run, if its action asks; null: none does. */
  constructor(
    request: AdmittedRequest, configuration = NO_CONFIGURATION, run = FIRST_RUN,
    makeId: (() => string) | null = null,
  ) {
    super(configuration, request.decoded);
    this.#request = request;
    this.#run = run;
    this.#makeId = makeId;
  }

  get webhookId(): string {
    return this.#request.webhook.identifier;
  }

  get timeoutMs(): number | null {
    return this.#request.webhook.actionTimeoutMs;
  }

  get context(): ActionContext {
    const { exchange, body, webhook, eventNames, verified, receivedAtMs } = this.#request;
    const { request: { method = '', headers: sharedHeaders }, search } = exchange;
    // With several routes, each has headers of its own.
    const headers = webhook.hasRoutes ? { ...sharedHeaders } : sharedHeaders;
    return {
      headers, query: search, body, contentType: headers['content-type'] ?? null, method,
      path: `/webhook/in/${webhook.pathSegment}`,
      receivedAt: formatTimestamp(receivedAtMs),
      event: eventNames.event, eventId: eventNames.eventId,
      verified,
      request: this.#run.storedRequestId, attempt: this.#run.attempt, replay: false,
    };
  }

  get storedRequestId(): string | null {
    return this.#run.storedRequestId;
  }

  /** Its sender waits for the result, so it may begin as long as that. */
  get turn(): RunTurn | null {
    return this.#makeId === null ? null
      : { place: this.#makeId(), cutOff: null, onWaiting: () => {} };
  }

  get requestOrigin(): RequestOrigin {
    return resolveOrigin(this.#request.exchange);
  }

  get log(): Logger {
    return createTaggedLogger(this.#request.exchange.log, this.#request.webhook.labels);
  }

  get hops(): number {
    return parseHops(this.#request.exchange.request.headers[CHAIN_HEADER]);
  }

  get trace(): TraceContext | null {
    return readTraceContext(this.#request.exchange.request.headers);
  }

  // The base class decodes the payload lazily: it asks the members below once an action needs it.

  protected get body(): Buffer {
    return this.#request.body;
  }

  protected get contentType(): string | undefined {
    return this.#request.exchange.request.headers['content-type'];
  }

  protected get bodyReading(): BodyReading {
    return this.#request.webhook.bodyReading;
  }

  protected decodeBody(): PlainBody {
    return this.#request.plainBody;
  }

  protected readPayload(plainBody: Buffer, kind: BodyKind): Payload | null {
    const { parsedReader } = this.#request;
    const { contentType, bodyReading } = this;
    return parsedReader === null ? readPayload(plainBody, contentType, kind, bodyReading)
      : readParsedPayload(parsedReader, plainBody, kind, bodyReading);
  }

  protected onPayloadRead(unparsed: UnparsedBody | null): void {
    const request = this.#request;
    if (unparsed === null || request.unparsed !== null) return;
    request.unparsed = unparsed;
    request.webhook.traffic.unparsedCount += 1;
  }
}

/** The prefix of an IPv4 address if the listener takes IPv6 as well (RFC 4291 §2.5.5.2). */
const MAPPED_PREFIX = '::ffff:';

export function resolveOrigin(
  { request, clientAddress, requestId }: Exchange,
): RequestOrigin {
  const { rawHeaders, headers, socket } = request;
  const { remoteAddress = '' } = socket;
  const peer = remoteAddress.startsWith(MAPPED_PREFIX) ? remoteAddress.slice(MAPPED_PREFIX.length)
    : remoteAddress;
  // If the client is not the peer, the peer is a trusted proxy.
  const isProxied = clientAddress !== peer;
  const forwardedValue = (name: string): string | undefined => {
    const value = isProxied ? headers[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const ownProtocol = 'encrypted' in socket ? 'https' : 'http';
  return {
    rawHeaders, clientAddress, requestId,
    host: forwardedValue('x-forwarded-host') ?? headers.host ?? '',
    protocol: forwardedValue('x-forwarded-proto') ?? ownProtocol,
  };
}
