/**
 * The request object of our own servers. It hands a small body over as it came in, and starts the
 * machinery of streams only for whoever reads it as a stream. Node does that for each request, with
 * a body or without.
 */
import { http } from '../../base/node-modules.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';
import { handOver, type BodyReader } from './body-batcher.ts';
import { cutShort } from './body-stream.ts';

/** So much of a body is held while nobody reads it, as Node does. */
export const HELD_BYTES_MAX = 16_384;
const NOTHING = Buffer.alloc(0);

export class OwnRequest extends http.IncomingMessage {
  #isStream = false;
  #held: ByteCollector | null = null;
  #reader: BodyReader | null = null;

  static {
    // Here, as the types have a property. Node lets go of a request that has ended.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: OwnRequest): unknown {
        if (!this.#isStream) return this.complete && this.#held === null;
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
    if (this.complete) reader.resolve(this.#take());
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
      if (reader !== null) handOver(reader, this.#take());
      return false;
    }
    const held = this.#held ?? new ByteCollector();
    if (!Buffer.isBuffer(chunk) || held.length + chunk.length > HELD_BYTES_MAX) {
      this.#becomeStream();
      return super.push(chunk);
    }
    held.add(chunk);
    this.#held = held;
    return true;
  }

  override read(size?: number): unknown {
    if (this.#isOver('readable')) return null;
    this.#becomeStream();
    return super.read(size);
  }

  override resume(): this {
    if (this.#isOver('data')) return this;
    this.#becomeStream();
    return super.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.failReader(cutShort());
    super._destroy(error, done);
  }

  /** Node reads on where nobody has listened. If all came in, nothing is left to be done. */
  #isOver(event: string): boolean {
    if (this.#isStream || !this.complete || this.listenerCount(event) > 0) return false;
    this.#held = null;
    return true;
  }

  #becomeStream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    if (this.#held !== null) super.push(this.#take());
    if (this.complete) super.push(null);
  }

  #take(): Buffer {
    const bytes = this.#held?.take() ?? NOTHING;
    this.#held = null;
    return bytes;
  }

  #takeReader(): BodyReader | null {
    const reader = this.#reader;
    this.#reader = null;
    return reader;
  }
}
