/**
 * Ends connections. Node's HTTP parser gives up on some of them: it reads no further request from
 * those. Bytes that a peer still sends are discarded before its connection is closed: if it
 * were closed at once, the kernel would reply to further bytes with a reset, and the peer could
 * lose a response that it has not read yet. At most 64 KiB are discarded, for at most one second.
 */
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';

const failedConnections = new WeakSet<Duplex>();

/** Notes that Node's HTTP parser gave up on a connection. */
export function markFailed(socket: Duplex): void {
  failedConnections.add(socket);
}

export function hasFailed(socket: Duplex): boolean {
  return failedConnections.has(socket);
}

const BYTES_MAX = 65_536;
const DURATION_MS_MAX = 1_000;

/**
 * Sends what was written to the connection, and `text` after it, and closes it once the peer ends
 * its side or a limit is reached.
 */
export function endConnection(socket: Duplex, clock: Clock, text?: string): void {
  socket.end(text);
  discardInput(socket, clock, () => socket.destroy());
}

/** Discards from `source` until it ends or a limit is reached, then calls `onDone` once. */
export function discardInput(source: Readable, clock: Clock, onDone: () => void): void {
  let discardedBytes = 0;
  const finish = (): void => {
    timer.cancel();
    source.off('data', onData).off('end', finish).off('close', finish);
    // Paused, so that no more is read.
    source.pause();
    onDone();
  };
  const onData = (chunk: Buffer): void => {
    discardedBytes += chunk.length;
    if (discardedBytes > BYTES_MAX) finish();
  };
  const timer = clock.startTimer(DURATION_MS_MAX, finish);
  source.on('error', ignore).on('data', onData).on('end', finish).on('close', finish);
  source.resume();
  if (source.destroyed) finish();
}

function ignore(): void {}
