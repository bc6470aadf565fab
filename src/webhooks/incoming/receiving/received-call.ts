/** A received request as an action sees it: what is not looked at is not decoded. */
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import { formatTimestamp } from '../../../base/clock.ts';
import { createTaggedLogger, type Logger } from '../../../base/log.ts';
import type { Exchange } from '../../../server/http-route.ts';
import type { ActionContext, Verified } from '../../actions/action.ts';
import type { Payload } from '../../actions/payload.ts';
import type { ActionCall } from '../../actions/registry.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import type { RequestReader } from '../../senders/request/reader.ts';
import {
  findFittingFormat, readParsedPayload, readPayload, type BodyKind, type BodyReading,
} from '../body-format.ts';
import type { Unparsed } from '../../requests/request.ts';
import type { ReadyRoute } from '../routing.ts';
import type { EventNames } from './event-names.ts';
import type { ReadyHook } from './hook-index.ts';
import { IncomingCall } from './incoming-call.ts';

/** A request that passed its checks. */
export type Received = {
  readonly hook: ReadyHook;
  readonly body: Buffer;
  /** null: the webhook has no `verification`, and no place of its own for ids. */
  readonly parts: RequestReader | null;
  readonly names: EventNames;
  readonly verified: Verified | null;
  /** Milliseconds since the epoch; null where no time is signed. */
  readonly signedAtMs: number | null;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Set when something asks for its payload. */
  unparsed: Unparsed | null;
  /** The routes that match; set where to find them takes turns of the loop. */
  matching?: readonly ReadyRoute[];
};

/** The kept request that a run is for, and which run it is. */
export type Run = { readonly request: string | null; readonly attempt: number };

/** Of a request that is not kept, or only if it fails. */
const FIRST_RUN: Run = { request: null, attempt: 1 };

export class ReceivedCall extends IncomingCall {
  readonly #exchange: Exchange;
  readonly #received: Received;
  readonly #run: Run;

  constructor(
    exchange: Exchange, received: Received, options: ActionCall['options'], run = FIRST_RUN,
  ) {
    super(options);
    this.#exchange = exchange;
    this.#received = received;
    this.#run = run;
  }

  get context(): ActionContext {
    const { request, search } = this.#exchange;
    const { method = '' } = request;
    const { body, hook, names, verified, atMs } = this.#received;
    // Routes each have headers of their own, as they have a payload.
    const headers = hook.isRouted ? { ...request.headers } : request.headers;
    return {
      headers, query: search, body, contentType: headers['content-type'] ?? null, method,
      path: `/webhook/in/${hook.pathSegment}`,
      receivedAt: formatTimestamp(atMs),
      event: names.event, eventId: names.eventId,
      verified,
      request: this.#run.request, attempt: this.#run.attempt, replay: false,
    };
  }

  get request(): string | null {
    return this.#run.request;
  }

  get origin(): RequestOrigin {
    return originOf(this.#exchange);
  }

  get log(): Logger {
    return createTaggedLogger(this.#exchange.log, this.#received.hook.labels);
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

  protected get reading(): BodyReading {
    return this.#received.hook.reading;
  }

  protected read(kind: BodyKind): Payload | null {
    const { body, parts, hook: { isRouted } } = this.#received;
    const { formField } = this.reading;
    // Routes each have a payload of their own: an action may change what it is given.
    return parts === null || isRouted ? readPayload(body, kind, formField)
      : readParsedPayload(parts, kind, formField);
  }

  protected onRead(isParsed: boolean, kind: BodyKind | null): void {
    const received = this.#received;
    if (isParsed || received.unparsed !== null) return;
    received.unparsed = {
      fittingFormat: findFittingFormat(received.body, this.contentType, kind),
    };
    received.hook.load.unparsed += 1;
  }
}

/** Before an IPv4 address where the listener takes both kinds. */
const MAPPED = '::ffff:';

export function originOf(
  { request, clientAddress, requestId }: Exchange,
): RequestOrigin {
  const { rawHeaders, headers, socket } = request;
  const { remoteAddress = '' } = socket;
  const peer = remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length)
    : remoteAddress;
  // Where the client is another than the peer, the peer is a proxy that we trust.
  const isProxied = clientAddress !== peer;
  const said = (name: string): string | undefined => {
    const value = isProxied ? headers[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const protocol = said('x-forwarded-proto') ?? ('encrypted' in socket ? 'https' : 'http');
  return {
    rawHeaders, clientAddress, requestId,
    host: said('x-forwarded-host') ?? headers.host ?? '',
    protocol,
  };
}
