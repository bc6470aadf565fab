/**
 * A kept request as an action sees it: what it was told when the request came, and which run it is.
 * Credentials were never stored, so headers that held one are missing.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { CHAIN_HEADER, parseHops } from '../../../base/webhook-chain.ts';
import type { Logger } from '../../../base/log.ts';
import type { ActionContext, Verified } from '../../actions/action.ts';
import type { Payload } from '../../actions/action-payload.ts';
import type { ActionCall } from '../../actions/action-registry.ts';
import type { LogHolder } from '../../actions/run-action.ts';
import type { RequestOrigin } from '../../http/pass-through.ts';
import { MASK } from '../../http/url-credentials.ts';
import type { StoredRequest, UnparsedBody } from '../../inbox/stored-request.ts';
import {
  findFittingFormat, readPayload, type BodyKind, type BodyReading,
} from '../body-format.ts';
import { joinHeaders } from '../join-headers.ts';
import { IncomingActionCall } from '../receiving/incoming-action-call.ts';

/** One run of a kept request, to be told to an action. */
export type StoredRun = {
  readonly request: StoredRequest;
  readonly body: Buffer;
  /** As Node gave them, where that is known: making them takes as long as parsing a small body. */
  readonly headers?: IncomingHttpHeaders | null;
  /** As its webhook reads bodies now. */
  readonly bodyReading: BodyReading;
  /** The first is 1. */
  readonly attempt: number;
  readonly holder: LogHolder;
  /** Told when the payload is asked for; null: one could be made of the body. */
  readonly onRead?: (unparsed: UnparsedBody | null) => void;
};

export class StoredActionCall extends IncomingActionCall {
  readonly #run: StoredRun;
  /** Names in lower case, as Node gives them. */
  #headersMade: IncomingHttpHeaders | null;

  constructor(run: StoredRun, options: ActionCall['options']) {
    super(options);
    this.#run = run;
    this.#headersMade = run.headers ?? null;
  }

  get context(): ActionContext {
    const { request, body, attempt } = this.#run;
    const { query, method, path, receivedAt, event, eventId, isReplay } = request;
    return {
      headers: this.#headers, query, body, contentType: this.contentType ?? null, method, path,
      receivedAt, event, eventId, verified: getVerified(request),
      request: request.id, attempt, replay: isReplay,
    };
  }

  get requestId(): string {
    return this.#run.request.id;
  }

  get origin(): RequestOrigin {
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

  get #headers(): IncomingHttpHeaders {
    this.#headersMade ??= joinHeaders(listRawHeaders(this.#run.request));
    return this.#headersMade;
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

  protected readPayload(kind: BodyKind): Payload | null {
    return readPayload(this.#run.body, kind, this.#run.bodyReading.formField);
  }

  protected onPayloadRead(isParsed: boolean, kind: BodyKind | null): void {
    this.#run.onRead?.(isParsed ? null
      : { fittingFormat: findFittingFormat(this.#run.body, this.contentType, kind) });
  }
}

/** Whether the headers of a request are stored as they came, without a credential hidden. */
export function isHeadWhole({ headers }: StoredRequest): boolean {
  return headers.every(([, value]) => !value.includes(MASK));
}

/** Names and values in turn of what is stored as it came. */
function listRawHeaders({ headers }: StoredRequest): string[] {
  return headers.filter(([, value]) => value !== MASK).flat();
}

function getVerified({ verdict: { preset, secret } }: StoredRequest): Verified | null {
  return preset === null || secret === null ? null : { preset, secret };
}
