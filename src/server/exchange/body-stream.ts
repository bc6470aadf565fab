/**
 * Request bodies of any size, piece by piece, as fast as they are taken. The limit of time is for
 * each piece: Node's own, on whole requests, is set aside for a body that is read in this way.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';

const streamingSockets = new WeakSet<Duplex>();

/** Whether a body is read from this connection that may take as long as it needs. */
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

// A sender's chunks may be of one byte each; so much of them is joined before reading waits.
const JOINED_BYTES = 65_536;

/** What has come of a body and was not taken yet. */
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

  /** Throws what ended the body too early, once what came before that is taken. */
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

  /** Resolves when there is more, or the end. */
  waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Leaves the rest unread. An error without a listener would end the process, so that stays. */
  close(): void {
    const request = this.#request;
    request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    if (!this.#isComplete) request.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#collector.add(chunk);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Once all that was read together is joined: paused before, Node would keep the rest of it
    // piece by piece, and woken before, the taker would have a turn for each.
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

  // Ours when the body came too late or broken.
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
