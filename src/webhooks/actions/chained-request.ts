/** The requests of a custom action's run: they continue the hops and the trace. */
import { CHAIN_HEADER, isChainRefused, nextHop, addChainHeader } from '../../base/webhook-chain.ts';
import { addTraceHeaders, type TraceContext } from '../../base/trace-context.ts';
import type { HttpRequest } from '../../client/http-client.ts';
import type { HttpSender, TargetResponse } from '../members/http-sender.ts';
import { formatTargetLabel } from '../webhook-label.ts';

type ChainedCall = {
  readonly hops: number; readonly trace: TraceContext | null; isChainRefused: boolean;
};

export async function sendInChain(
  http: HttpSender, call: ChainedCall, request: HttpRequest,
): Promise<TargetResponse> {
  const others = Object.entries(request.headers ?? {})
    .filter(([name]) => name.toLowerCase() !== CHAIN_HEADER);
  const hops = nextHop(call.hops, () => formatTargetLabel(request.url));
  // An action may trace by itself.
  const isTraced = others.some(([name]) => name.toLowerCase() === 'traceparent');
  const headers = addTraceHeaders(
    addChainHeader(Object.fromEntries(others), hops), isTraced ? null : call.trace);
  const response = await http.request({ ...request, headers });
  if (isChainRefused(response.headers)) call.isChainRefused = true;
  return response;
}
