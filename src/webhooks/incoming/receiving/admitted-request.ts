/** A request that passed its checks and is not stored yet. */
import type { IncomingHttpHeaders } from 'node:http';
import { formatTimestamp } from '../../../base/clock.ts';
import { createTaggedLogger, type Logger } from '../../../base/log.ts';
import type { Exchange } from '../../../server/http-route.ts';
import { createEmptyPayload } from '../../actions/action-payload.ts';
import { Facts } from '../../members/filters/facts.ts';
import type { RequestOrigin } from '../../members/pass-through.ts';
import type { StoredVerdict, UnparsedBody } from '../stored-request.ts';
import type { RequestReader } from '../../senders/request/request-reader.ts';
import type { ValueSources } from '../../senders/scheme/scheme.ts';
import type { CalledHead, CalledRequest } from './incoming-action-call.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';

/** Longer names and ids are ignored: no sender has them. */
const NAME_LENGTH_MAX = 1000;

export class AdmittedRequest implements CalledRequest {
  readonly exchange: Exchange;
  readonly webhook: ReadyIncomingWebhook;
  readonly body: IncomingBody;
  /** null: neither verification nor event id looked into the request. */
  readonly reader: RequestReader | null;
  readonly verdict: StoredVerdict;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /**
   * Set once an action or a condition has asked for the payload, and none can be made of the body
   * (`notePayload`). It is stored with the request (build-request.ts).
   */
  unparsed: UnparsedBody | null = null;
  #event: string | null | undefined;
  #eventId: string | null | undefined;

  constructor(
    exchange: Exchange, webhook: ReadyIncomingWebhook, body: IncomingBody,
    reader: RequestReader | null, verdict: StoredVerdict, receivedAtMs: number,
  ) {
    this.exchange = exchange;
    this.webhook = webhook;
    this.body = body;
    this.reader = reader;
    this.verdict = verdict;
    this.receivedAtMs = receivedAtMs;
    if (reader === null) this.#event = this.#eventId = null;
  }

  /** The sender's name of the event; null: the preset reads none, or the request has none. */
  get event(): string | null {
    if (this.#event === undefined) {
      this.#event = readNameOrId(this.reader, this.webhook.sender?.verifier.scheme.event);
    }
    return this.#event;
  }

  /** The sender's id of the event. Name and id are read once: an action may change headers. */
  get eventId(): string | null {
    if (this.#eventId === undefined) {
      this.#eventId = readNameOrId(this.reader, this.webhook.eventIdSources);
    }
    return this.#eventId;
  }

  get headers(): IncomingHttpHeaders {
    return this.exchange.request.headers;
  }

  get head(): CalledHead {
    const { exchange: { request: { method = '' }, path, search }, event, eventId, verdict } = this;
    return {
      method, path, query: search, receivedAt: formatTimestamp(this.receivedAtMs),
      event, eventId, verdict, isReplay: false,
    };
  }

  get origin(): RequestOrigin {
    return resolveOrigin(this.exchange);
  }

  get log(): Logger {
    return createTaggedLogger(this.exchange.log, this.webhook.labels);
  }

  notePayload(isParsed: boolean): void {
    if (isParsed || this.unparsed !== null || this.body.received.length === 0) return;
    this.unparsed = this.body.explainUnparsed();
    this.webhook.traffic.unparsedCount += 1;
  }

  createFacts(): Facts {
    const { search, request: { headers, method } } = this.exchange;
    return new Facts({
      payload: () => {
        const payload = this.body.readPayload();
        this.notePayload(payload !== null);
        return payload ?? createEmptyPayload();
      },
      event: () => this.event, headers, query: search, method: method ?? '',
    });
  }
}

/** Reads the name or the id of an event; null: the request has none, or it is too long. */
export function readNameOrId(
  reader: RequestReader | null, sources: ValueSources | null | undefined,
): string | null {
  if (reader === null || sources === null || sources === undefined) return null;
  const name = reader.read(sources);
  return name === null || name.length > NAME_LENGTH_MAX ? null : name;
}

/** The prefix of an IPv4 address if the listener takes IPv6 as well (RFC 4291 §2.5.5.2). */
const MAPPED_PREFIX = '::ffff:';

export function resolveOrigin(
  { request: { rawHeaders, headers, socket }, clientAddress, requestId }: Exchange,
): RequestOrigin {
  const { remoteAddress = '' } = socket;
  const peer = remoteAddress.startsWith(MAPPED_PREFIX) ? remoteAddress.slice(MAPPED_PREFIX.length)
    : remoteAddress;
  let host = headers.host ?? '';
  let protocol = 'encrypted' in socket ? 'https' : 'http';
  // If the client is not the peer, the peer is a trusted proxy.
  if (clientAddress !== peer) {
    const { 'x-forwarded-host': forwardedHost, 'x-forwarded-proto': forwardedProtocol } = headers;
    if (typeof forwardedHost === 'string') host = forwardedHost;
    if (typeof forwardedProtocol === 'string') protocol = forwardedProtocol;
  }
  return { rawHeaders, clientAddress, requestId, host, protocol };
}
