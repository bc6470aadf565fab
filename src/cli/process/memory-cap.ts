/**
 * Memory caps of V8 are fixed when a process starts: this starts the program again under one. Where
 * Node can replace the process (22.15 and later) it does; elsewhere a child serves, and this one
 * passes signals and the exit code on.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { isSea } from 'node:sea';
import { getHeapStatistics } from 'node:v8';
import { AppError } from '../../base/errors.ts';
import { EXIT_FAILED, exitSoon } from './exit.ts';
import { leaveSignals } from './first-signal.ts';

// What is left is for buffers: app.ts divides it.
const OLD_SPACE_SHARE = 11 / 16;
const OLD_SPACE_FLAG = '--max-old-space-size';
const SEMI_SPACE_FLAG = '--max-semi-space-size';
const SEMI_SPACE_MEGABYTES = 2;
const MEBIBYTE = 1 << 20;
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Whether this process's heap is under a cap of `megabytes` for the process already. */
export function isCapped(megabytes: number): boolean {
  return getHeapStatistics().heap_size_limit <= megabytes * MEBIBYTE;
}

/**
 * Runs this very command line under the cap; resolves with its exit code. `onBecome` is called when
 * it runs as another user from now on, and this process need be root no longer. Throws `usage` when
 * this process was started so and something keeps the cap from holding.
 */
export async function runCapped(megabytes: number, onBecome: () => void): Promise<number> {
  const oldSpace = Math.floor(megabytes * OLD_SPACE_SHARE);
  const flags = `${OLD_SPACE_FLAG}=${oldSpace} ${SEMI_SPACE_FLAG}=${SEMI_SPACE_MEGABYTES}`;
  const given = process.env['NODE_OPTIONS'] ?? '';
  if (given.endsWith(flags)) {
    throw new AppError('usage', '--max-memory has no effect beside other memory options of Node');
  }
  const environment = { ...process.env, NODE_OPTIONS: `${given} ${flags}`.trim() };
  // Of one option the last counts, and those of the command line come after the environment's.
  const options = process.execArgv.filter((word) => !word.startsWith(OLD_SPACE_FLAG));
  // A single executable has its options and its script inside.
  const words = isSea() ? process.argv.slice(2) : [...options, ...process.argv.slice(1)];
  if ('execve' in process && typeof process.execve === 'function') {
    process.execve(process.execPath, [process.execPath, ...words], environment);
  }
  // A group of its own: a terminal's Ctrl-C would reach it twice otherwise, once through us.
  const child = spawn(process.execPath, words, {
    env: environment, detached: true, stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  child.once('message', onBecome);
  return waitFor(child);
}

function waitFor(child: ChildProcess): Promise<number> {
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  leaveSignals();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      resolve(code ?? EXIT_FAILED);
      exitSoon();
    });
  });
}
