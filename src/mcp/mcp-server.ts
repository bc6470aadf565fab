/** Serves messages of the Model Context Protocol, as JSON or, with progress, as event streams. */
import type { RequestListener } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Clock, Timer } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/fields.ts';
import { encodeJson } from '../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS } from '../server/event-stream.ts';
import { FORWARDING_HEADERS } from '../server/exchange/client-address.ts';
import { callApiAnyStatus, openResponse, type ApiTarget } from '../server/local/api-call.ts';
import { createMemoryTarget } from '../server/local/memory-target.ts';
import {
  VIA_HEADER, VIA_MCP, type Entrance, type Exchange, type HttpRoute,
} from '../server/http-route.ts';
import { MCP_PATH, RELAY_HEADER, parseRelayHeader, type RelayScope } from './doors.ts';
import {
  INTERNAL_ERROR, findEra, isRpcError, readMessage, rpcError, type Era, type RpcError,
  type RpcRequest, type Transport,
} from './message.ts';
import { answerRequest, type ManualReader } from './methods.ts';
import { makeApiTools, makeRouteTools, selectRoutes } from './route-tools.ts';
import {
  createToolLists, type CallerApi, type Tool, type ToolCaller, type ToolContext,
} from './tool.ts';
import { makeWebhookTools } from './webhook-tools.ts';

const JSON_HEADERS = ['Content-Type', 'application/json'] as const;
const COMMENT_MS = 15_000;
/** The headers that say who calls. */
const PASSED_ON_HEADERS = ['authorization', ...FORWARDING_HEADERS];

export type McpOptions = {
  /** Whether this process serves, so that requests can come while a tool waits. */
  readonly isServer: boolean;
  readonly clock: Clock;
  readonly manual: ManualReader;
  /** All routes that there are; asked for with the first message. */
  readonly listRoutes: () => readonly HttpRoute[];
  readonly listener: (entrance: Entrance) => RequestListener;
  /** Makes the caller of tools. With a scope, he may call no more than it allows. */
  readonly createCaller: (exchange: Exchange, scope: RelayScope | null) => ToolCaller;
};

/** Answers a request, and tells the progress of its tool. */
type AnswerCall = (tellProgress: ToolContext['tellProgress']) => Promise<JsonObject | RpcError>;

export class McpServer {
  readonly #options: McpOptions;
  readonly #tools: readonly Tool[];
  readonly #listTools: ReturnType<typeof createToolLists>;
  readonly #targets = new Map<Entrance, ApiTarget>();
  /** The calls under way; each aborts when its caller has gone. */
  readonly #calls = new Set<AbortController>();

  constructor(options: McpOptions) {
    this.#options = options;
    const routes = options.listRoutes();
    const reachable = selectRoutes(routes);
    this.#tools = [
      ...makeRouteTools(reachable), ...makeWebhookTools(routes, options.isServer),
      ...makeApiTools(reachable),
    ];
    this.#listTools = createToolLists(this.#tools);
  }

  /** Ends the calls under way; idempotent. */
  close(): void {
    for (const call of this.#calls) call.abort();
  }

  async serve(exchange: Exchange): Promise<void> {
    const request = readMessage(await exchange.readJsonBytes());
    if (request === null) return exchange.send(202, []);
    if (isRpcError(request)) return sendAnswer(exchange, request.id, request);
    const { transport, scope } = readTransport(exchange);
    const era = findEra(request, transport);
    if (typeof era === 'object') return sendAnswer(exchange, request.id, era);
    const call = new AbortController();
    const abort = (): void => call.abort();
    const { response, request: { socket } } = exchange;
    this.#calls.add(call);
    response.once('close', abort);
    // A client may end its side of the connection and still read the answer at once, but a client
    // that has ended it does not wait for a tool that takes long.
    const takesLong = this.#findTool(request)?.tellsProgress === true;
    if (takesLong) socket.once('end', abort);
    const context = {
      caller: this.#options.createCaller(exchange, scope), clock: this.#options.clock,
      api: this.#createApi(exchange), signal: call.signal,
    };
    const answer: AnswerCall = (tellProgress) =>
      this.#answer(exchange, request, era, { ...context, tellProgress });
    try {
      const token = takesLong ? readProgressToken(exchange, request) : null;
      if (token === null) sendAnswer(exchange, request.id, await answer(() => {}));
      else await this.#stream(exchange, request.id, answer, token);
    } finally {
      this.#calls.delete(call);
      // The connection may be used again.
      socket.off('end', abort);
    }
  }

  async #answer(
    exchange: Exchange, request: RpcRequest, era: Era, context: ToolContext,
  ): Promise<JsonObject | RpcError> {
    try {
      return await answerRequest(request, era, {
        tools: this.#tools, listTools: this.#listTools, manual: this.#options.manual, context,
      });
    } catch (error) {
      exchange.log.error('a call of a tool failed unexpectedly', { error });
      return rpcError(INTERNAL_ERROR, 'internal error');
    }
  }

  #findTool({ method, params: { name } }: RpcRequest): Tool | undefined {
    return method === 'tools/call' ? this.#tools.find((tool) => tool.name === name) : undefined;
  }

  async #stream(
    exchange: Exchange, id: RpcRequest['id'], answer: AnswerCall, progressToken: JsonValue,
  ): Promise<void> {
    const { clock } = this.#options;
    const events = new PassThrough();
    const startTimer = (): Timer => clock.startTimer(COMMENT_MS, () => {
      events.write(':\n\n');
      timer = startTimer();
    });
    let timer = startTimer();
    const answering = answer((progress, total) => events.write(formatEvent({
      method: 'notifications/progress', params: { progressToken, progress, total },
    }))).then((result) => {
      timer.cancel();
      events.end(formatEvent(toResponse(id, result)));
    });
    const iterator: AsyncIterator<Buffer> = events[Symbol.asyncIterator]();
    await exchange.sendStream(200, EVENT_STREAM_HEADERS, async () => {
      const piece = await iterator.next();
      return piece.done === true ? null : [piece.value];
    });
    await answering;
  }

  /** The API as the caller may use it: by his token, and by the way that he came in. */
  #createApi(exchange: Exchange): CallerApi {
    const { headers: callersHeaders } = exchange.request;
    const passedOn = PASSED_ON_HEADERS.filter((name) => callersHeaders[name] !== undefined)
      .map((name) => [name, String(callersHeaders[name])]);
    const headers = {
      ...Object.fromEntries(passedOn),
      'x-request-id': exchange.requestId, [VIA_HEADER]: VIA_MCP,
    };
    return {
      open: (call) => openResponse(this.#getTarget(exchange.entrance),
        { ...call, headers: { ...call.headers, ...headers } }),
      callEndpoint: (call) => callApiAnyStatus(this.#getTarget('process'), call),
    };
  }

  #getTarget(entrance: Entrance): ApiTarget {
    const target = this.#targets.get(entrance)
      ?? createMemoryTarget(this.#options.listener(entrance));
    this.#targets.set(entrance, target);
    return target;
  }
}

function readTransport({ route, request: { headers } }: Exchange): {
  readonly transport: Transport; readonly scope: RelayScope | null;
} {
  if (route.path === MCP_PATH) {
    const header = (name: string): string => String(headers[name] ?? '');
    return { transport: { header, isInitialized: false }, scope: null };
  }
  const relay = parseRelayHeader(String(headers[RELAY_HEADER]));
  if (relay !== null) {
    return { transport: { header: null, isInitialized: relay.isInitialized }, scope: relay.scope };
  }
  throw new AppError('malformed', `this is for \`hookshelf mcp\`: other programs call ${MCP_PATH}`);
}

/** The token of a caller who wants to be told the progress; null: he does not. */
function readProgressToken(
  { request: { headers } }: Exchange, { params: { _meta: meta } }: RpcRequest,
): JsonValue {
  const takesStream = headers.accept?.includes(EVENT_STREAM) === true;
  return takesStream && isJsonObject(meta) ? meta['progressToken'] ?? null : null;
}

function sendAnswer(
  exchange: Exchange, id: RpcRequest['id'] | undefined, answer: JsonObject | RpcError,
): void {
  // On stdio an error of the protocol is an answer like any other.
  const status = isRpcError(answer) && exchange.route.path === MCP_PATH ? answer.status : 200;
  exchange.send(status, JSON_HEADERS, encodeJson(toResponse(id, answer)));
}

/** `id` is undefined if the message has none, or none that is valid. */
function toResponse(
  id: RpcRequest['id'] | undefined, answer: JsonObject | RpcError,
): JsonObject {
  const head = { jsonrpc: '2.0', ...id === undefined ? {} : { id } };
  if (!isRpcError(answer)) return { ...head, result: answer };
  const { status: _, id: __, ...error } = answer;
  return { ...head, error };
}

function formatEvent(message: JsonObject): string {
  return `event: message\ndata: ${encodeJson({ jsonrpc: '2.0', ...message })}\n\n`;
}
