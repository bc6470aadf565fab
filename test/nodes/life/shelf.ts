/** One hookshelf as a real process, which can be killed, frozen and started again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { performance } from 'node:perf_hooks';
import { owned } from '../../support/children.ts';
import { below } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import { QUICK_PROGRAM } from '../../support/program.ts';
import type { Outcome } from '../checker/history.ts';

const START_MS_MAX = 90_000;
const ANSWER_MS_MAX = 25_000;
const CONNECTIONS_MAX = 32;
const LOG_CHARACTERS_MAX = 200_000;

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

/** `none`: nothing can have come of it; `lost`: nobody knows. */
export type Failure = 'none' | 'lost';

type ShelfOptions = {
  readonly name: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** In place of the built program. */
  readonly program?: string | undefined;
};

export class Shelf {
  readonly name: string;
  /** What it has written to stderr, in all its lives. */
  log = '';
  url = '';
  isFrozen = false;
  #options: ShelfOptions;
  #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  #child: ChildProcess | null = null;

  constructor(options: ShelfOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#child !== null && this.url !== '';
  }

  get directory(): string {
    return this.#options.directory;
  }

  /** For its next life. */
  set(environment: Readonly<Record<string, string>>): void {
    const merged = { ...this.#options.environment, ...environment };
    this.#options = { ...this.#options, environment: merged };
  }

  /** Another program for its next life; undefined: the built one. */
  upgrade(program: string | undefined): void {
    this.#options = { ...this.#options, program };
  }

  /** Its next life begins without what it has on its own disk. */
  forget(): void {
    rmSync(this.directory, { recursive: true });
  }

  /** Starts it; resolves once it listens, which it may do before it is ready. */
  async start(): Promise<void> {
    assert.ok(this.#child === null, `${this.name} runs already`);
    const { directory, environment, program = QUICK_PROGRAM } = this.#options;
    const words = [program, 'serve', '--data', directory, '--port', '0'];
    const child = owned(spawn(process.execPath, words, {
      stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] ?? '', ...environment },
    }));
    this.#child = child;
    child.once('exit', (code, signal) => {
      this.log += `[ended with ${code ?? signal}]\n`;
      if (this.#child === child) this.#end();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.log = (this.log + chunk.toString()).slice(-LOG_CHARACTERS_MAX);
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      this.url = /^hookshelf listening on (\S+?)\/?$/m.exec(said)?.[1] ?? '';
    });
    await until(`${this.name} listens`, () => this.url !== '' || this.#child !== child,
      { msMax: START_MS_MAX });
    assert.ok(this.#child === child, `${this.name} ended: ${this.log.slice(-2000)}`);
  }

  /** Starts it and waits until it is ready. */
  async startReady(): Promise<void> {
    await this.start();
    await this.ready();
  }

  async ready(): Promise<void> {
    await until(`${this.name} is ready`, async () => await this.isReady() || !this.isUp,
      { msMax: START_MS_MAX, seen: () => this.log });
    assert.ok(this.isUp, `${this.name} ended: ${this.log.slice(-3000)}`);
  }

  async isReady(): Promise<boolean> {
    const answer = await this.ask('GET', '/readyz');
    return typeof answer !== 'string' && answer.status === 200;
  }

  async stop(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.thaw();
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Stops it where it stands. */
  freeze(): void {
    this.isFrozen = true;
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.isFrozen = false;
    this.#child?.kill('SIGCONT');
  }

  ask(
    method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer | Failure> {
    if (this.url === '') return Promise.resolve('none');
    const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const own = bytes === null ? {}
      : { 'content-type': 'application/json', 'content-length': String(bytes.length) };
    return new Promise((settle) => {
      const request = httpRequest(`${this.url}${path}`, {
        method, agent: this.#agent, headers: { ...own, ...headers },
      });
      const timer = setTimeout(() => request.destroy(), ANSWER_MS_MAX);
      request.once('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        settle(error.code === 'ECONNREFUSED' ? 'none' : 'lost');
      });
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.once('error', () => {});
        response.once('close', () => {
          clearTimeout(timer);
          if (!response.complete) return settle('lost');
          settle({
            status: response.statusCode ?? 0, headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          });
        });
      });
      request.end(bytes ?? undefined);
    });
  }

  #end(): void {
    this.#child = null;
    this.url = '';
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  }
}

/** Any of them; null if that one is down or stands still. */
export function pickShelf(shelves: readonly Shelf[], random: Random): Shelf | null {
  const shelf = shelves[below(random, shelves.length)];
  return shelf !== undefined && shelf.isUp && !shelf.isFrozen ? shelf : null;
}

/** The outcome of a write that was answered so. */
export function outcomeOf(answer: Answer | Failure): Outcome {
  if (answer === 'lost') return 'unknown';
  if (answer === 'none') return 'refused';
  const { status, body } = answer;
  if (status >= 200 && status < 300) return 'ok';
  return status === 503 && body.includes('problem:unknown-outcome') ? 'unknown' : 'refused';
}

/** Milliseconds of the one clock that all times of a history are of. */
export function nowMs(): number {
  return performance.now();
}
