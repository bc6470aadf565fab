/**
 * The call of an action for a request of an incoming webhook, which was admitted just now or is
 * stored. The action gets the same in either case, but for credentials in headers, which are never
 * stored.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createTaggedLogger, type Logger } from '../../../base/log.ts';
import {
  createTraceFields, readTraceContext, type TraceContext,
} from '../../../base/trace-context.ts';
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import type { ActionContext, ActionOptions, VerifiedSender } from '../../actions/action.ts';
import { createEmptyPayload, type Payload } from '../../actions/action-payload.ts';
import type { ActionCall, RunWait } from '../../actions/action-registry.ts';
import type { RequestOrigin } from '../../members/pass-through.ts';
import {
  findRequestTrace, type StoredRequestHead, type StoredVerdict, type UnparsedBody,
} from '../stored-request.ts';
import type { ValueSource } from '../../senders/scheme/scheme.ts';
import { listRawHeaders } from '../join-headers.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';

export interface CalledRequest {
  readonly webhook: ReadyIncomingWebhook;
  readonly body: IncomingBody;
  /** By names in lower case, as Node gives them. */
  readonly headers: IncomingHttpHeaders;
  /** The members that the action is told beside these. */
  readonly head: CalledHead;
  readonly origin: RequestOrigin;
  readonly log: Logger;
  /** Must be called when an action asks for the payload: whether one can be made of the body. */
  notePayload(isParsed: boolean): void;
}

export type CalledHead = Pick<StoredRequestHead,
  'method' | 'path' | 'query' | 'receivedAt' | 'event' | 'eventId' | 'verdict' | 'isReplay'>;

export class IncomingActionCall implements ActionCall {
  /** This and `options` are set once the action configuration of the route is found. */
  configurationId = '';
  options: ActionOptions = {};
  isChainRefused = false;
  readonly webhookId: string;
  readonly timeoutMs: number | null;
  readonly secretSources: readonly ValueSource[];
  readonly storedRequestId: string | null;
  readonly #request: CalledRequest;
  readonly #attemptNumber: number;
  readonly #createWait: () => RunWait;
  #wait: RunWait | null = null;

  /**
   * `createWait` makes `wait`, if the action asks. `storedRequestId` is null for a
   * request that is not stored, or only after the run. The first attempt is 1.
   */
  constructor(
    request: CalledRequest, createWait: () => RunWait, storedRequestId: string | null = null,
    attemptNumber = 1,
  ) {
    const { identifier, actionTimeoutMs, bodyReading } = request.webhook;
    this.webhookId = identifier;
    this.timeoutMs = actionTimeoutMs;
    this.secretSources = bodyReading.secretSources;
    this.storedRequestId = storedRequestId;
    this.#request = request;
    this.#attemptNumber = attemptNumber;
    this.#createWait = createWait;
  }

  get context(): ActionContext {
    const { webhook, head, body, headers: shared } = this.#request;
    const { method, path, query, receivedAt, event, eventId, verdict, isReplay } = head;
    // With several routes, each has headers of its own.
    const headers = webhook.hasRoutes ? { ...shared } : shared;
    return {
      headers, query, body: body.received, contentType: headers['content-type'] ?? null,
      method, path, receivedAt, event, eventId, verified: getVerified(verdict),
      request: this.storedRequestId, attempt: this.#attemptNumber, replay: isReplay,
    };
  }

  get wait(): RunWait {
    this.#wait ??= this.#createWait();
    return this.#wait;
  }

  /** Whether the run was given up while it waited for others. */
  get isGivenUp(): boolean {
    return this.#wait?.cutOff?.aborted === true;
  }

  get requestOrigin(): RequestOrigin {
    return this.#request.origin;
  }

  get log(): Logger {
    return this.#request.log;
  }

  get hops(): number {
    return parseHops(this.#request.headers[CHAIN_HEADER]);
  }

  get trace(): TraceContext | null {
    return readTraceContext(this.#request.headers);
  }

  payload(): Payload {
    const payload = this.#request.body.readPayload();
    this.#request.notePayload(payload !== null);
    return payload ?? createEmptyPayload();
  }

  payloadJson(): Buffer | null {
    const json = this.#request.body.readJson();
    this.#request.notePayload(json !== null);
    return json;
  }

  plainBody(): Buffer {
    const { plain, received } = this.#request.body;
    if (plain === null) this.#request.notePayload(false);
    return plain ?? received;
  }
}

/** null: the webhook asked for no signature when the request came. */
function getVerified({ preset, secret }: StoredVerdict): VerifiedSender | null {
  return preset === null || secret === null ? null : { preset, secret };
}

export type PayloadState = 'unread' | 'parsed' | UnparsedBody;

/** A stored request that a route runs for. */
export class RouteRequest implements CalledRequest {
  readonly webhook: ReadyIncomingWebhook;
  readonly body: IncomingBody;
  readonly headers: IncomingHttpHeaders;
  readonly head: StoredRequestHead;
  /** `unread`: the action did not ask for it. */
  payloadState: PayloadState = 'unread';
  readonly #route: string;
  readonly #log: Logger;

  constructor(
    webhook: ReadyIncomingWebhook, head: StoredRequestHead, headers: IncomingHttpHeaders,
    body: IncomingBody, { route, log }: { readonly route: string; readonly log: Logger },
  ) {
    this.webhook = webhook;
    this.head = head;
    this.headers = headers;
    this.body = body;
    this.#route = route;
    this.#log = log;
  }

  get origin(): RequestOrigin {
    const { id, client, host, protocol } = this.head;
    const rawHeaders = listRawHeaders(this.head);
    return { rawHeaders, clientAddress: client, host, protocol, requestId: id };
  }

  get log(): Logger {
    return createTaggedLogger(this.#log, {
      request: this.head.id, ...createTraceFields(findRequestTrace(this.head)),
      ...this.webhook.labels, route: this.#route,
    });
  }

  notePayload(isParsed: boolean): void {
    if (this.payloadState !== 'unread' || this.body.received.length === 0) return;
    this.payloadState = isParsed ? 'parsed' : this.body.explainUnparsed();
  }
}
