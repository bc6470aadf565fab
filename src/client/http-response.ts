/** A response, read to its end or to the limit. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export class HttpResponse {
  readonly statusCode: number;
  readonly body: Buffer;
  /** Whether the body went on past what was read. */
  readonly isTruncated: boolean;
  /** The attempts of its call; set by `HttpCall` at the end. */
  attempts = 1;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage, body: Buffer, isTruncated: boolean) {
    this.#message = message;
    this.statusCode = message.statusCode ?? 0;
    this.body = body;
    this.isTruncated = isTruncated;
  }

  /** The names are in lower case. node:http makes the object here: most callers need no headers. */
  get headers(): IncomingHttpHeaders {
    return this.#message.headers;
  }
}
