/** A connection in memory: bytes that are written to one end are read from the other. */
import { Duplex } from 'node:stream';

/** A client's end and a server's end, both fit for node:http. */
export function createDuplexPair(): readonly [Duplex, Duplex] {
  const client = new DuplexEnd();
  const server = new DuplexEnd();
  client.other = server;
  server.other = client;
  return [client, server];
}

class DuplexEnd extends Duplex {
  other: DuplexEnd | null = null;
  // Lets the writer of the other end go on. The pair buffers one chunk each way.
  #release: (() => void) | null = null;

  constructor() {
    super({ autoDestroy: true, emitClose: true });
  }

  // node:http calls these three on sockets; memory has nothing to set.
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {
    const release = this.#release;
    this.#release = null;
    release?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    if (this.other === null || this.other.destroyed) return callback();
    if (this.other.push(chunk)) callback();
    else this.other.#release = callback;
  }

  override _final(callback: () => void): void {
    this.other?.push(null);
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const release = this.#release;
    this.#release = null;
    release?.();
    const { other } = this;
    callback(error);
    // The other end closes too, after the callbacks of this one.
    setImmediate(() => other?.destroy());
  }
}
