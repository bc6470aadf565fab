/** The process as parameters, for tests: what a command reads, and what it wrote. */
import { PassThrough, Readable, Writable } from 'node:stream';
import type { WrapApiClient } from '../../src/cli/create-command-context.ts';
import type { Io } from '../../src/cli/terminal/process-io.ts';
import { run } from '../../src/cli/run.ts';

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly input?: string;
  /** Whether stdin is a terminal, at which a person types the input. */
  readonly isTyped?: boolean;
  /** The input as it comes, in place of `input`. */
  readonly typing?: AsyncIterable<string>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Columns of a terminal that stdout and stderr are. */
  readonly columns?: number;
  readonly isColoured?: boolean;
  readonly wrapSession?: WrapApiClient;
  readonly now?: () => number;
  /** Told what comes on standard output, byte for byte. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Given a function that takes the reader of standard output away. */
  readonly onStart?: (closeOutput: () => void) => void;
};

export async function runCommand(
  words: readonly string[], options: RunOptions = {},
): Promise<Ran> {
  const stdout = new Sink(options.columns, options.onOutput);
  const stderr = new Sink(options.columns);
  options.onStart?.(() => {
    stdout.emit('error', Object.assign(new Error('the pipe is broken'), { code: 'EPIPE' }));
  });
  const pieces = options.typing ?? (options.input === undefined ? null : [options.input]);
  const stream = pieces === null ? new PassThrough() : Readable.from(pieces);
  const stdin = Object.assign(stream, { isTTY: options.isTyped === true });
  const colours = options.isColoured === true ? {} : { NO_COLOR: '1' };
  const io: Io = {
    stdin, stdout, stderr, environment: { ...colours, ...options.environment },
    now: options.now ?? (() => 1_790_000_000_000),
  };
  const code = await run(words, io, options.wrapSession);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

class Sink extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;

  readonly #onChunk: RunOptions['onOutput'];

  constructor(columns: number | undefined, onChunk?: RunOptions['onOutput']) {
    super();
    this.#onChunk = onChunk;
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 80;
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.text += chunk.toString();
    this.#onChunk?.(chunk);
    callback();
  }
}
