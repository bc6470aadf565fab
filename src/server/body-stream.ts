/**
 * Request bodies of any size, piece by piece, as fast as they are taken. The limit of time is for
 * each piece: Node's own, on whole requests, is set aside for a body that is read in this way.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';

const streaming = new WeakSet<Duplex>();

/** Whether a body is read from this connection that may take as long as it needs. */
export function isStreaming(socket: Duplex): boolean {
  return streaming.has(socket);
}

/**
 * The pieces of the body. Throws `timeout` when none arrives for `stallMs` (Infinity: never), and
 * `malformed` when the body was cut short. Ending the iteration early leaves the rest unread.
 */
export async function* bodyChunks(
  request: IncomingMessage, stallMs: number, clock: Clock,
): AsyncGenerator<Buffer, void, undefined> {
  const { socket } = request;
  // Not `for await`: leaving that would close the connection, and with it the answer.
  const chunks: AsyncIterator<Buffer> = request[Symbol.asyncIterator]();
  streaming.add(socket);
  try {
    for (;;) {
      const pending = chunks.next();
      const next = await (stallMs === Infinity ? pending : withDeadline(pending, stallMs, clock));
      if (next.done === true) return;
      yield next.value;
    }
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('malformed', 'the body was cut short', {}, thrown);
  } finally {
    streaming.delete(socket);
  }
}

function withDeadline<T>(promise: Promise<T>, stallMs: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.startTimer(stallMs, () => {
      reject(new AppError('timeout', `nothing of the body arrived for ${stallMs / 1000} s`));
    });
    promise.finally(() => timer.cancel()).then(resolve, reject);
  });
}
