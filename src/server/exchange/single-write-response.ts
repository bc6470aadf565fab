/**
 * The response class of our own servers. It sends a whole response as one text in one write. Node's
 * class writes head and body apart, through its code for messages that are written bit by bit: with
 * it a GET takes 15 µs of CPU time instead of 11, and a durable POST 30 instead of 25 (bench
 * `get-one` and `durable-post`). The bytes sent are the same; unusual responses are left to Node.
 *
 * It writes to the socket past `ServerResponse`, and so does two things itself that Node's `end`
 * does: it sets `finished`, by which Node knows that the response has ended, and emits 'finish'
 * once all is sent, at which Node goes on with the next request of the connection.
 */
import { http } from '../../base/node-modules.ts';
import type { HeaderText } from '../http-route.ts';

/** A response whose body is known whole; `bytes` is its length in UTF-8. */
export type WholeResponse = {
  readonly status: number;
  readonly headerText: HeaderText;
  readonly body: Buffer | string | undefined;
  readonly bytes: number;
  /** Whether `headerText` says that the connection closes. */
  readonly closesConnection: boolean;
};

// Node writes a text of up to this size without allocating memory; larger ones are not worth a
// copy.
const SINGLE_WRITE_BYTES_MAX = 12_288;

export class SingleWriteResponse extends http.ServerResponse {
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
