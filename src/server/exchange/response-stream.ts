/**
 * Streams an answer piece by piece, no faster than its reader takes it. The connection of a reader
 * that takes nothing for a while is cut: it must hold neither memory nor the data it reads.
 */
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as types from 'node:util/types';
import type { Clock } from '../../base/clock.ts';
import type { Pull } from '../http-route.ts';

// So much is handed to the socket before waiting: enough to keep a fast reader busy, little enough
// for thousands of slow ones. The pieces are mostly slices of what the store holds anyway.
const BUFFERED_BYTES_MAX = 524_288;
// A reader as fast as we are would never make us wait; others have their turn after so much.
const TURN_BYTES_MAX = 1_048_576;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Writes what `pull` gives after `first`; the head must have been written. Resolves to the number
 * of bytes handed over, once all is sent or the reader has gone. Rejects with what `pull` throws.
 */
export async function writePulled(
  response: ServerResponse, first: readonly Buffer[], pull: Pull,
): Promise<number> {
  let pieces: readonly Buffer[] | null = first;
  let bytes = 0;
  let turnBytes = 0;
  while (pieces !== null && !response.destroyed) {
    response.cork();
    for (const piece of pieces) {
      response.write(piece);
      bytes += piece.length;
    }
    response.uncork();
    if (response.writableLength > BUFFERED_BYTES_MAX) {
      await untilDrained(response);
    } else if (bytes - turnBytes > TURN_BYTES_MAX) {
      await nextTurn();
      turnBytes = bytes;
    }
    const next = pull();
    pieces = types.isPromise(next) ? await next : next;
  }
  if (!response.destroyed) await untilClosed(response);
  return bytes;
}

/**
 * Cuts the connection of an answer that is under way when its reader takes nothing for `stallMs`
 * (Infinity: never) while there is something to take. Node's own timeout of a socket does not do:
 * anything the reader sends would count as activity.
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

/** A number that changes whenever the reader takes something. */
function countTakenBytes(response: ServerResponse): number {
  const { socket } = response;
  if (socket === null) return 0;
  const doneBytes = socket.bytesWritten - socket.writableLength;
  // How much of a large write is left has no public name. Without it, only whole writes count.
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
