/** The HTTP client of a custom action's run: it continues the hops and the trace. */
import { CHAIN_HEADER, isChainRefused, nextHop, addChainHeader } from '../../base/webhook-chain.ts';
import { addTraceHeaders, type TraceContext } from '../../base/trace-context.ts';
import type { HttpRequest } from '../../client/http-client.ts';
import type { HttpSender, TargetResponse } from '../members/http-sender.ts';
import { formatTargetLabel } from '../webhook-label.ts';

type ChainedCall = {
  readonly hops: number; readonly trace: TraceContext | null; isChainRefused: boolean;
};

export class ChainedHttpSender implements HttpSender {
  readonly #http: HttpSender;
  readonly #call: ChainedCall;

  constructor(http: HttpSender, call: ChainedCall) {
    this.#http = http;
    this.#call = call;
  }

  async request(request: HttpRequest): Promise<TargetResponse> {
    const others = Object.entries(request.headers ?? {})
      .filter(([name]) => name.toLowerCase() !== CHAIN_HEADER);
    const { hops: callHops, trace } = this.#call;
    const hops = nextHop(callHops, () => formatTargetLabel(request.url));
    // An action may trace by itself.
    const isTraced = others.some(([name]) => name.toLowerCase() === 'traceparent');
    const headers = addTraceHeaders(
      addChainHeader(Object.fromEntries(others), hops), isTraced ? null : trace);
    const response = await this.#http.request({ ...request, headers });
    if (isChainRefused(response.headers)) this.#call.isChainRefused = true;
    return response;
  }
}
