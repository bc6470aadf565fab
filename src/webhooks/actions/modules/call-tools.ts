/** The tools `http` and `log` of one run in the action worker, as the main thread serves them. */
import { formatMessage, type Logger } from '../../../base/log.ts';
import type { HttpSender } from '../../http/http-sender.ts';
import { ChainedHttpSender, type ChainedCall } from '../chained-http-sender.ts';
import { copyBytes, describeThrown, rebuildThrown } from './action-worker.ts';
import type {
  LogReport, RequestSettlement, RequestReport, ThrownMessage,
} from './worker-messages.ts';

export class CallTools {
  readonly #http: HttpSender;
  readonly #aborts = new Map<number, AbortController>();
  /** The errors of requests. One that the action throws on is thrown in this thread as it was. */
  readonly #errors = new Map<number, unknown>();
  #call: ChainedCall & { readonly log: Logger };

  constructor(call: ChainedCall & { readonly log: Logger }, http: HttpSender) {
    this.#call = call;
    this.#http = http;
  }

  log({ level, message, thrownMessage, fields, errors }: LogReport): void {
    const errorFields = Object.entries(errors).map(([name, thrown]) =>
      [name, rebuildThrown(thrown)]);
    const value = thrownMessage === null ? message : rebuildThrown(thrownMessage);
    this.#call.log[level](formatMessage(value), { ...fields, ...Object.fromEntries(errorFields) });
  }

  async request({ requestId, request }: RequestReport): Promise<RequestSettlement> {
    const abort = new AbortController();
    this.#aborts.set(requestId, abort);
    try {
      const sender = new ChainedHttpSender(this.#http, this.#call);
      const response = await sender.request({ ...request, signal: abort.signal });
      const { statusCode, headers, body } = response;
      return { response: { statusCode, headers, body: copyBytes(body) } };
    } catch (thrown) {
      this.#errors.set(requestId, thrown);
      return { thrown: describeThrown(thrown, null) };
    } finally {
      this.#aborts.delete(requestId);
    }
  }

  /** Aborts the request, if it is one of this run. */
  abort(requestId: number): void {
    this.#aborts.get(requestId)?.abort();
  }

  abortAll(): void {
    for (const requestId of this.#aborts.keys()) this.abort(requestId);
  }

  /** Keeps nothing of the request that the call is for: the action is late, and may never end. */
  forgetRequest(): void {
    const { hops, trace, log } = this.#call;
    this.#call = { hops, trace, log, isChainRefused: false };
  }

  /** The error that the action threw, in this thread. */
  restoreThrown(thrown: ThrownMessage): unknown {
    const { requestId } = thrown;
    return requestId !== null && this.#errors.has(requestId) ? this.#errors.get(requestId)
      : rebuildThrown(thrown);
  }
}
