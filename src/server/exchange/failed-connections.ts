/** Connections of which nothing more can be understood: Node's parser gave up on them. */
import type { Duplex } from 'node:stream';

const failed = new WeakSet<Duplex>();

export function markFailed(socket: Duplex): void {
  failed.add(socket);
}

export function hasFailed(socket: Duplex): boolean {
  return failed.has(socket);
}
