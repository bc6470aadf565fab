/** A server in memory, for calls of this process to its own routes: no port, no socket file. */
import type { RequestListener } from 'node:http';
import { Duplex } from 'node:stream';
import { AppError } from '../../base/errors.ts';
import { http } from '../../base/node-modules.ts';
import { encodeResponse } from '../listening/client-error.ts';
import { toProblem } from '../problem.ts';
import type { ApiTarget } from './api-call.ts';

export function createMemoryTarget(listener: RequestListener): ApiTarget {
  // No network, and no client but ourselves: no time limit applies.
  const server = http.createServer({ requestTimeout: 0, headersTimeout: 0 }, listener);
  // We send valid HTTP: only a head that is too long can fail.
  server.on('clientError', (_error, socket) => socket.end(encodeResponse(toProblem(
    new AppError('headers_too_large',
      'an identifier or the filters of the call are longer than 16 KiB')))));
  return {
    createConnection() {
      const [client, end] = [new DuplexEnd(), new DuplexEnd()];
      client.other = end;
      end.other = client;
      server.emit('connection', end);
      return client;
    },
  };
}

/** One end of a connection in memory: the bytes that are written to it are read from the other. */
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
    // The other end closes too, after the callbacks of this end.
    setImmediate(() => other?.destroy());
  }
}
