/**
 * Starts the program again under a memory cap, which V8 takes only at the start of a process. From
 * Node 22.15 on the new process replaces this one; before, a child serves and this process passes
 * signals and the exit code on. So it does in every Node where a supervisor has opened the sockets:
 * Node marks all descriptors but the first three to be closed when a program is replaced.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { isSea } from 'node:sea';
import { getHeapStatistics } from 'node:v8';
import { AppError } from '../../base/errors.ts';
import type { ActivatedSocket } from '../../server/listening/activated-sockets.ts';
import { EXIT_FAILED, exitSoon } from './exit-code.ts';
import { releaseSignals } from './early-signals.ts';

// The rest of the cap is for buffers: app.ts divides it.
const OLD_SPACE_SHARE = 11 / 16;
const OLD_SPACE_FLAG = '--max-old-space-size';
const SEMI_SPACE_FLAG = '--max-semi-space-size';
const SEMI_SPACE_MEGABYTES = 2;
const MEBIBYTE = 1 << 20;
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const;

/** Whether this process was started under a cap of `megabytes`. */
export function isCapped(megabytes: number): boolean {
  return getHeapStatistics().heap_size_limit <= megabytes * MEBIBYTE;
}

/**
 * Runs this command line again under the cap; resolves with its exit code. `onUserSwitched` is
 * called once the child has become another user, so that this process need not be root any more.
 * Throws `usage` when this process was started with the cap's options and they have no effect.
 */
export async function runCapped(
  megabytes: number, onUserSwitched: () => void, sockets: readonly ActivatedSocket[],
): Promise<number> {
  const oldSpace = Math.floor(megabytes * OLD_SPACE_SHARE);
  const flags = `${OLD_SPACE_FLAG}=${oldSpace} ${SEMI_SPACE_FLAG}=${SEMI_SPACE_MEGABYTES}`;
  const nodeOptions = process.env['NODE_OPTIONS'] ?? '';
  if (nodeOptions.endsWith(flags)) {
    throw new AppError('usage', '--max-memory has no effect beside other memory options of Node');
  }
  const environment = {
    ...process.env, NODE_OPTIONS: `${nodeOptions} ${flags}`.trim(), ...await passOn(sockets),
  };
  // The last of two equal options counts, and the command line comes after NODE_OPTIONS.
  const options = process.execArgv.filter((arg) => !arg.startsWith(OLD_SPACE_FLAG));
  // The single executable contains its options and its script.
  const args = isSea() ? process.argv.slice(2) : [...options, ...process.argv.slice(1)];
  const mayReplace = sockets.length === 0;
  if (mayReplace && 'execve' in process && typeof process.execve === 'function') {
    process.execve(process.execPath, [process.execPath, ...args], environment);
  }
  // In its own process group: else Ctrl-C would reach the child twice, once through us.
  const child = spawn(process.execPath, args, {
    env: environment, detached: true,
    stdio: ['inherit', 'inherit', 'inherit', ...sockets.map(({ descriptor }) => descriptor), 'ipc'],
  });
  child.once('message', onUserSwitched);
  return waitForChild(child);
}

/** The variables of activated sockets for the child; none without sockets. */
async function passOn(
  sockets: readonly ActivatedSocket[],
): Promise<Readonly<Record<string, string>>> {
  if (sockets.length === 0) return {};
  const { formatActivation } = await import('../../server/listening/activated-sockets.ts');
  return formatActivation(sockets, process.pid);
}

function waitForChild(child: ChildProcess): Promise<number> {
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  releaseSignals();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      resolve(code ?? EXIT_FAILED);
      exitSoon();
    });
  });
}
