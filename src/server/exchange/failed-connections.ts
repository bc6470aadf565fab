/** Connections that Node's HTTP parser gave up on: no further request can be read from them. */
import type { Duplex } from 'node:stream';

const failed = new WeakSet<Duplex>();

export function markFailed(socket: Duplex): void {
  failed.add(socket);
}

export function hasFailed(socket: Duplex): boolean {
  return failed.has(socket);
}
