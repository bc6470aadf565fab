/**
 * The request object of our own servers. It hands a small body over as it came in, and starts the
 * machinery of streams only for whoever reads it as a stream. Node does that for each request, with
 * a body or without.
 */
import { http } from '../../base/node-modules.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { deliverBody, type BodyReader } from './body-batcher.ts';
import { cutShortError } from './body-stream.ts';

/** So much of a body is held while nobody reads it, as Node does. */
export const BUFFERED_BYTES_MAX = 16_384;
const EMPTY = Buffer.alloc(0);

export class BufferedRequest extends http.IncomingMessage {
  #isStream = false;
  #buffer: ByteCollector | null = null;
  #reader: BodyReader | null = null;

  static {
    // Here, as the types have a property. Node lets go of a request that has ended.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: BufferedRequest): unknown {
        if (!this.#isStream) return this.complete && this.#buffer === null;
        return Reflect.get(http.IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }

  /**
   * Gives the reader the whole body, which is announced to be no larger than HELD_BYTES_MAX, as
   * soon as it is there. False when it is read as a stream already.
   */
  readWhole(reader: BodyReader): boolean {
    if (this.#isStream) return false;
    if (this.complete) reader.resolve(this.#takeBuffer());
    else this.#reader = reader;
    return true;
  }

  /** Tells whoever waits for the body that it will not come; false when nobody does. */
  failReader(error: Error): boolean {
    const reader = this.#takeReader();
    reader?.reject(error);
    return reader !== null;
  }

  /** Node calls it with each piece that comes in, and with null at the end. */
  override push(chunk: unknown): boolean {
    if (this.#isStream) return super.push(chunk);
    if (chunk === null) {
      const reader = this.#takeReader();
      if (reader !== null) deliverBody(reader, this.#takeBuffer());
      return false;
    }
    const buffer = this.#buffer ?? new ByteCollector();
    if (!Buffer.isBuffer(chunk) || buffer.length + chunk.length > BUFFERED_BYTES_MAX) {
      this.#becomeStream();
      return super.push(chunk);
    }
    buffer.add(chunk);
    this.#buffer = buffer;
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

  /** Node reads on where nobody has listened. If all came in, nothing is left to be done. */
  #isFinished(event: string): boolean {
    if (this.#isStream || !this.complete || this.listenerCount(event) > 0) return false;
    this.#buffer = null;
    return true;
  }

  #becomeStream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    if (this.#buffer !== null) super.push(this.#takeBuffer());
    if (this.complete) super.push(null);
  }

  #takeBuffer(): Buffer {
    const bytes = this.#buffer?.take() ?? EMPTY;
    this.#buffer = null;
    return bytes;
  }

  #takeReader(): BodyReader | null {
    const reader = this.#reader;
    this.#reader = null;
    return reader;
  }
}
