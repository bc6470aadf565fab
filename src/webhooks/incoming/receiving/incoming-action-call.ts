/**
 * The call of an action for a request of an incoming webhook: for one that was admitted just now,
 * or for a stored one. The action gets the same in either case, but for credentials in headers,
 * which are never stored.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { formatTimestamp } from '../../../base/clock.ts';
import { createTaggedLogger, type Logger } from '../../../base/log.ts';
import {
  createTraceFields, readTraceContext, type TraceContext,
} from '../../../base/trace-context.ts';
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import type { ActionContext, ActionOptions, VerifiedSender } from '../../actions/action.ts';
import { createEmptyPayload, type Payload } from '../../actions/action-payload.ts';
import type { ActionCall, RunTurn } from '../../actions/action-registry.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import {
  findRequestTrace, type StoredRequestHead, type UnparsedBody,
} from '../../inbox/stored-request.ts';
import type { ValueSource } from '../../senders/scheme/scheme.ts';
import { listRawHeaders } from '../join-headers.ts';
import { resolveOrigin, type AdmittedRequest } from './admitted-request.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';

export abstract class IncomingActionCall implements ActionCall {
  /** This and `options` are set once the action configuration of the route is found. */
  configuration = '';
  options: ActionOptions = {};
  isChainRefused = false;
  readonly webhookId: string;
  readonly timeoutMs: number | null;
  readonly secretSources: readonly ValueSource[];
  readonly storedRequestId: string | null;
  protected readonly body: IncomingBody;
  protected readonly headers: IncomingHttpHeaders;

  /** `storedRequestId` is null for a request that is not stored, or only after the run. */
  constructor(
    { identifier, actionTimeoutMs, bodyReading }: ReadyIncomingWebhook, body: IncomingBody,
    headers: IncomingHttpHeaders, storedRequestId: string | null,
  ) {
    this.webhookId = identifier;
    this.timeoutMs = actionTimeoutMs;
    this.secretSources = bodyReading.secretSources;
    this.storedRequestId = storedRequestId;
    this.body = body;
    this.headers = headers;
  }

  abstract get context(): ActionContext;
  abstract get turn(): RunTurn | null;
  abstract get requestOrigin(): RequestOrigin;
  abstract get log(): Logger;
  /** Called when the action asks for the payload: whether one can be made of the body. */
  protected abstract onPayloadRead(isParsed: boolean): void;

  payload(): Payload {
    const payload = this.body.readPayload();
    this.onPayloadRead(payload !== null);
    return payload ?? createEmptyPayload();
  }

  bytes(): Buffer | null {
    const json = this.body.readJson();
    this.onPayloadRead(json !== null);
    return json;
  }

  plainBody(): Buffer {
    const { plain, received } = this.body;
    if (plain === null) this.onPayloadRead(false);
    return plain ?? received;
  }

  get hops(): number {
    return parseHops(this.headers[CHAIN_HEADER]);
  }

  get trace(): TraceContext | null {
    return readTraceContext(this.headers);
  }
}

/** A run before the response: the request is stored after it, or not at all. */
export class AdmittedActionCall extends IncomingActionCall {
  readonly #request: AdmittedRequest;
  readonly #attemptNumber: number;
  readonly #makeId: () => string;

  /** `makeId` makes the place of the run, if its action asks. The first attempt is 1. */
  constructor(
    request: AdmittedRequest, makeId: () => string, storedRequestId: string | null = null,
    attemptNumber = 1,
  ) {
    super(request.webhook, request.body, request.exchange.request.headers, storedRequestId);
    this.#request = request;
    this.#attemptNumber = attemptNumber;
    this.#makeId = makeId;
  }

  get context(): ActionContext {
    const { exchange: { request: { method = '' }, search }, webhook } = this.#request;
    const { event, eventId, verified, receivedAtMs } = this.#request;
    // With several routes, each has headers of its own.
    const headers = webhook.hasRoutes ? { ...this.headers } : this.headers;
    return {
      headers, query: search, body: this.body.received,
      contentType: headers['content-type'] ?? null, method,
      path: `/webhook/in/${webhook.pathSegment}`,
      receivedAt: formatTimestamp(receivedAtMs), event, eventId, verified,
      request: this.storedRequestId, attempt: this.#attemptNumber, replay: false,
    };
  }

  /** Its sender waits for the result, so it may begin as long as that. */
  get turn(): RunTurn {
    return { place: this.#makeId(), cutOff: null, onWaiting: () => {} };
  }

  get requestOrigin(): RequestOrigin {
    return resolveOrigin(this.#request.exchange);
  }

  get log(): Logger {
    return this.#request.log;
  }

  protected onPayloadRead(isParsed: boolean): void {
    if (!isParsed) this.#request.noteUnparsed();
  }
}

/** One run of a stored request. */
type StoredRun = {
  readonly request: StoredRequestHead;
  readonly body: IncomingBody;
  /** By names in lower case, as Node gives them. */
  readonly headers: IncomingHttpHeaders;
  readonly route: string;
  /** The first is 1. */
  readonly attemptNumber: number;
  readonly log: Logger;
  /** Makes the turn of the run, if its action asks. */
  readonly createTurn: () => RunTurn;
};

export class StoredActionCall extends IncomingActionCall {
  /** undefined: the action did not ask for the payload; null: it could be parsed. */
  unparsed: UnparsedBody | null | undefined;
  readonly #webhook: ReadyIncomingWebhook;
  readonly #run: StoredRun;
  #turn: RunTurn | null = null;

  constructor(webhook: ReadyIncomingWebhook, run: StoredRun) {
    super(webhook, run.body, run.headers, run.request.id);
    this.#webhook = webhook;
    this.#run = run;
  }

  get context(): ActionContext {
    const { request, attemptNumber } = this.#run;
    const { query, method, path, receivedAt, event, eventId, isReplay } = request;
    return {
      headers: this.headers, query, body: this.body.received,
      contentType: this.headers['content-type'] ?? null, method, path,
      receivedAt, event, eventId, verified: getVerified(request),
      request: request.id, attempt: attemptNumber, replay: isReplay,
    };
  }

  /** Made at most once. */
  get turn(): RunTurn {
    this.#turn ??= this.#run.createTurn();
    return this.#turn;
  }

  /** Whether the run was given up while it waited for others. */
  get isGivenUp(): boolean {
    return this.#turn?.cutOff?.aborted === true;
  }

  get requestOrigin(): RequestOrigin {
    const { id, client, host, protocol } = this.#run.request;
    return {
      rawHeaders: listRawHeaders(this.#run.request),
      clientAddress: client, host, protocol, requestId: id,
    };
  }

  get log(): Logger {
    const { log, request, route } = this.#run;
    return createTaggedLogger(log, {
      request: request.id, ...createTraceFields(findRequestTrace(request)),
      ...this.#webhook.labels, route,
    });
  }

  protected onPayloadRead(isParsed: boolean): void {
    if (this.unparsed !== undefined || this.body.received.length === 0) return;
    this.unparsed = isParsed ? null : this.body.explainUnparsed();
  }
}

/** null: the webhook asked for no signature when the request came. */
function getVerified(
  { verdict: { preset, secret } }: StoredRequestHead,
): VerifiedSender | null {
  return preset === null || secret === null ? null : { preset, secret };
}
