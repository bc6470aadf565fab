/** Real processes of the built program. Every child is ended by its own pid. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { collectOutput, endOf, owned, type Ended } from '../support/children.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';

const START_MS_MAX = 120_000;
// On a machine that is busy with many tests, the slowest command takes seconds.
const COMMAND_MS_MAX = 120_000;

export type ProcessOptions = {
  readonly cwd?: string;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What to start instead of the built program under this Node: a program and its first words. */
  readonly program?: readonly string[];
};

/** Runs a command to its end, which has to come in two minutes. */
export async function hookshelf(
  words: readonly string[], options: ProcessOptions = {},
): Promise<Ended> {
  const child = start(words, options);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, COMMAND_MS_MAX);
  const ended = await endOf(child);
  clearTimeout(timer);
  assert.ok(!isLate, `hookshelf ${words.join(' ')} did not end: ${ended.stderr}`);
  return ended;
}

export function start(words: readonly string[], options: ProcessOptions = {}): ChildProcess {
  const [file = '', ...before] = options.program ?? [process.execPath, QUICK_PROGRAM];
  const child = owned(spawn(file, [...before, ...words], {
    cwd: options.cwd, env: { PATH: process.env['PATH'] ?? '', ...options.environment },
  }));
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  return child;
}

/** A command that prints what comes, until it is stopped. */
export type Watching = {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly notes: () => string;
  readonly ended: Promise<Ended>;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
};

/** Starts `request:watch` or `event:watch`, and resolves once it watches. */
export async function watch(command: string, words: readonly string[]): Promise<Watching> {
  const child = start([command, ...words]);
  const { stdout: out, stderr: notes, ended } = collectOutput(child);
  await until('it watches', () => notes().includes('Ctrl-C ends this'), { seen: notes });
  return {
    child, out, notes, ended,
    stop(signal = 'SIGINT') {
      child.kill(signal);
      return ended;
    },
  };
}

export type Running = {
  readonly url: string;
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written to stderr so far. */
  stderr(): string;
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
};

/** Starts a server, on a port from the kernel unless one is named, and waits until it listens. */
export function startServer(
  words: readonly string[], options: ProcessOptions = {},
): Promise<Running> {
  const port = words.includes('--port') ? [] : ['--port', '0'];
  return whenListening(start(['serve', ...port, ...words], options));
}

/** Waits until a server that was just started listens; fails when it ends before that. */
export async function whenListening(child: ChildProcess): Promise<Running> {
  const { stdout, stderr, ended } = collectOutput(child);
  const url = await Promise.race([
    readUrl(child, stdout),
    ended.then((end) => assert.fail(`serve ended with ${end.code ?? end.signal}: ${end.stderr}`)),
  ]);
  return {
    url, child, ended, stderr,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

async function readUrl(child: ChildProcess, stdout: () => string): Promise<string> {
  const timeout = AbortSignal.timeout(START_MS_MAX);
  for (;;) {
    const [, url] = /^hookshelf listening on (\S+)\n/m.exec(stdout()) ?? [];
    if (url !== undefined) return url;
    assert.ok(child.stdout !== null);
    await once(child.stdout, 'data', { signal: timeout });
  }
}
