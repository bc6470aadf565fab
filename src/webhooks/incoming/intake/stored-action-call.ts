/**
 * The call of an action for a stored request. The action gets what it would have got when the
 * request came. Credentials were never stored, so headers with credentials are missing.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { readTraceContext, type TraceContext } from '../../../base/trace-context.ts';
import { MASK, silentLogger, type Logger } from '../../../base/log.ts';
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import type { ActionContext, VerifiedSender } from '../../actions/action.ts';
import type { Payload } from '../../actions/action-payload.ts';
import type { RunTurn } from '../../actions/action-registry.ts';
import type { LogHolder } from '../../actions/run-action.ts';
import type { Facts } from '../../filters/facts.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import type { AvailableRoutes } from '../../inbox/replay.ts';
import type { StoredRequestHead, UnparsedBody } from '../../inbox/stored-request.ts';
import {
  findFittingFormat, readPayload, resolveBodyReading, type BodyKind, type BodyReading,
} from '../body-format.ts';
import { joinHeaders } from '../join-headers.ts';
import type { DecodedBody } from '../receiving/decoded-body.ts';
import {
  IncomingActionCall, NO_CONFIGURATION,
} from '../receiving/incoming-action-call.ts';
import type { ReadyIncomingWebhook } from '../receiving/incoming-webhook-index.ts';
import { createFacts, findMatchingRoutes } from '../run-webhook-routes.ts';

/** One run of a stored request. */
export type StoredRun = {
  readonly request: StoredRequestHead;
  readonly body: Buffer;
  /**
   * The headers as Node gave them, if known: building them takes as long as parsing a small body.
   */
  readonly headers?: IncomingHttpHeaders | null;
  /** The webhook's current way to read bodies. */
  readonly bodyReading: BodyReading;
  /** What other routes share; absent: there is one route. */
  readonly decoded?: DecodedBody | undefined;
  /** Absent or null: the time limit of the settings. */
  readonly timeoutMs?: number | null;
  /** The first is 1. */
  readonly attemptNumber: number;
  readonly holder: LogHolder;
  /** Makes the turn of the run, if its action asks; absent: no action runs. */
  readonly createTurn?: () => RunTurn;
  /** Called when the payload is read; null: the body could be parsed. */
  readonly onRead?: (unparsed: UnparsedBody | null) => void;
};

export class StoredActionCall extends IncomingActionCall {
  readonly #run: StoredRun;
  #turn: RunTurn | null = null;
  /** Names in lower case, as Node gives them. */
  #builtHeaders: IncomingHttpHeaders | null;

  constructor(run: StoredRun, configuration = NO_CONFIGURATION) {
    super(configuration, run.decoded);
    this.#run = run;
    this.#builtHeaders = run.headers ?? null;
  }

  get webhookId(): string {
    return this.#run.request.hook;
  }

  get timeoutMs(): number | null {
    return this.#run.timeoutMs ?? null;
  }

  get context(): ActionContext {
    const { request, body, attemptNumber } = this.#run;
    const { query, method, path, receivedAt, event, eventId, isReplay } = request;
    return {
      headers: this.#headers, query, body, contentType: this.contentType ?? null, method, path,
      receivedAt, event, eventId, verified: getVerified(request),
      request: request.id, attempt: attemptNumber, replay: isReplay,
    };
  }

  get storedRequestId(): string {
    return this.#run.request.id;
  }

  get turn(): RunTurn | null {
    this.#turn ??= this.#run.createTurn?.() ?? null;
    return this.#turn;
  }

  get requestOrigin(): RequestOrigin {
    const { id, client, host, protocol } = this.#run.request;
    return {
      rawHeaders: listRawHeaders(this.#run.request),
      clientAddress: client, host, protocol, requestId: id,
    };
  }

  get log(): Logger {
    return this.#run.holder.log;
  }

  get hops(): number {
    return parseHops(this.#headers[CHAIN_HEADER]);
  }

  get trace(): TraceContext | null {
    return readTraceContext(this.#headers);
  }

  get #headers(): IncomingHttpHeaders {
    this.#builtHeaders ??= joinHeaders(listRawHeaders(this.#run.request));
    return this.#builtHeaders;
  }

  protected get body(): Buffer {
    return this.#run.body;
  }

  protected get contentType(): string | undefined {
    return this.#headers['content-type'];
  }

  protected get bodyReading(): BodyReading {
    return this.#run.bodyReading;
  }

  protected get isDecodedShared(): boolean {
    return this.#run.decoded !== undefined;
  }

  protected readPayload(kind: BodyKind): Payload | null {
    const { body, bodyReading } = this.#run;
    return readPayload(body, this.contentType, kind, bodyReading);
  }

  protected onPayloadRead(isParsed: boolean, kind: BodyKind | null): void {
    this.#run.onRead?.(isParsed ? null
      : { fittingFormat: findFittingFormat(this.#run.body, this.contentType, kind) });
  }
}

/** The current routes of a webhook, and which of them match a stored request. */
export function findStoredRequestRoutes(
  { routes, bodyReading }: ReadyIncomingWebhook, request: StoredRequestHead, readBody: () => Buffer,
): AvailableRoutes {
  return {
    names: routes.map(({ name }) => name),
    listMatching() {
      const run = {
        request, body: readBody(), bodyReading, attemptNumber: 1, holder: { log: silentLogger },
      };
      const facts = createFacts(new StoredActionCall(run));
      return findMatchingRoutes(routes, facts).map(({ name }) => name);
    },
  };
}

/** The facts of a stored request, for conditions; `webhook` is undefined if it was removed. */
export function createStoredFacts(
  webhook: ReadyIncomingWebhook | undefined, request: StoredRequestHead, body: Buffer,
): Facts {
  const bodyReading = webhook?.bodyReading
    ?? resolveBodyReading(request.verdict.preset === null ? {} : { bodyFormat: 'auto' }, null);
  const run = { request, body, bodyReading, attemptNumber: 1, holder: { log: silentLogger } };
  return createFacts(new StoredActionCall(run));
}

/** Whether the headers are stored as they came, without a masked credential. */
export function isHeadWhole({ headers }: StoredRequestHead): boolean {
  return headers.every(([, value]) => !value.includes(MASK));
}

/** Names and values in turn of the headers that are stored as they came. */
function listRawHeaders({ headers }: StoredRequestHead): string[] {
  return headers.filter(([, value]) => value !== MASK).flat();
}

/** null: the webhook asked for no signature when the request came. */
function getVerified({ verdict: { preset, secret } }: StoredRequestHead): VerifiedSender | null {
  return preset === null || secret === null ? null : { preset, secret };
}
