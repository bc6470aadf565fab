/**
 * Streams a response piece by piece, no faster than its reader takes it. The connection of a reader
 * that takes nothing for a while is cut: it must not hold memory, or the data that it reads,
 * forever.
 */
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Pull } from '../http-route.ts';

// The socket buffers so much before writing waits: enough to keep a fast reader busy, and little
// enough for thousands of slow ones. Most pieces are slices of memory that the store holds anyway.
const BUFFERED_BYTES_MAX = 524_288;
// A fast reader would never make us wait: after so much others have their turn.
const TURN_BYTES_MAX = 1_048_576;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Writes the pieces `first` and then those that `pull` returns; the head must have been written.
 * Tells `onWritten` the bytes of each piece. Resolves once all is sent or the reader has gone.
 * Throws what `pull` throws.
 */
export async function writePulled(
  response: ServerResponse, first: readonly Buffer[], pull: Pull,
  onWritten: (bytes: number) => void,
): Promise<void> {
  let pieces: readonly Buffer[] | null = first;
  let turnBytes = 0;
  while (pieces !== null && !response.destroyed) {
    response.cork();
    for (const piece of pieces) {
      response.write(piece);
      turnBytes += piece.length;
      onWritten(piece.length);
    }
    response.uncork();
    if (response.writableLength > BUFFERED_BYTES_MAX) {
      await untilDrained(response);
    } else if (turnBytes > TURN_BYTES_MAX) {
      await nextTurn();
      turnBytes = 0;
    }
    pieces = await pull();
  }
  if (!response.destroyed) await untilClosed(response);
}

/**
 * Cuts the connection of a response while it is sent, when its reader takes nothing for `stallMs`
 * (Infinity: never) although there is something to take. The timeout of Node's sockets would not
 * do: it counts anything that the reader sends as activity.
 */
export function cutStalledReader(response: ServerResponse, stallMs: number, clock: Clock): void {
  if (stallMs === Infinity) return;
  let last = countTakenBytes(response);
  let lastMs = clock.monotonicMs();
  const check = (): void => {
    const takenBytes = countTakenBytes(response);
    const nowMs = clock.monotonicMs();
    if (takenBytes !== last || response.socket?.writableLength === 0) {
      last = takenBytes;
      lastMs = nowMs;
    } else if (nowMs - lastMs >= stallMs) {
      response.socket?.destroy();
      return;
    }
    timer = clock.startTimer(intervalMs, check);
  };
  const intervalMs = Math.min(CHECK_INTERVAL_MS, stallMs / 5);
  let timer = clock.startTimer(intervalMs, check);
  response.once('close', () => timer.cancel());
}

/** The bytes of the connection that its reader has taken. */
function countTakenBytes(response: ServerResponse): number {
  const { socket } = response;
  if (socket === null) return 0;
  const doneBytes = socket.bytesWritten - socket.writableLength;
  // Node has no public name for the rest of a large write. Without it only whole writes count.
  const handle: unknown = '_handle' in socket ? socket._handle : null;
  const isKnown = typeof handle === 'object' && handle !== null && 'writeQueueSize' in handle;
  return isKnown ? doneBytes - Number(handle.writeQueueSize) : doneBytes;
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (!response.writableNeedDrain || response.destroyed) return resolve();
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
    return undefined;
  });
}

function untilClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.end();
  });
}
