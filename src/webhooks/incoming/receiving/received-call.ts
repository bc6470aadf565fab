/** A received request as an action sees it: what is not looked at is not decoded. */
import { CHAIN_HEADER, hopsOf } from '../../../base/chain.ts';
import { timeText } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Exchange } from '../../../server/route.ts';
import type { ActionContext, Verified } from '../../actions/action.ts';
import { noPayload, type Payload } from '../../actions/payload.ts';
import type { ActionCall } from '../../actions/registry.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import type { RequestReader } from '../../senders/request/reader.ts';
import type { ValueSources } from '../../senders/scheme/scheme.ts';
import { bodyKind, readParsedPayload, readPayload, type BodyKind } from '../body-format.ts';
import type { ReadyHook } from './hook-index.ts';

/** A request that passed its checks. */
export type Received = {
  readonly hook: ReadyHook;
  readonly body: Buffer;
  /** null: the webhook has no `verification`. */
  readonly parts: RequestReader | null;
  readonly verified: Verified | null;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
};

/** No sender's name of an event, and no id of one, is longer: a longer text is taken for none. */
const NAME_LENGTH_MAX = 1000;

export class ReceivedCall implements ActionCall {
  readonly place = 'incoming';
  readonly options: ActionCall['options'];
  readonly #exchange: Exchange;
  readonly #received: Received;
  #payload: Payload | null | undefined;

  constructor(exchange: Exchange, received: Received, options: ActionCall['options']) {
    this.#exchange = exchange;
    this.#received = received;
    this.options = options;
  }

  get context(): ActionContext {
    const { request, search } = this.#exchange;
    const { headers, method = '' } = request;
    const { body, hook, parts, verified, atMs } = this.#received;
    const scheme = hook.sender?.verifier.scheme;
    return {
      headers, query: search, body, contentType: headers['content-type'] ?? null, method,
      path: `/webhook/in/${hook.pathSegment}`,
      receivedAt: timeText(atMs),
      event: nameIn(parts, scheme?.event),
      eventId: nameIn(parts, scheme?.dedupe ?? scheme?.id),
      verified,
    };
  }

  get origin(): RequestOrigin {
    const { request, clientAddress, requestId } = this.#exchange;
    const { rawHeaders, headers, socket } = request;
    const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    // Where the client is another than the peer, the peer is a proxy that we trust.
    const isProxied = clientAddress !== peer;
    const said = (name: string): string | undefined => {
      const value = isProxied ? headers[name] : undefined;
      return typeof value === 'string' ? value : undefined;
    };
    return {
      rawHeaders, clientAddress, requestId,
      host: said('x-forwarded-host') ?? headers.host ?? '',
      protocol: said('x-forwarded-proto') ?? ('encrypted' in socket ? 'https' : 'http'),
    };
  }

  get log(): Logger {
    return this.#exchange.log;
  }

  get hops(): number {
    return hopsOf(this.#exchange.request.headers[CHAIN_HEADER]);
  }

  payload = (): Payload => this.#decode() ?? noPayload();

  bytes = (): Buffer | null => {
    const payload = this.#decode();
    if (payload === null) return null;
    return this.#kind() === 'json' ? this.#received.body : Buffer.from(JSON.stringify(payload));
  };

  #decode(): Payload | null {
    if (this.#payload === undefined) this.#payload = this.#read();
    return this.#payload;
  }

  #read(): Payload | null {
    const { body, hook, parts } = this.#received;
    const kind = this.#kind();
    if (kind === null) return null;
    const { formField } = hook.reading;
    return parts === null ? readPayload(body, kind, formField)
      : readParsedPayload(parts, kind, formField);
  }

  #kind(): BodyKind | null {
    const { format } = this.#received.hook.reading;
    return bodyKind(format, this.#exchange.request.headers['content-type']);
  }
}

function nameIn(parts: RequestReader | null, sources: ValueSources | undefined): string | null {
  if (parts === null || sources === undefined) return null;
  const name = parts.read(sources);
  return name === null || name.length > NAME_LENGTH_MAX ? null : name;
}
