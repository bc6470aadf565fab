/**
 * Pipelining (RFC 9112 §9.3.2): requests that arrive on a connection before earlier ones have their
 * response. They are served in order, one in each turn of the event loop, so that a connection
 * holds at most one response and cannot keep others waiting. While requests wait, nothing more is
 * read from their connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Whether responses to earlier requests of the connection are still to be sent. */
export function isPipelined(response: ServerResponse): boolean {
  // Node gives a response its connection when those before it are sent.
  return response.socket === null;
}

/** Calls `serve` when it is the request's turn, and never if its connection closes before. */
export function waitForTurn(
  request: IncomingMessage, response: ServerResponse, serve: () => void,
): void {
  const { socket } = request;
  const queue = queues.get(socket) ?? { waiting: 0, isPausing: false };
  queues.set(socket, queue);
  queue.waiting += 1;
  if (!queue.isPausing) {
    queue.isPausing = true;
    // In the next tick: at the end of a request Node resumes the connection.
    process.nextTick(() => {
      queue.isPausing = false;
      if (queue.waiting > 0) socket.pause();
    });
  }
  response.once('socket', () => {
    queue.waiting -= 1;
    if (queue.waiting === 0) socket.resume();
    setImmediate(() => {
      if (!socket.destroyed) serve();
    });
  });
}

type PipelineQueue = { waiting: number; isPausing: boolean };

const queues = new WeakMap<Socket, PipelineQueue>();
