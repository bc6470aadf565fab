/** Routes as data: what serves a request is also what the OpenAPI document is made from. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { JsonValue, Schema } from '../base/schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: anybody; a holder of a token of that scope (or anybody, while no token exists); or
 * only a process that can open the control socket, which may do everything else too.
 */
export type Access = 'public' | 'read' | 'write' | 'admin' | 'control';

export type HttpRoute = {
  /** `ANY`: the handler decides on the method, HEAD and OPTIONS included. */
  readonly method: Method | 'ANY';
  /** Segments, `{name}` for one of them, `{name...}` at the end for one or more. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly access: Access;
  readonly parameters?: readonly ParameterSpec[];
  readonly body?: BodySpec;
  readonly responses: readonly ResponseSpec[];
  /** Problem documents (RFC 9457) when not given. */
  readonly errorFormat?: ErrorFormat;
  /** Its answers have no end of their own: how long they take says nothing. */
  readonly isLongLived?: boolean;
  readonly handle: Handler;
};

/** Answers through the exchange; what it throws is answered in the route's format of errors. */
export type Handler = (exchange: Exchange) => void | Promise<void>;

/** How a route writes its errors: status and headers are the same in every format. */
export type ErrorFormat = {
  readonly mediaType: string;
  /** The body; `message` is what the caller may read, "internal error" in place of a bug. */
  readonly encode: (code: ErrorCode, message: string) => string;
};

export type ParameterSpec = {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly schema: Schema;
  readonly isRequired?: boolean;
};

export type BodySpec = {
  /** Accepted media types; the first is the usual one. */
  readonly mediaTypes: readonly string[];
  readonly schema: Schema;
  /** A merge patch: every member may be absent, or null. */
  readonly isPatch?: boolean;
  /** The request may come without. */
  readonly isOptional?: boolean;
  /** A body that is accepted as it stands, for the documentation. */
  readonly example?: JsonValue;
};

export type ResponseSpec = {
  readonly status: number;
  readonly description: string;
  readonly mediaType?: string;
  /** `view`: as the service shows it (write-only members gone, read-only ones there). */
  readonly schema?: Schema;
  readonly headers?: Readonly<Record<string, string>>;
};

/** One request and its answer. Exactly one of the `send` methods is called. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: HttpRoute;
  /** Values of the path's parameters in order, percent-decoded. */
  readonly params: readonly string[];
  /** The raw query without `?`; `''` when there is none. */
  readonly search: string;
  /** When it began, on the clock that only moves on. */
  readonly startedMs: number;
  readonly requestId: string;
  readonly isControl: boolean;
  readonly clientAddress: string;
  readonly log: Logger;
  /** What `Location` and `Link` say for a path: below `server.baseUri` where that is set. */
  linkTo(path: string): string;
  /**
   * Status, headers (name, value, name, … or the lines that `headerLines` made of them) and body;
   * adds length, request id and CORS.
   */
  send(status: number, headers: readonly string[] | string, body?: Buffer | string): void;
  sendJson(status: number, value: unknown, headers?: readonly string[]): void;
  /**
   * Streams what `pull` gives until it gives null, waiting for a slow reader, who is cut after
   * taking nothing for 30 s. Resolves when all is sent or the reader has gone.
   */
  sendStream(status: number, headers: readonly string[], pull: Pull): Promise<void>;
  /** The raw body; throws `too_large`, `timeout`, or `malformed` when it was cut short. */
  readBody(): Promise<Buffer>;
  /**
   * The raw body of any size, piece by piece, as fast as it is taken; throws `timeout` when nothing
   * arrives for 30 s, and `malformed` when it was cut short.
   */
  readChunks(): AsyncIterable<Buffer>;
  /** The body as JSON of one of the media types; throws also `unsupported_media_type`. */
  readJson(mediaTypes?: readonly string[]): Promise<unknown>;
}

export type Pull = () => readonly Buffer[] | null | Promise<readonly Buffer[] | null>;
