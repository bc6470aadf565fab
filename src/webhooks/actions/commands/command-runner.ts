/**
 * Runs hook commands: programs that people give us to run when a request comes in. A command gets
 * an argument array, and never a shell; its own process group and session, which end with it; and
 * a folder of its own, see run-folder.ts. It inherits no open file of ours.
 */
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { endsInTime } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError, systemCodeOf } from '../../../base/errors.ts';
import { VARIABLE_NAME_PATTERN } from '../../../base/hook-variables.ts';
import type { Logger } from '../../../base/log.ts';
import { CommandOutputHead, CommandOutputLines, CommandOutputTail } from './command-output.ts';
import { CommandProcess, startProcess } from './command-process.ts';
import type { ProcessEnd, ProcessStart } from './command-process.ts';
import { coverDescriptors, findInheritedDescriptors } from './inherited-descriptors.ts';
import { CommandOutputPipes } from './output-pipes.ts';
import { recoverCommandRuns } from './recover-command-runs.ts';
import { RunFolder } from './run-folder.ts';
import type { CommandFile } from './run-folder.ts';

/** One run of a command, everything resolved. */
export type HookCommandRun = {
  /** The real path of the executable, which has been checked. */
  readonly file: string;
  readonly arguments: readonly string[];
  /** Complete, but for the variables of `files`. */
  readonly environment: Readonly<Record<string, string>>;
  /** null: there is nothing to read. */
  readonly stdin: Buffer | null;
  readonly files: readonly CommandFile[];
  /** null: a folder of the run. */
  readonly workingDirectory: string | null;
  /** From its start. */
  readonly timeoutMs: number;
  /** The limit for what is kept of the beginning of its standard output. */
  readonly outputBytesMax: number;
  /** Gets each line of its standard output and error, at `debug`. */
  readonly log: Logger;
};

export type HookCommandEnd = ProcessEnd & {
  readonly output: Buffer;
  readonly isTruncated: boolean;
  /** The end of its standard output, at most 4 KiB. */
  readonly outputTail: Buffer;
  /** The end of its standard error, at most 4 KiB. */
  readonly errorTail: Buffer;
};

type CommandRunnerDeps = {
  /** `<data>/command-runs`; made when missing. */
  readonly runsFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
};

const TAIL_BYTES = 4096;
/**
 * How long the output of a command that has ended is waited for. It ends with the command, unless
 * a process in a session of its own has it, too.
 */
const OUTPUT_MS_MAX = 200;
export const NOT_STARTED = 'The command could not be started';
/** The system may start a command another time. */
const TEMPORARY_CODES = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY'];
const DISK_FULL_CODES = ['ENOSPC', 'EDQUOT'];

export class CommandRunner {
  readonly #deps: CommandRunnerDeps;
  readonly #processes = new Set<CommandProcess>();
  readonly #runs = new Set<Promise<HookCommandEnd>>();
  readonly #inheritedDescriptors = findInheritedDescriptors();
  readonly #pipes: CommandOutputPipes;
  #isClosing = false;

  constructor(deps: CommandRunnerDeps) {
    this.#deps = deps;
    this.#pipes = new CommandOutputPipes(deps.runsFolder);
  }

  /**
   * Ends the commands that an earlier process has left, and removes their folders. To be called
   * before anything runs, by the holder of the data directory's lock.
   */
  recover(): Promise<void> {
    return recoverCommandRuns(this.#deps);
  }

  /**
   * Runs a command. Resolves when it has ended, with all of its process group, and its folder is
   * gone. Throws when it could not be started: `invalid` with a message that anybody may see,
   * `unavailable` and `storage_full` when it may be possible later.
   */
  async run(run: HookCommandRun): Promise<HookCommandEnd> {
    checkRun(run);
    const end = this.#runInFolder(run);
    this.#runs.add(end);
    try {
      return await end;
    } catch (thrown) {
      throw toStartError(thrown);
    } finally {
      this.#runs.delete(end);
      if (this.#runs.size === 0) await this.#remove(() => this.#pipes.clear());
    }
  }

  /** Ends all commands: SIGTERM, SIGKILL 5 s later. Resolves when all have ended; idempotent. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const process of this.#processes) process.stop();
    await Promise.allSettled(this.#runs);
    await this.#remove(() => this.#pipes.clear());
  }

  async #runInFolder(run: HookCommandRun): Promise<HookCommandEnd> {
    this.#assertOpen();
    const folder = await RunFolder.make(this.#deps.runsFolder);
    try {
      return await this.#runPrepared(run, folder);
    } finally {
      await this.#remove(() => folder.remove());
    }
  }

  /** Opens what the command reads and writes, starts it, and waits for its end. */
  async #runPrepared(run: HookCommandRun, folder: RunFolder): Promise<HookCommandEnd> {
    const outputs = new CommandOutputs(run);
    const descriptors: number[] = [];
    try {
      const paths = await folder.writeFiles(run.files);
      const workingDirectory = run.workingDirectory ?? await folder.makeWorkingDirectory();
      const stdin = run.stdin === null ? 'ignore' : await folder.openInput(run.stdin);
      if (stdin !== 'ignore') descriptors.push(stdin);
      const ends = await outputs.open(this.#pipes, folder, descriptors);
      const empty = openSync('/dev/null', 'r');
      descriptors.push(empty);
      this.#assertOpen();
      const process = await this.#start({
        file: run.file, arguments: run.arguments, workingDirectory,
        environment: { ...run.environment, ...paths },
        stdio: coverDescriptors([stdin, ...ends], this.#inheritedDescriptors, empty),
      }, run, folder, outputs);
      // The command has its own copies: output ends only once ours are closed.
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
      return await this.#waitForEnd(process, outputs);
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor);
      outputs.close();
    }
  }

  async #start(
    start: ProcessStart, run: HookCommandRun, folder: RunFolder, outputs: CommandOutputs,
  ): Promise<CommandProcess> {
    const started = await startProcess(start, (pid) => folder.noteProcess(pid));
    // There are streams of Node's where the command did not get a named pipe.
    outputs.readStdout(started.child.stdout);
    outputs.readStderr(started.child.stderr);
    return new CommandProcess(started, {
      clock: this.#deps.clock, log: this.#deps.log, timeoutMs: run.timeoutMs,
    });
  }

  async #waitForEnd(process: CommandProcess, outputs: CommandOutputs): Promise<HookCommandEnd> {
    this.#processes.add(process);
    if (this.#isClosing) process.stop();
    try {
      const end = await process.end;
      await outputs.waitUntilRead(this.#deps.clock);
      return { ...end, ...outputs.take() };
    } finally {
      this.#processes.delete(process);
    }
  }

  #assertOpen(): void {
    if (this.#isClosing) throw new AppError('unavailable', 'The server is stopping');
  }

  /** Removes files of runs. Those that cannot be removed stay until the next start. */
  async #remove(remove: () => Promise<void>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      this.#deps.log.warning('the folder of a command run cannot be removed', { error });
    }
  }
}

/** The output of one run: reads all that the command writes, and keeps what the run asks for. */
class CommandOutputs {
  readonly #head: CommandOutputHead;
  readonly #outputTail = new CommandOutputTail(TAIL_BYTES);
  readonly #outputLines: CommandOutputLines;
  readonly #errorTail = new CommandOutputTail(TAIL_BYTES);
  readonly #errorLines: CommandOutputLines;
  readonly #sources: Readable[] = [];

  constructor(run: HookCommandRun) {
    this.#head = new CommandOutputHead(run.outputBytesMax);
    this.#outputLines = new CommandOutputLines(run.log, 'standard output');
    this.#errorLines = new CommandOutputLines(run.log, 'standard error');
  }

  /**
   * The command's standard output and error, for its stdio: named pipes that are read from now on,
   * or 'pipe' where there can be none. Descriptors to close are added to `descriptors`.
   */
  async open(
    pipes: CommandOutputPipes, folder: RunFolder, descriptors: number[],
  ): Promise<['pipe' | number, 'pipe' | number]> {
    const stderr = await pipes.take(folder, 'stderr');
    if (stderr !== null) descriptors.push(stderr.writeEnd);
    this.readStderr(stderr?.source ?? null);
    const stdout = await pipes.take(folder, 'stdout');
    if (stdout !== null) descriptors.push(stdout.writeEnd);
    this.readStdout(stdout?.source ?? null);
    return [stdout?.writeEnd ?? 'pipe', stderr?.writeEnd ?? 'pipe'];
  }

  readStdout(source: Readable | null): void {
    this.#read(source, (piece) => {
      this.#head.add(piece);
      this.#outputTail.add(piece);
      this.#outputLines.add(piece);
    });
  }

  readStderr(source: Readable | null): void {
    this.#read(source, (piece) => {
      this.#errorTail.add(piece);
      this.#errorLines.add(piece);
    });
  }

  #read(source: Readable | null, onPiece: (piece: Buffer) => void): void {
    if (source === null) return;
    this.#sources.push(source);
    source.on('data', onPiece);
    // An error ends the output: what was read until then counts.
    source.on('error', () => source.destroy());
  }

  /** Resolves when all has been read, or when others than the command hold the output open. */
  async waitUntilRead(clock: Clock): Promise<void> {
    const closed = Promise.all(this.#sources.map((source) => new Promise<void>((resolve) => {
      if (source.closed) resolve();
      else source.once('close', resolve);
    })));
    if (await endsInTime(clock, OUTPUT_MS_MAX, closed)) return;
    // A loop that was held up has run the timer before it has read what lay there.
    await new Promise(setImmediate);
  }

  take(): Pick<HookCommandEnd, 'output' | 'isTruncated' | 'outputTail' | 'errorTail'> {
    this.#outputLines.end();
    this.#errorLines.end();
    return {
      output: this.#head.take(), isTruncated: this.#head.isTruncated,
      outputTail: this.#outputTail.take(), errorTail: this.#errorTail.take(),
    };
  }

  close(): void {
    for (const source of this.#sources) source.destroy();
  }
}

/** Throws `invalid`. */
function checkRun(run: HookCommandRun): void {
  for (const [index, text] of run.arguments.entries()) {
    assertWithoutNul(`arguments ${index}`, text);
  }
  for (const [name, text] of Object.entries(run.environment)) {
    assertWithoutNul(`the variable ${name}`, text);
  }
  // Its file has the same name, which must not lead out of the run folder.
  const misnamed = run.files.find(({ variable }) => !VARIABLE_NAME_PATTERN.test(variable));
  if (misnamed === undefined) return;
  throw new AppError('invalid', `${NOT_STARTED}: ${misnamed.variable} is no name of a variable`);
}

/** The system ends texts at a NUL, so that what came after it would be lost. */
function assertWithoutNul(place: string, text: string): void {
  if (!text.includes('\0')) return;
  throw new AppError('invalid', `${NOT_STARTED}: ${place} holds a NUL character`);
}

/** What callers learn of a command that the system did not start: no path, which the cause has. */
function toStartError(thrown: unknown): unknown {
  const code = systemCodeOf(thrown);
  if (thrown instanceof AppError || code === undefined) return thrown;
  const message = `${NOT_STARTED} (${code})`;
  if (DISK_FULL_CODES.includes(code)) return new AppError('storage_full', message, {}, thrown);
  const isTemporary = TEMPORARY_CODES.includes(code);
  return new AppError(isTemporary ? 'unavailable' : 'invalid', message, {}, thrown);
}
