/**
 * Reads request bodies of any size chunk by chunk, no faster than the caller takes them. The time
 * limit is one for each chunk: Node's own, for whole requests, does not hold for such a body.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';

const streamingSockets = new WeakSet<Duplex>();

/** Whether a body is being read from the connection chunk by chunk. */
export function isStreamingBody(socket: Duplex): boolean {
  return streamingSockets.has(socket);
}

/**
 * The chunks of the body. Throws `timeout` when none arrives for `stallMs` (Infinity: never), and
 * `malformed` when the body was cut short. Ending the iteration early leaves the rest unread.
 */
export async function* readBodyChunks(
  request: IncomingMessage, stallMs: number, clock: Clock,
): AsyncGenerator<Buffer, void, undefined> {
  const { socket } = request;
  const chunks = new BodyChunks(request);
  streamingSockets.add(socket);
  try {
    while (!chunks.isEnded) {
      if (chunks.isEmpty) {
        const pending = chunks.waitForMore();
        await (stallMs === Infinity ? pending : withDeadline(pending, stallMs, clock));
      } else {
        yield chunks.take();
      }
    }
  } finally {
    streamingSockets.delete(socket);
    chunks.close();
  }
}

// Chunks may have one byte each: they are joined up to this size before reading pauses.
const JOINED_BYTES = 65_536;

/** The chunks of a body that have arrived and were not taken yet, joined. */
class BodyChunks {
  readonly #request: IncomingMessage;
  readonly #collector = new ByteCollector();
  #isComplete: boolean;
  #error: AppError | null = null;
  #isScheduled = false;
  #wake: () => void = () => {};

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.#isComplete = request.readableEnded;
    if (request.destroyed && !request.complete) this.#error = cutShortError();
    request.on('error', this.#onError).on('data', this.#onData).on('end', this.#onEnd)
      .on('close', this.#onClose);
  }

  get isEmpty(): boolean {
    return this.#collector.length === 0;
  }

  /** Throws the error that ended the body too early, once the chunks before it are taken. */
  get isEnded(): boolean {
    if (!this.isEmpty) return false;
    if (this.#error !== null) throw this.#error;
    return this.#isComplete;
  }

  take(): Buffer {
    const bytes = this.#collector.take();
    if (!this.#isComplete) this.#request.resume();
    return bytes;
  }

  /** Resolves at the next chunk, or at the end. */
  waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Leaves the rest unread. The 'error' listener stays: without one an error ends the process. */
  close(): void {
    const request = this.#request;
    request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    if (!this.#isComplete) request.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#collector.add(chunk);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Later, when all chunks of this turn are joined: if reading paused now, Node would keep the
    // others apart, and if the reader woke now, it would have a turn of the event loop for each.
    setImmediate(this.#onJoined);
  };

  readonly #onJoined = (): void => {
    this.#isScheduled = false;
    if (this.#collector.length >= JOINED_BYTES) this.#request.pause();
    this.#wake();
  };

  readonly #onEnd = (): void => {
    this.#isComplete = true;
    this.#wake();
  };

  readonly #onClose = (): void => {
    if (!this.#isComplete) this.#error ??= cutShortError();
    this.#wake();
  };

  // We emit an AppError when the body came too late or broken.
  readonly #onError = (thrown: Error): void => {
    this.#error ??= thrown instanceof AppError ? thrown : cutShortError(thrown);
    this.#wake();
  };
}

/** The error for a body that ended before its announced length. */
export function cutShortError(cause?: Error): AppError {
  return new AppError('malformed', 'the body was cut short', {}, cause);
}

function withDeadline(promise: Promise<void>, stallMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.startTimer(stallMs, () => {
      reject(new AppError('timeout', `nothing of the body arrived for ${stallMs / 1000} s`));
    });
    promise.finally(() => timer.cancel()).then(resolve, reject);
  });
}
