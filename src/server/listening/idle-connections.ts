/**
 * Closes keep-alive connections on which no request has begun for too long, whatever else came in.
 * Node's own timeout starts anew at each byte, even at those of empty lines, which may precede a
 * request (RFC 9112 §2.2) and mean nothing.
 */
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';
import { findCurrentResponse } from './client-error.ts';

// Node waits this much longer than it tells the client, so that a request that was sent in time is
// not lost on its way.
const GRACE_MS = 1_000;
const CHECK_INTERVAL_MS = 500;

/** When a connection became idle, and the bytes sent on it until then. */
type IdleSpan = { readonly sinceMs: number; readonly bytesWritten: number };

/** Watches the connections of a listening server until the timer is cancelled. */
export function cutIdleConnections(
  server: Server, keepAliveTimeoutMs: number, clock: Clock,
): Timer {
  const idleSpans = new WeakMap<Socket, IdleSpan>();
  const cut = (): void => {
    const nowMs = clock.monotonicMs();
    for (const socket of findIdleSockets(server)) {
      const span = idleSpans.get(socket);
      // More bytes are a further response: a request came since the last check.
      if (span === undefined || span.bytesWritten !== socket.bytesWritten) {
        idleSpans.set(socket, { sinceMs: nowMs, bytesWritten: socket.bytesWritten });
      } else if (nowMs - span.sinceMs >= keepAliveTimeoutMs + GRACE_MS) {
        socket.destroy();
      }
    }
  };
  const check = (): void => {
    // After a standstill timers run before the loop reads: requests may have come meanwhile.
    setImmediate(cut);
    timer = clock.startTimer(CHECK_INTERVAL_MS, check);
  };
  let timer = clock.startTimer(CHECK_INTERVAL_MS, check);
  return { cancel: () => timer.cancel() };
}

/**
 * Finds the connections on which every request has its response and no other request has begun.
 * Node keeps their list for `closeIdleConnections`, without a public name; a Node without the list
 * has none here. New connections without a request are not in it: the time limit for heads covers
 * them.
 */
function findIdleSockets(server: Server): Socket[] {
  const key = Object.getOwnPropertySymbols(server)
    .find(({ description }) => description === 'http.server.connections');
  const connections: unknown = key === undefined ? null : Reflect.get(server, key);
  if (typeof connections !== 'object' || connections === null || !('idle' in connections)
    || typeof connections.idle !== 'function') return [];
  const parsers: unknown = connections.idle();
  if (!Array.isArray(parsers)) return [];
  return parsers.map(socketOfParser).filter((socket) => socket !== null)
    .filter((socket) => findCurrentResponse(socket) === null);
}

function socketOfParser(parser: unknown): Socket | null {
  const isParser = typeof parser === 'object' && parser !== null && 'socket' in parser;
  return isParser && parser.socket instanceof Socket ? parser.socket : null;
}
