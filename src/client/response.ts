/** An answer, read to its end or to the limit. */
import type { IncomingHttpHeaders } from 'node:http';
import { headersOf, type AnswerHead } from './answer-head.ts';

export class HttpResponse {
  readonly statusCode: number;
  readonly body: Buffer;
  /** Whether the body went on past what was read. */
  readonly isTruncated: boolean;
  /** Attempts that this answer took; set by the client. */
  attempts = 1;
  readonly #fields: readonly string[];
  #headers: IncomingHttpHeaders | null = null;

  constructor(head: AnswerHead, body: Buffer, isTruncated: boolean) {
    this.#fields = head.fields;
    this.statusCode = head.statusCode;
    this.body = body;
    this.isTruncated = isTruncated;
  }

  /** Lower-case names. Made when first asked for: most callers look at the status alone. */
  get headers(): IncomingHttpHeaders {
    this.#headers ??= headersOf(this.#fields);
    return this.#headers;
  }

  get isSuccess(): boolean {
    return this.statusCode >= 200 && this.statusCode <= 299;
  }
}
