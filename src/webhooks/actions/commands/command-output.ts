/** Reads all that a command writes, and keeps a part of it, however much that is. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { endsInTime, type Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { CommandOutputPipes } from './output-pipes.ts';

export type KeptOutput = {
  /** The beginning of its standard output. */
  readonly output: Buffer;
  readonly isTruncated: boolean;
  /** The end of its standard output, at most 4 KiB. */
  readonly outputTail: Buffer;
  /** The end of its standard error, at most 4 KiB. */
  readonly errorTail: Buffer;
};

const TAIL_BYTES = 4096;
/** The wait for output after a command ends: another session may hold its pipes open. */
const OUTPUT_MS_MAX = 200;

export class CommandOutputs {
  readonly #stdout: CommandOutput;
  readonly #stderr: CommandOutput;
  readonly #sources: Readable[] = [];

  /** With `mergesErrors` standard error is a part of standard output, as `2>&1` makes it. */
  constructor({ outputBytesMax, mergesErrors, log }: {
    readonly outputBytesMax: number; readonly mergesErrors: boolean; readonly log: Logger;
  }) {
    this.#stdout = new CommandOutput(log, 'standard output', outputBytesMax);
    this.#stderr = mergesErrors ? this.#stdout : new CommandOutput(log, 'standard error', 0);
  }

  /**
   * Returns standard output and error for the command's stdio: named pipes, which are read from now
   * on, or 'pipe' where there can be none. Adds descriptors to close to `descriptors`.
   */
  async open(
    pipes: CommandOutputPipes, folder: string, descriptors: number[],
  ): Promise<readonly ('pipe' | number)[]> {
    const openEnd = async (name: string, output: CommandOutput): Promise<'pipe' | number> => {
      const pipe = await pipes.take(folder, name);
      if (pipe !== null) descriptors.push(pipe.writeEnd);
      this.#read(pipe?.source ?? null, output);
      return pipe?.writeEnd ?? 'pipe';
    };
    const end = await openEnd('stdout', this.#stdout);
    return [end, this.#stderr === this.#stdout ? end : await openEnd('stderr', this.#stderr)];
  }

  /** Reads the streams of Node where the command got no named pipe. */
  readFrom({ stdout, stderr }: ChildProcess): void {
    this.#read(stdout, this.#stdout);
    this.#read(stderr, this.#stderr);
  }

  #read(source: Readable | null, output: CommandOutput): void {
    if (source === null) return;
    this.#sources.push(source);
    source.on('data', (piece: Buffer) => output.add(piece));
    // An error ends the output: the part read until then counts.
    source.on('error', () => source.destroy());
  }

  /** Resolves when all is read, or only others than the command hold the output open. */
  async waitUntilRead(clock: Clock): Promise<void> {
    const closed = Promise.all(this.#sources.map((source) => new Promise<void>((resolve) => {
      if (source.closed) resolve();
      else source.once('close', resolve);
    })));
    if (await endsInTime(clock, OUTPUT_MS_MAX, closed)) return;
    // A busy event loop runs the timer before it reads what is there.
    await new Promise(setImmediate);
  }

  take(): KeptOutput {
    const { head, isTruncated, tail } = this.#stdout.take();
    return { output: head, isTruncated, outputTail: tail, errorTail: this.#stderr.take().tail };
  }

  close(): void {
    for (const source of this.#sources) source.destroy();
  }
}

class CommandOutput {
  readonly #lines: OutputLines;
  readonly #headBytesMax: number;
  readonly #headPieces: Buffer[] = [];
  #tail = Buffer.alloc(0);
  #length = 0;

  constructor(log: Logger, name: OutputName, headBytesMax: number) {
    this.#lines = new OutputLines(log, name);
    this.#headBytesMax = headBytesMax;
  }

  add(piece: Buffer): void {
    const head = piece.subarray(0, Math.max(0, this.#headBytesMax - this.#length));
    // A copy: a piece of a few bytes keeps a block of 64 KiB in memory.
    if (head.length > 0) this.#headPieces.push(Buffer.from(head));
    const tail = Buffer.concat([this.#tail, piece.subarray(-TAIL_BYTES)]);
    this.#tail = Buffer.from(tail.subarray(-TAIL_BYTES));
    this.#length += piece.length;
    this.#lines.add(piece);
  }

  /** Neither part has a piece of a character at the cut. */
  take(): { readonly head: Buffer; readonly isTruncated: boolean; readonly tail: Buffer } {
    this.#lines.end();
    return {
      head: withoutCutEnd(Buffer.concat(this.#headPieces)),
      isTruncated: this.#length > this.#headBytesMax,
      tail: this.#length > TAIL_BYTES ? withoutCutStart(this.#tail) : this.#tail,
    };
  }
}

type OutputName = 'standard output' | 'standard error';

const LINE_BYTES_MAX = 8192;
/** The limit of a run: a flood must not fill the log, nor hold up all else meanwhile. */
const LOG_BYTES_MAX = 1 << 20;
/** About the bytes of a line beside its text: empty lines are a flood as well. */
const LINE_FRAME_BYTES = 256;

class OutputLines {
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
