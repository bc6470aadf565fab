/** A command as a process: how it is started, ended in time, and found to have ended. */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { RelayContext } from '../../relay-context.ts';
import { killSession, signalGroup, signalSession } from './process-table.ts';

type ProcessStart = {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** Standard input, output and error: descriptors, or what Node makes. */
  readonly stdio: StdioOptions;
};

export type StartedProcess = { readonly child: ChildProcess; readonly pid: number };

export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly isTimedOut: boolean;
  readonly isStopped: boolean;
};

/** From SIGTERM to SIGKILL, and from there until a process is given up that cannot be killed. */
export const TERMINATION_MS = 5000;
/** Added to our own score: the system ends what eats the memory rather than us. */
const OUT_OF_MEMORY_SCORE = 500;
const OUT_OF_MEMORY_SCORE_MAX = 1000;

/**
 * Starts a command as the leader of a process group and a session of its own. `onStart` is called
 * with its pid at once; what it throws ends the command again. Rejects with that, or with the
 * system's error when it cannot be started.
 */
export function startProcess(
  start: ProcessStart, onStart: (pid: number) => void,
): Promise<StartedProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(start.file, start.arguments, {
      cwd: start.workingDirectory, env: start.environment, stdio: start.stdio,
      detached: true, shell: false,
    });
    child.once('error', reject);
    const { pid } = child;
    if (pid === undefined) return;
    try {
      onStart(pid);
    } catch (thrown) {
      signalGroup(pid, 'SIGKILL');
      reject(thrown);
      return;
    }
    offerToMemoryKiller(pid);
    resolve({ child, pid });
  });
}

/** Makes Linux end the command, and what it starts, before us when memory runs out. */
function offerToMemoryKiller(pid: number): void {
  try {
    const ownScore = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
    const score = Math.min(ownScore + OUT_OF_MEMORY_SCORE, OUT_OF_MEMORY_SCORE_MAX);
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // There is no such file, or the command has ended, or is another user's.
  }
}

type ExitStatus = { readonly exitCode: number | null; readonly signal: string | null };

export class CommandProcess {
  /** Resolves when the command has ended, or cannot be ended. Never rejects. */
  readonly end: Promise<ProcessEnd>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #pid: number;
  readonly #startedMs: number;
  #timer: Timer;
  #isTimedOut = false;
  #isStopped = false;
  #giveUp: () => void = () => {};

  constructor(
    { child, pid }: StartedProcess, { clock, log }: Pick<RelayContext, 'clock' | 'log'>,
    timeoutMs: number,
  ) {
    this.#clock = clock;
    this.#log = log;
    this.#pid = pid;
    this.#startedMs = clock.monotonicMs();
    this.#timer = clock.startTimer(timeoutMs, () => {
      this.#isTimedOut = true;
      this.#terminate();
    });
    this.end = this.#waitForEnd(child);
  }

  /** Ends the command as the server stops. Idempotent. */
  stop(): void {
    if (this.#isTimedOut || this.#isStopped) return;
    this.#isStopped = true;
    this.#timer.cancel();
    this.#terminate();
  }

  #terminate(): void {
    this.#signal('SIGTERM');
    this.#timer = this.#clock.startTimer(TERMINATION_MS, () => {
      this.#signal('SIGKILL');
      this.#timer = this.#clock.startTimer(TERMINATION_MS, () => this.#giveUp());
    });
  }

  #signal(signal: NodeJS.Signals): void {
    signalGroup(this.#pid, signal);
    void signalSession(this.#pid, signal);
  }

  async #waitForEnd(child: ChildProcess): Promise<ProcessEnd> {
    const status = await this.#waitForExit(child);
    this.#timer.cancel();
    const durationMs = Math.round(this.#clock.monotonicMs() - this.#startedMs);
    // The command may have left processes behind.
    signalGroup(this.#pid, 'SIGKILL');
    if (status === null || !await killSession(this.#pid, this.#clock)) {
      this.#log.error('a command, or what it has started, cannot be ended: it may be another '
        + 'user\'s, or wait for a disk', { pid: this.#pid });
    }
    return {
      exitCode: status?.exitCode ?? null, signal: status?.signal ?? null, durationMs,
      isTimedOut: this.#isTimedOut, isStopped: this.#isStopped,
    };
  }

  #waitForExit(child: ChildProcess): Promise<ExitStatus | null> {
    return new Promise((resolve) => {
      this.#giveUp = () => {
        child.unref();
        resolve(null);
      };
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    });
  }
}
