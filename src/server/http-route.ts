/** Routes as data: the same table serves the requests and makes the OpenAPI document. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { JsonObject, JsonValue, MemberSchema, Schema } from '../base/schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The callers that a route serves. `public`: anybody. `emit`, `read`, `write`, `admin`: holders of
 * a token whose scope includes that one (`access/scope.ts`), or anybody while no token exists.
 * `any`: the same of a token of any scope but `follow`.
 * `control`: only processes that can open the control socket; they may call every other route too.
 * `follow`: holders of a token of that very scope, even while no token exists.
 */
export type Access =
  | 'public' | 'any' | 'emit' | 'read' | 'write' | 'admin' | 'follow' | 'control';

/**
 * The scopes of tokens that are bound to webhooks, each with those before it. What such a token may
 * call, routes say in `bound`, and not in `access`.
 */
export const BOUND_SCOPES = ['read', 'resend', 'write'] as const;

export type BoundScope = (typeof BOUND_SCOPES)[number];

/** Whether a bound token of a scope may do what such a token of `requiredScope` may. */
export function includesBoundScope(
  grantedScope: Grant['scope'], requiredScope: BoundScope,
): boolean {
  const rank = BOUND_SCOPES.findIndex((scope) => scope === grantedScope);
  return rank >= BOUND_SCOPES.indexOf(requiredScope);
}

/** Says which holders of tokens that are bound to webhooks may call a route, and for what. */
export type BoundRule = {
  /** The least scope of a token that may call it. */
  readonly scope: BoundScope;
  /**
   * The first parameter of the path names a record of this kind: a caller who does not see it is
   * answered that there is no such record, before the rest of his request is looked at.
   */
  readonly subject?: BoundSubject;
};

export type BoundSubject = 'webhook' | 'delivery' | 'event' | 'job';

/** A token grants its holder these rights. */
export type Grant = {
  readonly scope: Exclude<Access, 'public' | 'any' | 'control'> | BoundScope;
  /** The name of the token. */
  readonly name: string;
  /** When it ends, in milliseconds since the epoch; absent: never by itself. */
  readonly expiresAtMs?: number | undefined;
  /** The only events that may be emitted, by name or pattern; absent: all. */
  readonly events?: readonly string[] | undefined;
  /** The outgoing webhooks that the token is for, and nothing else is; absent: it is not bound. */
  readonly binding?: Binding;
};

/** See base/webhook-binding.ts. */
export type Binding = {
  /** The identifier of the token. */
  readonly tokenId: string;
  readonly webhooks: readonly string[];
};

export type HttpRoute = {
  /** `ANY`: the handler decides on the method, HEAD and OPTIONS included. */
  readonly method: Method | 'ANY';
  /** Segments, `{name}` for one of them, `{name...}` at the end for one or more. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Access;
  /** Absent: tokens that are bound to webhooks may not call it, unless it is public. */
  readonly bound?: BoundRule;
  readonly parameters?: readonly ParameterSpec[];
  readonly body?: BodySpec;
  readonly responses: readonly ResponseSpec[];
  /** Default: problem documents (RFC 9457). */
  readonly errorFormat?: ErrorFormat;
  /** Its responses last as long as their readers want: their durations are not measured. */
  readonly isLongLived?: boolean;
  /**
   * The tool that programs call it by, through the Model Context Protocol. Absent: they call it by
   * `api_call`, if it is below `/api`. `none`: not at all, as its answer is a secret or has no end.
   */
  readonly tool?: RouteTool | 'none';
  /** Whether it is an incoming webhook: a page of an allowed origin may send it any header. */
  readonly isIncomingWebhook?: true;
  /** Whether no page of another origin may call it, whatever token it has. */
  readonly refusesForeignPages?: true;
  /** Whether its requests hold calls of other routes, each of which logs itself. */
  readonly passesOnCalls?: true;
  /** Whether our own commands alone call it: the OpenAPI document leaves it out. */
  readonly isInternal?: boolean;
  readonly handle: Handler;
};

/** A tool made of a route: its name, arguments and annotations follow from that, but for these. */
export type RouteTool = {
  /** The verb in its name, in place of the one that method and path give. */
  readonly verb?: string;
  /** By default the route's. */
  readonly summary?: string;
  /** The route changes nothing, whatever its method. */
  readonly isReadOnly?: true;
  /** Members of the body that it always sends: without them the route needs the scope admin. */
  readonly body?: JsonObject;
};

/** A route without its handler, and the commands that do no more than call the route. */
export type RouteDescription = Omit<HttpRoute, 'handle'> & {
  /** Each calls the route for the record that the path names, if it names one. */
  readonly commands?: readonly RouteCommand[];
};

/**
 * A route that is not yet bound to its service. Its handler gets the service as an argument, so
 * that commands read the row without a service.
 */
export type RouteRow<Service> = RouteDescription & {
  readonly handle: (exchange: Exchange, service: Service) => void | Promise<void>;
};

export function bindRoutes<Service>(
  rows: readonly RouteRow<Service>[], service: Service,
): readonly HttpRoute[] {
  return rows.map(({ commands: _, ...row }) =>
    ({ ...row, handle: (exchange) => row.handle(exchange, service) }));
}

/** A command that calls a route, and prints the answer or a sentence. */
export type RouteCommand = {
  /** `delivery:cancel` */
  readonly name: string;
  /** For help; by default as the route's. */
  readonly summary?: string;
  /** The body that it always sends; it takes none, and no query, from the command line. */
  readonly body?: JsonObject;
  /** The sentence that people read in place of the answer; `{id}` stands for the record. */
  readonly done?: string;
  /** `--json` prints it beside the identifier, for a route that answers 204. */
  readonly result?: JsonObject;
  /** The exit code is 1 if this member of the answer is false. */
  readonly successMember?: string;
};

/** Responds through the exchange. An error that it throws is sent in the route's error format. */
export type Handler = (exchange: Exchange) => void | Promise<void>;

/** The body of a route's error responses. Status and headers are the same in every format. */
export type ErrorFormat = {
  readonly mediaType: string;
  /** `message` is fit for the caller: "internal error" in place of a bug. */
  readonly encode: (code: ErrorCode, message: string) => string;
};

export type ParameterSpec = {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly schema: Schema;
  readonly isRequired?: boolean;
  /** The scope that the parameter needs, if the route needs less. */
  readonly access?: Access;
  /** How a command asks for a parameter of a query, as for a member of a record. */
  readonly option?: MemberSchema['option'];
};

export type BodySpec = {
  /** Accepted media types, the usual one first. */
  readonly mediaTypes: readonly string[];
  /** More accepted media types, of files that the schema does not describe. */
  readonly fileMediaTypes?: readonly string[];
  readonly schema: Schema;
  /** A merge patch: every member may be absent, or null. */
  readonly isPatch?: boolean;
  /** A request without a body is accepted. */
  readonly isOptional?: boolean;
  /** A valid body, for the documentation. */
  readonly example?: JsonValue;
};

export type ResponseSpec = {
  readonly status: number;
  readonly description: string;
  readonly mediaType?: string;
  /** The media types that a caller may have in its place. */
  readonly otherTypes?: readonly OtherMediaType[];
  /** The service's view of the model: read-only members are in it, write-only ones are not. */
  readonly schema?: Schema;
  readonly headers?: Readonly<Record<string, string>>;
};

export type OtherMediaType = { readonly mediaType: string; readonly schema: Schema };

/**
 * The way a request came in. `control`: through the control socket; `process`: from this process
 * itself; both are trusted. `loopback`, `network`: through a listener on such an address.
 * `embedded`: through another program's server.
 */
export type Entrance = 'control' | 'process' | 'loopback' | 'network' | 'embedded';

/** A call with this header comes from a tool: what it changes is in the log, with `via`. */
export const VIA_HEADER = 'hookshelf-via';
export const VIA_MCP = 'mcp';

/** Headers as a flat list: name, value, name, … */
export type HeaderList = readonly string[];

/** Headers as they go out, a line each: `Name: value\r\n`. `formatHeaders` makes it of a list. */
export type HeaderText = string;

/** One request and its response. Its handler calls exactly one of the `send` methods, once. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: HttpRoute;
  /** Values of the path's parameters in order, percent-decoded. */
  readonly params: readonly string[];
  /** The path that was called, with its unreserved characters decoded (RFC 3986 §6.2.2.2). */
  readonly path: string;
  /** The raw query without `?`; `''` when there is none. */
  readonly search: string;
  /** When the request began, on the monotonic clock. */
  readonly startedMs: number;
  readonly requestId: string;
  readonly entrance: Entrance;
  readonly isControl: boolean;
  /** null: no token was needed. */
  readonly grant: Grant | null;
  /**
   * The name of the token; without a token `socket` for a command on the control socket,
   * `local` for this process and this machine, `anonymous` for anybody else, also through a proxy
   * on this machine.
   */
  readonly caller: string;
  readonly clientAddress: string;
  readonly log: Logger;
  /** Called once a JSON body is there; the reading of the body throws its error. */
  onJsonBody: (() => void) | null;
  /** The URL of a path for `Location` and `Link`: below `server.baseUri` where that is set. */
  linkTo(path: string): string;
  /** Sends a whole response. Length, request id and CORS headers are added. */
  send(status: number, headers: HeaderList | HeaderText, body?: Buffer | string): void;
  sendJson(status: number, value: unknown, headers?: HeaderList): void;
  /**
   * Streams the pieces that `pull` returns until it returns null, no faster than the reader takes
   * them. A reader that takes nothing for 30 s is cut. Resolves when everything is sent or the
   * reader has gone.
   */
  sendStream(status: number, headers: HeaderList, pull: Pull): Promise<void>;
  /** The raw body. Throws `too_large`, `timeout`, and `malformed` when it was cut short. */
  readBody(): Promise<Buffer>;
  /**
   * The raw body of any size, chunk by chunk, no faster than the caller takes them. Throws
   * `timeout` when nothing arrives for 30 s, and `malformed` when it was cut short.
   */
  readChunks(): AsyncIterable<Buffer>;
  /**
   * The bytes of a JSON body, unparsed; none where the route needs no body and there is none.
   * Throws what `readBody` throws, `unsupported_media_type` for what the route does not take, and
   * `invalid` when another program has parsed the body to what JSON cannot hold.
   */
  readJsonBytes(): Promise<Buffer>;
  /** The parsed JSON body. Throws what `readJsonBytes` throws, and `malformed`. */
  readJson(): Promise<unknown>;
}

/** The next pieces of a streamed body; null at its end. */
export type Pull = () => readonly Buffer[] | null | Promise<readonly Buffer[] | null>;
