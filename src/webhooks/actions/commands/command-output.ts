/** Keeps a part of what a command writes, however much that is. */
import type { Logger } from '../../../base/log.ts';

/** The first bytes of an output, without the beginning of a character that does not end in it. */
export class CommandOutputHead {
  readonly #bytesMax: number;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #isTruncated = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  add(piece: Buffer): void {
    const beginning = piece.subarray(0, this.#bytesMax - this.#length);
    if (beginning.length < piece.length) this.#isTruncated = true;
    if (beginning.length === 0) return;
    // A copy: a piece of a few bytes keeps a block of 64 KiB in memory.
    this.#pieces.push(Buffer.from(beginning));
    this.#length += beginning.length;
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    return withoutCutEnd(bytes);
  }
}

/** The last bytes of an output, without the end of a character that begins before them. */
export class CommandOutputTail {
  readonly #bytesMax: number;
  #bytes = Buffer.alloc(0);
  #isCut = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(piece: Buffer): void {
    const bytes = Buffer.concat([this.#bytes, piece.subarray(-this.#bytesMax)]);
    this.#isCut ||= bytes.length > this.#bytesMax || piece.length > this.#bytesMax;
    this.#bytes = Buffer.from(bytes.subarray(-this.#bytesMax));
  }

  take(): Buffer {
    return this.#isCut ? withoutCutStart(this.#bytes) : this.#bytes;
  }
}

type OutputName = 'standard output' | 'standard error';

const LINE_BYTES_MAX = 8192;
/** Logged of one run: a flood must not fill the log, nor hold up all else while it is written. */
const LOG_BYTES_MAX = 1 << 20;
/** What a line takes in the log beside its text, about: empty lines are a flood as well. */
const LINE_FRAME_BYTES = 256;

/** Logs what a command writes to one of its outputs, line by line, at `debug`. */
export class CommandOutputLines {
  readonly #log: Logger;
  readonly #outputName: OutputName;
  #line = Buffer.alloc(0);
  #bytesLeft = LOG_BYTES_MAX;

  constructor(log: Logger, outputName: OutputName) {
    this.#log = log;
    this.#outputName = outputName;
  }

  add(piece: Buffer): void {
    if (this.#log.isWritten?.('debug') === false || this.#bytesLeft <= 0) return;
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      this.#extendLine(piece.subarray(start, end));
      this.#writeLine();
      if (this.#bytesLeft <= 0) return;
      start = end + 1;
    }
    this.#extendLine(piece.subarray(start));
  }

  /** Logs the last line, where it does not end in a line break. */
  end(): void {
    if (this.#line.length > 0) this.#writeLine();
  }

  #extendLine(bytes: Buffer): void {
    let rest = bytes;
    while (this.#line.length + rest.length > LINE_BYTES_MAX) {
      const room = LINE_BYTES_MAX - this.#line.length;
      this.#line = Buffer.concat([this.#line, rest.subarray(0, room)]);
      rest = rest.subarray(room);
      this.#writeLine();
    }
    if (rest.length > 0) this.#line = Buffer.concat([this.#line, rest]);
  }

  #writeLine(): void {
    const line = this.#line.toString('utf8').replace(/\r$/, '');
    const length = this.#line.length + LINE_FRAME_BYTES;
    this.#line = Buffer.alloc(0);
    if (this.#bytesLeft <= 0) return;
    this.#bytesLeft -= length;
    const name = this.#outputName;
    if (this.#bytesLeft > 0) this.#log.debug(`a command wrote to its ${name}`, { line });
    else this.#log.debug(`the rest of its ${name} is not logged`);
  }
}

const CONTINUATION_BYTES_MAX = 3;

/** `bytes` without the continuation bytes of a UTF-8 character whose first byte was cut off. */
function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < CONTINUATION_BYTES_MAX && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

/** `bytes` without the first bytes of a UTF-8 character whose last byte was cut off. */
function withoutCutEnd(bytes: Buffer): Buffer {
  let first = bytes.length - 1;
  while (first > bytes.length - 1 - CONTINUATION_BYTES_MAX && isContinuation(bytes[first])) {
    first -= 1;
  }
  const length = characterLength(bytes[first]);
  return first + length > bytes.length ? bytes.subarray(0, first) : bytes;
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The bytes of a UTF-8 character, as its first byte says. */
function characterLength(byte = 0): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}
