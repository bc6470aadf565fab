/**
 * Collects bytes that arrive in pieces and are needed whole. Small pieces are copied into blocks: a
 * buffer of one byte, kept as it is, takes about a hundred. So it holds no more than the bytes
 * themselves and one block, and twice that while they are joined.
 */
export class ByteCollector {
  #pieces: Buffer[] = [];
  #length = 0;
  /** Holds small pieces; the bytes from `#start` to `#end` are not in `#pieces` yet. */
  #block: Buffer | null = null;
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#length;
  }

  /** Keeps the piece itself or a copy of it, so the caller must not change it afterwards. */
  add(piece: Buffer): void {
    this.#length += piece.length;
    // The first piece is not copied: mostly it is the only one.
    if (piece.length >= SMALL_BYTES || this.#pieces.length === 0) {
      this.#closeRun();
      this.#pieces.push(piece);
      return;
    }
    if (this.#block === null || this.#block.length - this.#end < piece.length) {
      this.#closeRun();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#start = 0;
      this.#end = 0;
    }
    piece.copy(this.#block, this.#end);
    this.#end += piece.length;
  }

  /** All bytes so far. The collector is empty afterwards. */
  take(): Buffer {
    this.#closeRun();
    const pieces = this.#pieces;
    const length = this.#length;
    this.clear();
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, length);
  }

  clear(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#block = null;
    this.#start = 0;
    this.#end = 0;
  }

  /** Makes one piece of the small pieces collected so far. */
  #closeRun(): void {
    if (this.#block === null || this.#start === this.#end) return;
    this.#pieces.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

const SMALL_BYTES = 4096;
const BLOCK_BYTES = 16_384;
