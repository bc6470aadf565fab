/**
 * Requests that come on a connection before the ones ahead of them are answered (pipelining, RFC
 * 9112 §9.3.2). They are served one by one, in order, each in a turn of the event loop of its own:
 * one connection holds at most one answer, and others have their turn after each. While requests
 * wait nothing more is read from their connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Whether the answers of earlier requests on the connection are still to be sent. */
export function isPipelined(response: ServerResponse): boolean {
  // Node gives a response its connection when those before it are out.
  return response.socket === null;
}

/** Calls `serve` when it is the request's turn; never, when its connection closes before. */
export function waitForTurn(
  request: IncomingMessage, response: ServerResponse, serve: () => void,
): void {
  const { socket } = request;
  const line = lines.get(socket) ?? { waiting: 0, isPausing: false };
  lines.set(socket, line);
  line.waiting += 1;
  if (!line.isPausing) {
    line.isPausing = true;
    // Not at once: Node reads on when it has the end of a request.
    process.nextTick(() => {
      line.isPausing = false;
      if (line.waiting > 0) socket.pause();
    });
  }
  response.once('socket', () => {
    line.waiting -= 1;
    if (line.waiting === 0) socket.resume();
    setImmediate(() => {
      if (!socket.destroyed) serve();
    });
  });
}

type Line = { waiting: number; isPausing: boolean };

const lines = new WeakMap<Socket, Line>();
