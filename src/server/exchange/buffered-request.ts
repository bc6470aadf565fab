/**
 * The request class of our own servers. It buffers a small body and delivers it whole, and becomes
 * a stream only when it is read as one. Node's class sets up a stream for each request, even
 * without a body: with it a GET takes a tenth more CPU time, a durable POST and a webhook a seventh
 * (bench `get-one`, `durable-post` and `incoming`).
 */
import { http } from '../../base/node-modules.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { cutShortError } from './body-stream.ts';

/** The callbacks of a caller that waits for a whole body. Neither throws. */
export type BodyReader = {
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: Error) => void;
};

/** Bytes of a body that are buffered while nobody reads it: as many as Node buffers. */
export const BUFFERED_BYTES_MAX = 16_384;
const EMPTY = Buffer.alloc(0);

export class BufferedRequest extends http.IncomingMessage {
  #isStream = false;
  /** The bytes that have arrived and that nobody has read: mostly one piece. */
  #body: Buffer | ByteCollector | null = null;
  #reader: BodyReader | null = null;

  static {
    // Node drops a request that has ended. Its types declare a property, hence no getter below.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: BufferedRequest): unknown {
        if (!this.#isStream) return this.complete && this.#body === null;
        return Reflect.get(http.IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }

  /**
   * Delivers the whole body, of at most `BUFFERED_BYTES_MAX`, as soon as it has arrived. False when
   * the request has become a stream already.
   */
  readWhole(reader: BodyReader): boolean {
    if (this.#isStream) return false;
    if (this.complete) reader.resolve(this.#takeBody());
    else this.#reader = reader;
    return true;
  }

  /** Rejects a reader that waits for the whole body; false when none does. */
  failReader(error: Error): boolean {
    const reader = this.#takeReader();
    reader?.reject(error);
    return reader !== null;
  }

  /** Called by Node with each chunk that comes in, and with null at the end. */
  override push(chunk: unknown): boolean {
    if (this.#isStream) return super.push(chunk);
    if (chunk === null) {
      const reader = this.#takeReader();
      if (reader !== null) deliverBody(reader, this.#takeBody());
      return false;
    }
    const body = this.#body;
    if (!Buffer.isBuffer(chunk) || (body?.length ?? 0) + chunk.length > BUFFERED_BYTES_MAX) {
      this.#becomeStream();
      return super.push(chunk);
    }
    this.#body = body === null ? chunk : collect(body, chunk);
    return true;
  }

  override read(size?: number): unknown {
    if (this.#isFinished('readable')) return null;
    this.#becomeStream();
    return super.read(size);
  }

  override resume(): this {
    if (this.#isFinished('data')) return this;
    this.#becomeStream();
    return super.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.failReader(cutShortError());
    super._destroy(error, done);
  }

  /** Node resumes a request that nobody reads. A body that is here whole is dropped then. */
  #isFinished(event: string): boolean {
    if (this.#isStream || !this.complete || this.listenerCount(event) > 0) return false;
    this.#body = null;
    return true;
  }

  #becomeStream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    if (this.#body !== null) super.push(this.#takeBody());
    if (this.complete) super.push(null);
  }

  #takeBody(): Buffer {
    const body = this.#body ?? EMPTY;
    this.#body = null;
    return body instanceof ByteCollector ? body.take() : body;
  }

  #takeReader(): BodyReader | null {
    const reader = this.#reader;
    this.#reader = null;
    return reader;
  }
}

function collect(body: Buffer | ByteCollector, chunk: Buffer): ByteCollector {
  if (body instanceof ByteCollector) {
    body.add(chunk);
    return body;
  }
  const collector = new ByteCollector();
  collector.add(body);
  collector.add(chunk);
  return collector;
}

type BatchedBody = { readonly reader: BodyReader; readonly bytes: Buffer };

let batchedBodies: BatchedBody[] = [];

/**
 * Delivers the body at the end of the turn of the event loop, with all others that arrive in it.
 * Parsing a request and handling it are more code than a core's second-level cache holds: done by
 * turns, each evicts the other's. Without it a durable POST, one of 64 at once, takes 4 % more CPU
 * time (bench `durable-post`). Nothing waits for a timer.
 */
function deliverBody(reader: BodyReader, bytes: Buffer): void {
  if (batchedBodies.push({ reader, bytes }) === 1) setImmediate(deliverBatch);
}

function deliverBatch(): void {
  const batch = batchedBodies;
  batchedBodies = [];
  for (const { reader, bytes } of batch) reader.resolve(bytes);
}
