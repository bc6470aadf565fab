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
import { decodeBody, type PlainBody } from '../../senders/request/plain-body.ts';
import type { Facts } from '../../filters/facts.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import type { AvailableRoutes } from '../../inbox/replay.ts';
import type { StoredRequestHead, UnparsedBody } from '../../inbox/stored-request.ts';
import {
  readPayload, resolveBodyReading, type BodyKind, type BodyReading,
} from '../body-format.ts';
import { joinHeaders } from '../join-headers.ts';
import type { DecodedBody } from '../receiving/decoded-body.ts';
import {
  IncomingActionCall, NO_CONFIGURATION,
} from '../receiving/incoming-action-call.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../receiving/incoming-webhook-index.ts';
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
  /** What other routes share; absent: nothing is shared. */
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

  protected decodeBody(): PlainBody {
    const { request, body, bodyReading } = this.#run;
    return decodeStoredBody(request, body, bodyReading);
  }

  protected readPayload(plainBody: Buffer, kind: BodyKind): Payload | null {
    return readPayload(plainBody, this.contentType, kind, this.#run.bodyReading);
  }

  protected onPayloadRead(unparsed: UnparsedBody | null): void {
    this.#run.onRead?.(unparsed);
  }
}

/** Makes the plain body of a stored request. */
export function decodeStoredBody(
  { headers }: StoredRequestHead, body: Buffer, { plainBytesMax }: BodyReading,
): PlainBody {
  const encodings = headers.filter(([name]) =>
    name.length === CONTENT_ENCODING.length && name.toLowerCase() === CONTENT_ENCODING);
  if (encodings.length === 0) return body;
  return decodeBody(body, encodings.map(([, value]) => value).join(', '), plainBytesMax);
}

const CONTENT_ENCODING = 'content-encoding';

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

/** The facts of a stored request, for conditions. Its webhook may have been removed. */
export function createStoredFacts(
  webhooks: Pick<IncomingWebhookIndex, 'find' | 'bodyBytesMax'>, request: StoredRequestHead,
  body: Buffer,
): Facts {
  const bodyMembers = request.verdict.preset === null ? {} : { bodyFormat: 'auto' as const };
  const bodyReading = webhooks.find(request.hook)?.bodyReading
    ?? resolveBodyReading(bodyMembers, null, webhooks.bodyBytesMax);
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
