/** A received request as an action sees it: what is not looked at is not decoded. */
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import { formatTimestamp } from '../../../base/clock.ts';
import { createTaggedLogger, type Logger } from '../../../base/log.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { ActionContext, Verified } from '../../actions/action.ts';
import type { Payload } from '../../actions/action-payload.ts';
import type { ActionCall } from '../../actions/action-registry.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import type { RequestReader } from '../../senders/request/request-reader.ts';
import {
  findFittingFormat, readParsedPayload, readPayload, type BodyKind, type BodyReading,
} from '../body-format.ts';
import type { UnparsedBody } from '../../inbox/stored-request.ts';
import type { ReadyWebhookRoute } from '../webhook-routes.ts';
import type { EventNames } from './event-names.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';
import { IncomingActionCall } from './incoming-action-call.ts';

/** A request that passed its checks. */
export type AdmittedRequest = {
  readonly webhook: ReadyIncomingWebhook;
  readonly body: Buffer;
  /** null: the webhook has no `verification`, and no place of its own for ids. */
  readonly reader: RequestReader | null;
  readonly eventNames: EventNames;
  readonly verified: Verified | null;
  /** Milliseconds since the epoch; null where no time is signed. */
  readonly signedAtMs: number | null;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /** Set when something asks for its payload. */
  unparsed: UnparsedBody | null;
  /** The routes that match; set where to find them takes turns of the loop. */
  matching?: readonly ReadyWebhookRoute[];
};

/** The kept request that a run is for, and which run it is. */
export type RunIdentity = { readonly requestId: string | null; readonly attempt: number };

/** Of a request that is not kept, or only if it fails. */
const FIRST_RUN: RunIdentity = { requestId: null, attempt: 1 };

export class AdmittedActionCall extends IncomingActionCall {
  readonly #exchange: Exchange;
  readonly #received: AdmittedRequest;
  readonly #run: RunIdentity;

  constructor(
    exchange: Exchange, received: AdmittedRequest, options: ActionCall['options'], run = FIRST_RUN,
  ) {
    super(options);
    this.#exchange = exchange;
    this.#received = received;
    this.#run = run;
  }

  get context(): ActionContext {
    const { request, search } = this.#exchange;
    const { method = '' } = request;
    const { body, webhook, eventNames, verified, receivedAtMs } = this.#received;
    // Routes each have headers of their own, as they have a payload.
    const headers = webhook.isRouted ? { ...request.headers } : request.headers;
    return {
      headers, query: search, body, contentType: headers['content-type'] ?? null, method,
      path: `/webhook/in/${webhook.pathSegment}`,
      receivedAt: formatTimestamp(receivedAtMs),
      event: eventNames.event, eventId: eventNames.eventId,
      verified,
      request: this.#run.requestId, attempt: this.#run.attempt, replay: false,
    };
  }

  get requestId(): string | null {
    return this.#run.requestId;
  }

  get origin(): RequestOrigin {
    return resolveOrigin(this.#exchange);
  }

  get log(): Logger {
    return createTaggedLogger(this.#exchange.log, this.#received.webhook.labels);
  }

  get hops(): number {
    return parseHops(this.#exchange.request.headers[CHAIN_HEADER]);
  }

  protected get body(): Buffer {
    return this.#received.body;
  }

  protected get contentType(): string | undefined {
    return this.#exchange.request.headers['content-type'];
  }

  protected get bodyReading(): BodyReading {
    return this.#received.webhook.bodyReading;
  }

  protected readPayload(kind: BodyKind): Payload | null {
    const { body, reader, webhook: { isRouted } } = this.#received;
    const { formField } = this.bodyReading;
    // Routes each have a payload of their own: an action may change what it is given.
    return reader === null || isRouted ? readPayload(body, kind, formField)
      : readParsedPayload(reader, kind, formField);
  }

  protected onPayloadRead(isParsed: boolean, kind: BodyKind | null): void {
    const admitted = this.#received;
    if (isParsed || admitted.unparsed !== null) return;
    admitted.unparsed = {
      fittingFormat: findFittingFormat(admitted.body, this.contentType, kind),
    };
    admitted.webhook.load.unparsed += 1;
  }
}

/** Before an IPv4 address where the listener takes both kinds. */
const MAPPED = '::ffff:';

export function resolveOrigin(
  { request, clientAddress, requestId }: Exchange,
): RequestOrigin {
  const { rawHeaders, headers, socket } = request;
  const { remoteAddress = '' } = socket;
  const peer = remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length)
    : remoteAddress;
  // Where the client is another than the peer, the peer is a proxy that we trust.
  const isProxied = clientAddress !== peer;
  const forwardedValue = (name: string): string | undefined => {
    const value = isProxied ? headers[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const protocol = forwardedValue('x-forwarded-proto') ?? ('encrypted' in socket ? 'https'
    : 'http');
  return {
    rawHeaders, clientAddress, requestId,
    host: forwardedValue('x-forwarded-host') ?? headers.host ?? '',
    protocol,
  };
}
