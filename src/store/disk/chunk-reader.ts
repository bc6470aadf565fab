/** Reads bytes from a stream of chunks of any size. */
import { AppError } from '../../base/errors.ts';

export class ChunkReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Reads what is there: at least one byte, at most `bytesMax`. */
  async read(bytesMax: number): Promise<Buffer> {
    if (this.#rest.length === 0) this.#rest = await this.#next();
    const chunk = this.#rest.subarray(0, bytesMax);
    this.#rest = this.#rest.subarray(chunk.length);
    return chunk;
  }

  /** Reads so many bytes. */
  async readExactly(bytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let rest = bytes; rest > 0;) {
      const piece = await this.read(rest);
      pieces.push(piece);
      rest -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new AppError('damaged', 'the snapshot is cut short');
    return value;
  }
}
