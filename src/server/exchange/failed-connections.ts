/** Connections that Node's HTTP parser gave up on: no further request can be read from them. */
import type { Duplex } from 'node:stream';

const failedConnections = new WeakSet<Duplex>();

export function markFailed(socket: Duplex): void {
  failedConnections.add(socket);
}

export function hasFailed(socket: Duplex): boolean {
  return failedConnections.has(socket);
}
