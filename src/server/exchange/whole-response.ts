/**
 * Sends responses whose bodies are known whole. Our own servers write each as one text, and all of
 * one turn of the event loop together, at its end. Nothing waits for a timer.
 */
import type { ServerResponse } from 'node:http';
import { formatHttpDate, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { http } from '../../base/node-modules.ts';
import type { HeaderText } from '../http-route.ts';
import { parseHeaderText } from './header-text.ts';
import { cutStalledReader } from './response-stream.ts';

/** A response whose body is known whole; `bytes` is its length in UTF-8. */
export type WholeResponse = {
  readonly status: number;
  readonly headerText: HeaderText;
  readonly body: Buffer | string | undefined;
  readonly bytes: number;
  /** Whether `headerText` says that the connection closes. */
  readonly closesConnection: boolean;
};

type ResponseBatcherOptions = {
  /** Readers that take nothing for so long are cut. */
  readonly stallMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

type BatchedResponse = WholeResponse & { readonly response: ServerResponse };

/**
 * Sends all responses of one turn of the event loop together, at its end: with 64 connections a GET
 * takes 11 µs of CPU time so, and 15 or more when each response is written at once (bench
 * `get-one`). Durable POSTs take the same either way.
 */
export class ResponseBatcher {
  readonly #options: ResponseBatcherOptions;
  #batch: BatchedResponse[] = [];
  readonly #flush = (): void => {
    const batch = this.#batch;
    this.#batch = [];
    const date = formatHttpDate(this.#options.clock.now());
    for (const entry of batch) this.#send(entry, date);
  };

  constructor(options: ResponseBatcherOptions) {
    this.#options = options;
  }

  /** Sends the response at the end of the turn, or at once when it `isUrgent`. */
  add(entry: BatchedResponse, isUrgent: boolean): void {
    if (isUrgent) this.#send(entry, null);
    else if (this.#batch.push(entry) === 1) setImmediate(this.#flush);
  }

  /**
   * `date` is null in the midst of a turn. Then the response goes Node's way, which leaves the next
   * request of the connection to another turn.
   */
  #send(entry: BatchedResponse, date: string | null): void {
    const { response, status, headerText, body } = entry;
    if (response.destroyed) return;
    try {
      const isSent = date !== null && response instanceof SingleWriteResponse
        && response.sendWhole(entry, date);
      if (!isSent) response.writeHead(status, parseHeaderText(headerText)).end(body);
    } catch (thrown) {
      // Another program may have changed the response object. The other responses must go out.
      this.#options.logger.error('an answer could not be sent', { error: thrown });
      response.destroy();
      return;
    }
    const { socket } = response;
    // The kernel did not take all of it: the rest waits for the reader.
    if (socket !== null && socket.writableLength > 0) {
      cutStalledReader(response, this.#options.stallMs, this.#options.clock);
    }
  }
}

// Node writes a text of up to this size without allocating memory; larger ones are not worth a
// copy.
const SINGLE_WRITE_BYTES_MAX = 12_288;

/**
 * The response class of our own servers. It sends a whole response as one text in one write. Node's
 * class writes head and body apart, through its code for messages that are written bit by bit: with
 * it a GET takes 15 µs of CPU time instead of 11, and a durable POST 30 instead of 25 (bench
 * `get-one` and `durable-post`). The bytes sent are the same; unusual responses are left to Node.
 *
 * The class writes to the socket past `ServerResponse`, and so does two things that Node's `end`
 * does: it sets `finished`, by which Node knows that the response has ended, and emits 'finish'
 * once all is sent, at which Node goes on with the next request of the connection.
 */
class SingleWriteResponse extends http.ServerResponse {
  /** The last lines of the head: that the connection is kept alive, and for how long. */
  protected get keepAliveLines(): string {
    return 'Connection: keep-alive\r\n\r\n';
  }

  /**
   * Sends the response, to be called instead of `writeHead` and `end`. Returns false, and does
   * nothing, when Node must send it: over HTTP/1.0, on a connection that closes or is lost, when
   * the head has been sent, or for a large body.
   */
  sendWhole(whole: WholeResponse, date: string): boolean {
    const { socket, req } = this;
    const isOrdinary = this.shouldKeepAlive && req.httpVersionMinor === 1 && !this.headersSent
      && whole.bytes <= SINGLE_WRITE_BYTES_MAX && !whole.closesConnection;
    if (!isOrdinary || socket === null || !socket.writable) return false;
    const { status, headerText, body } = whole;
    const reason = http.STATUS_CODES[status] ?? 'unknown';
    const isBodySent = body !== undefined && req.method !== 'HEAD' && status !== 204
      && status !== 304;
    this.statusCode = status;
    this.finished = true;
    // Head and body have one character for each byte, which Latin-1 writes unchanged.
    socket.write(`HTTP/1.1 ${status} ${reason}\r\n${headerText}Date: ${date}\r\n${
      this.keepAliveLines}${isBodySent ? convertToByteString(whole) : ''}`, 'latin1');
    if (socket.writableLength === 0) {
      this.emit('finish');
    } else {
      // Writing nothing has its callback called once everything before it is sent. After an error
      // the connection is closed, and no request follows.
      socket.write('', (error) => void (error ?? this.emit('finish')));
    }
    return true;
  }
}

/** The response class for a server that keeps idle connections for so long; 0 is for ever. */
export function createResponseClass(keepAliveTimeoutMs: number): typeof SingleWriteResponse {
  if (keepAliveTimeoutMs === 0) return SingleWriteResponse;
  const seconds = Math.floor(keepAliveTimeoutMs / 1000);
  const keepAliveLines =
    `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`;
  return class extends SingleWriteResponse {
    protected override get keepAliveLines(): string {
      return keepAliveLines;
    }
  };
}

/** The body as a string of one character for each of its bytes in UTF-8. */
function convertToByteString({ body = '', bytes }: WholeResponse): string {
  if (typeof body !== 'string') return body.toString('latin1');
  // Text with as many characters as bytes is ASCII, and such a string already.
  return body.length === bytes ? body : Buffer.from(body).toString('latin1');
}
