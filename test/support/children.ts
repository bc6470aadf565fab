/**
 * Child processes of tests. Whatever becomes of the test that started one, it is ended by its pid:
 * when the test is over, and when the process of the tests is. What a `before` hook starts belongs
 * to the file.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach } from 'node:test';

const running = new Set<ChildProcess>();
/** What ran as each test began that is not over: a test may hold others. */
const earlier: ReadonlySet<ChildProcess>[] = [];

/** Takes the end of a child over, which must not be shared by several tests or subtests. */
export function owned<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Output = {
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
};

/** Collects what a child writes, from now on. */
export function collectOutput(child: ChildProcess): Output {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      output[name] += chunk.toString();
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }));
  return { stdout: () => output.stdout, stderr: () => output.stderr, ended };
}

export function endOf(child: ChildProcess): Promise<Ended> {
  return collectOutput(child).ended;
}

function endAll(kept: ReadonlySet<ChildProcess>): void {
  for (const child of running) if (!kept.has(child)) child.kill('SIGKILL');
}

beforeEach(() => void earlier.push(new Set(running)));
afterEach(() => endAll(earlier.pop() ?? new Set()));
// Before their folders are removed.
process.prependListener('exit', () => endAll(new Set()));
// A runner that has waited too long ends us so.
process.once('SIGTERM', () => process.exit(1));
