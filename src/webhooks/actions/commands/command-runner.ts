/**
 * Runs hook commands: programs that people give us to run when a request comes in. A command gets
 * an argument array, and never a shell; its own process group and session, which end with it; and
 * a folder of its own, see run-folder.ts. It inherits no open file of ours.
 */
import type { StdioOptions } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { AppError, systemCodeOf } from '../../../base/errors.ts';
import { removeTree } from '../../../base/files/remove-tree.ts';
import { VARIABLE_NAME_PATTERN } from '../../../base/hook-variables.ts';
import type { Logger } from '../../../base/log.ts';
import type { RelayContext } from '../../relay-context.ts';
import { CommandOutputs, type KeptOutput } from './command-output.ts';
import {
  CommandProcess, startProcess, TERMINATION_MS, type ProcessEnd, type StartedProcess,
} from './command-process.ts';
import { CommandOutputPipes } from './output-pipes.ts';
import {
  listRunFolders, makeRunFolder, makeWorkingDirectory, noteProcess, openInput, readNotedProcess,
  writeCommandFiles, type CommandFile,
} from './run-folder.ts';
import { sleep, type Clock } from '../../../base/clock.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { isInThisNamespace, readStartTime } from '../../../store/lock/process-identity.ts';
import {
  holdsFileBelow, killSession, listProcesses, signalSession, worksBelow, type ProcessEntry,
} from './process-table.ts';

export type HookCommandRun = {
  readonly file: string;
  readonly arguments: readonly string[];
  /** Complete but for the variables of `files`. */
  readonly environment: Readonly<Record<string, string>>;
  /** null: there is nothing to read. */
  readonly stdin: Buffer | null;
  readonly files: readonly CommandFile[];
  /** null: a folder of the run. */
  readonly workingDirectory: string | null;
  readonly timeoutMs: number;
  /** The limit of the kept beginning of standard output. */
  readonly outputBytesMax: number;
  readonly mergesErrors: boolean;
  readonly log: Logger;
};

export type HookCommandEnd = ProcessEnd & KeptOutput;

export const NOT_STARTED = 'The command could not be started';
/** The system may start the command later. */
const TEMPORARY_CODES = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY'];
const DISK_FULL_CODES = ['ENOSPC', 'EDQUOT'];

export class CommandRunner {
  readonly #context: Pick<RelayContext, 'clock' | 'log'>;
  readonly #runsFolder: string;
  readonly #processes = new Set<CommandProcess>();
  readonly #runs = new Set<Promise<HookCommandEnd>>();
  readonly #inheritedDescriptors = findInheritedDescriptors();
  readonly #pipes: CommandOutputPipes;
  #isClosing = false;

  /** `runsFolder` is `<data>/command-runs`; made when missing. */
  constructor(context: Pick<RelayContext, 'clock' | 'log'>, runsFolder: string) {
    this.#context = context;
    this.#runsFolder = runsFolder;
    this.#pipes = new CommandOutputPipes(runsFolder);
  }

  /**
   * Ends the commands of an earlier process, and removes their folders. Must be called before
   * anything runs, by the holder of the data directory's lock. Resolves when all have ended; logs
   * what cannot be ended or removed.
   */
  async recover(): Promise<void> {
    const { clock, log } = this.#context;
    const folders = listRunFolders(this.#runsFolder);
    if (folders.length === 0) return;
    const processes = await listProcesses();
    const sessionIds = new Set(folders.flatMap((folder) => findSessions(folder, processes)));
    await Promise.all([...sessionIds].map(async (pid) => {
      const hasEnded = await endSession(pid, clock);
      if (hasEnded) log.warning('a command that was left running has been ended', { pid });
      else log.error('a command that was left running cannot be ended', { pid });
    }));
    for (const folder of folders) {
      await this.#remove(() => removeTree(folder), { folder });
    }
  }

  /**
   * Resolves when the command has ended with its process group, and its folder is gone. Throws when
   * it could not be started: `invalid` with a message that anybody may see, `unavailable` and
   * `storage_full` when a later start may succeed.
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

  /** Ends all commands: SIGTERM, SIGKILL 5 s later. Idempotent. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const process of this.#processes) process.stop();
    await Promise.allSettled(this.#runs);
    await this.#remove(() => this.#pipes.clear());
  }

  async #runInFolder(run: HookCommandRun): Promise<HookCommandEnd> {
    this.#assertOpen();
    const folder = await makeRunFolder(this.#runsFolder);
    try {
      return await this.#runPrepared(run, folder);
    } finally {
      await this.#remove(() => removeTree(folder));
    }
  }

  async #runPrepared(run: HookCommandRun, folder: string): Promise<HookCommandEnd> {
    const outputs = new CommandOutputs(run);
    const descriptors: number[] = [];
    try {
      const paths = await writeCommandFiles(folder, run.files);
      const workingDirectory = run.workingDirectory ?? await makeWorkingDirectory(folder);
      const stdin = run.stdin === null ? 'ignore' : await openInput(folder, run.stdin);
      if (stdin !== 'ignore') descriptors.push(stdin);
      const ends = await outputs.open(this.#pipes, folder, descriptors);
      const empty = openSync('/dev/null', 'r');
      descriptors.push(empty);
      this.#assertOpen();
      const startedProcess = await startProcess({
        file: run.file, arguments: run.arguments, workingDirectory,
        environment: { ...run.environment, ...paths },
        stdio: coverDescriptors([stdin, ...ends], this.#inheritedDescriptors, empty),
      }, (pid) => noteProcess(folder, pid));
      // The command has its own copies: output ends only when ours are closed.
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
      return await this.#waitForEnd(startedProcess, run, outputs);
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor);
      outputs.close();
    }
  }

  async #waitForEnd(
    startedProcess: StartedProcess, { timeoutMs }: HookCommandRun, outputs: CommandOutputs,
  ): Promise<HookCommandEnd> {
    outputs.readFrom(startedProcess.child);
    const process = new CommandProcess(startedProcess, this.#context, timeoutMs);
    this.#processes.add(process);
    if (this.#isClosing) process.stop();
    try {
      const end = await process.end;
      await outputs.waitUntilRead(this.#context.clock);
      return { ...end, ...outputs.take() };
    } finally {
      this.#processes.delete(process);
    }
  }

  #assertOpen(): void {
    if (this.#isClosing) throw new AppError('unavailable', 'The server is stopping');
  }

  /** Files that cannot be removed stay until the next start. */
  async #remove(remove: () => Promise<void>, labels: object = {}): Promise<void> {
    try {
      await remove();
    } catch (error) {
      this.#context.log.warning('the folder of a command run cannot be removed',
        { ...labels, error });
    }
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
  // Its file has that name, which must not lead out of the run folder.
  for (const { variable } of run.files) {
    if (VARIABLE_NAME_PATTERN.test(variable)) continue;
    throw new AppError('invalid', `${NOT_STARTED}: ${variable} is no name of a variable`);
  }
}

/** The system ends texts at a NUL, so that what came after it would be lost. */
function assertWithoutNul(place: string, text: string): void {
  if (!text.includes('\0')) return;
  throw new AppError('invalid', `${NOT_STARTED}: ${place} holds a NUL character`);
}

/** Callers learn no path, which the cause has, of a command that the system did not start. */
function toStartError(thrown: unknown): unknown {
  const code = systemCodeOf(thrown);
  if (thrown instanceof AppError || code === undefined) return thrown;
  const message = `${NOT_STARTED} (${code})`;
  if (DISK_FULL_CODES.includes(code)) return new AppError('storage_full', message, {}, thrown);
  const isTemporary = TEMPORARY_CODES.includes(code);
  return new AppError(isTemporary ? 'unavailable' : 'invalid', message, {}, thrown);
}

const FIRST_DESCRIPTOR = 3;
/** The stdio of a child is a list up to its highest descriptor. */
const DESCRIPTOR_MAX = 1023;
/** O_CLOEXEC of Linux, as the octal flags of /proc show it. */
const CLOSE_ON_EXEC = 0o2000000;
const DESCRIPTORS_FOLDER = '/proc/self/fdinfo';

/**
 * Finds open files that our starter has left open, as shells and supervisors do. Node opens its own
 * files so that no child gets them, and closes to children what it inherited below 16; the others
 * would go on to every command. In order; none without /proc. Must be called early, as it looks at
 * every open file.
 */
function findInheritedDescriptors(): number[] {
  try {
    return readdirSync(DESCRIPTORS_FOLDER).map(Number)
      .filter((descriptor) => descriptor >= FIRST_DESCRIPTOR && descriptor <= DESCRIPTOR_MAX)
      .filter(isPassedOn).sort((left, right) => left - right);
  } catch {
    return [];
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const text = readFileSync(`${DESCRIPTORS_FOLDER}/${descriptor}`, 'latin1');
    const flags = /^flags:\s*(\d+)$/m.exec(text)?.[1];
    return flags !== undefined && (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor that listed the folder is closed again.
    return false;
  }
}

/** Adds `empty`, a descriptor of /dev/null, in place of each inherited descriptor. */
function coverDescriptors(
  stdio: readonly (number | 'ignore' | 'pipe')[], inherited: readonly number[], empty: number,
): StdioOptions {
  const highest = inherited.at(-1) ?? -1;
  const covers = Array.from({ length: Math.max(highest + 1 - stdio.length, 0) }, (_, index) =>
    inherited.includes(index + stdio.length) ? empty : 'ignore' as const);
  return [...stdio, ...covers];
}

const POLL_MS = 20;
const files = createNodeFiles();

/**
 * Finds the sessions of a run's command. The noted process is the command only if it has the same
 * start time. If it has ended before what it started, or was not noted, the session is known by
 * processes that work in the folder, or write there.
 */
function findSessions(folder: string, processes: readonly ProcessEntry[]): number[] {
  const identity = readNotedProcess(folder);
  if (identity === null) {
    return processes.filter(({ pid }) => holdsFileBelow(pid, folder))
      .map(({ sessionId }) => sessionId);
  }
  if (!isInThisNamespace(files, identity)) return [];
  const startTime = readStartTime(files, identity.pid);
  if (startTime !== '' && startTime === identity.startTime) return [identity.pid];
  return processes
    .filter(({ pid, sessionId }) => sessionId === identity.pid
      && (holdsFileBelow(pid, folder) || worksBelow(pid, folder)))
    .map(({ sessionId }) => sessionId);
}

async function endSession(sessionId: number, clock: Clock): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + TERMINATION_MS;
  let count = await signalSession(sessionId, 'SIGTERM');
  while (count > 0 && clock.monotonicMs() < deadlineMs) {
    await sleep(clock, POLL_MS);
    count = (await listProcesses()).filter((entry) => entry.sessionId === sessionId).length;
  }
  return count === 0 || killSession(sessionId, clock);
}
