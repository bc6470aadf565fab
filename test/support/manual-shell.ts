/**
 * One shell that runs the commands of a page as a reader would: in one folder, with the built
 * program on the path. Ports 8000 and 9000 are others here, which are free.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAsShown, type Step } from './manual-blocks.ts';
import { QUICK_PROGRAM } from './program.ts';
import { closedPort } from './servers.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MARK = 'end-of-command';
const STEP_MS_MAX = 60_000;
const UPDATE_MS = 700;
const POLL_MS = 5;
const isUpdating = process.env['MANUAL_UPDATE'] !== undefined;
/** Deliveries happen in the background: what only looks is asked again. */
const LOOKING = /^(hookshelf \S+:(list|show|reconcile)|tail|jq)\b(?!.*\bxargs\b)/s;
const AGAIN_EVERY_MS = 200;

export type StepOutcome = {
  readonly isAsShown: boolean; readonly output: string; readonly exitCode: number;
};

export class ManualShell {
  readonly folder = createTemporaryFolder();
  readonly #ports = new Map<string, string>();
  #bash: ChildProcess | null = null;
  #output = '';
  #exitCode = 0;
  #typed = 0;

  async start(): Promise<void> {
    for (const port of ['8000', '9000']) this.#ports.set(port, String(await closedPort()));
    const bin = join(this.folder, '.bin');
    const work = join(this.folder, 'work');
    mkdirSync(bin);
    mkdirSync(join(work, 'node_modules'), { recursive: true });
    symlinkSync(ROOT, join(work, 'node_modules/hookshelf'));
    writeFileSync(join(bin, 'hookshelf'),
      `#!/bin/sh\nexec '${process.execPath}' '${QUICK_PROGRAM}' "$@"\n`, { mode: 0o755 });
    const path = `${bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    this.#bash = spawn('bash', ['--norc', '--noprofile'], {
      cwd: work,
      // A group of its own, so that whatever the page starts in the background ends with it.
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: path, HOME: work, HOOKSHELF_SERVER_PORT: this.#ports.get('8000') ?? '' },
    });
    // A command fails that is in the middle of a pipe, too.
    this.#bash.stdin?.write('set -o pipefail\n');
    this.#bash.stdout?.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
  }

  writeFile(name: string, lines: readonly string[]): void {
    const path = join(this.folder, 'work', name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, this.#here(`${lines.join('\n')}\n`), { mode: 0o600 });
  }

  /** What the command printed, with the page's ports; waits for what it says comes later. */
  async run(step: Step): Promise<StepOutcome> {
    const waitMs = isUpdating && step.expected.length === 0 ? UPDATE_MS : STEP_MS_MAX;
    const deadline = performance.now() + waitMs;
    let output = await this.#type(step.command);
    while (!isAsShown(output, step.expected) && performance.now() < deadline) {
      await sleep(AGAIN_EVERY_MS);
      output = LOOKING.test(step.command) ? await this.#type(step.command) : this.#shown();
    }
    return { isAsShown: isAsShown(output, step.expected), output, exitCode: this.#exitCode };
  }

  async #type(command: string): Promise<string> {
    this.#output = '';
    this.#typed += 1;
    const mark = `${MARK}-${this.#typed}`;
    // Job notices go to the shell's own stderr, which nobody sees.
    this.#bash?.stdin?.write(`{ ${this.#here(command)}\n} 2>&1\nprintf '\\n${mark} %s\\n' $?\n`);
    const deadline = performance.now() + STEP_MS_MAX;
    const end = new RegExp(`\n${mark} (\\d+)\n`);
    while (!end.test(this.#output)) {
      if (performance.now() > deadline) return `${this.#shown()}\n(still running)\n`;
      await sleep(POLL_MS);
    }
    this.#exitCode = Number(end.exec(this.#output)?.[1]);
    return this.#shown();
  }

  #shown(): string {
    const own = this.#output.replace(new RegExp(`\n${MARK}-\\d+ \\d+\n`), '');
    let text = own.replaceAll(`${this.folder}/work`, '/home/ada');
    for (const [shown, port] of this.#ports) text = text.replaceAll(wordOf(port), shown);
    return text;
  }

  #here(text: string): string {
    let own = text;
    for (const [shown, port] of this.#ports) own = own.replaceAll(wordOf(shown), port);
    return own;
  }

  async close(): Promise<void> {
    const bash = this.#bash;
    if (bash?.pid !== undefined && bash.exitCode === null) {
      const ended = once(bash, 'close');
      process.kill(-bash.pid, 'SIGKILL');
      await ended;
    }
  }
}

function wordOf(port: string): RegExp {
  return new RegExp(`\\b${port}\\b`, 'g');
}
