/** A response, read to its end or to the limit. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export class HttpResponse {
  readonly statusCode: number;
  readonly body: Buffer;
  /** Whether the body went on past what was read. */
  readonly isTruncated: boolean;
  /** Attempts that this response took; set by the client. */
  attempts = 1;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage, body: Buffer, isTruncated: boolean) {
    this.#message = message;
    this.statusCode = message.statusCode ?? 0;
    this.body = body;
    this.isTruncated = isTruncated;
  }

  /** Lower-case names. Made when first asked for: most callers look at the status alone. */
  get headers(): IncomingHttpHeaders {
    return this.#message.headers;
  }

  get isSuccess(): boolean {
    return this.statusCode >= 200 && this.statusCode <= 299;
  }
}
