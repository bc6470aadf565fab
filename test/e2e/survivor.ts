/** A real server that is killed and comes back, and the target that it sends to. */
import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { startServer, type Running } from './processes.ts';
import { FlappingTarget, MOODS } from './relay-target.ts';

/** How long whatever is awaited may take. */
export const DRAIN_MS_MAX = 60_000;
const CONNECTIONS_MAX = 64;

export type Post = (path: string, body: unknown) => Promise<number>;

/** A server that comes back after each kill, and posts over kept connections. */
export class Survivor {
  readonly #words: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  #running: Running | null = null;
  /** False from just before a kill until it listens again. */
  isUp = false;

  constructor(data: string, environment: Readonly<Record<string, string>>) {
    this.#words = ['--data', data];
    this.#environment = environment;
  }

  get url(): string {
    return this.#running?.url ?? '';
  }

  async start(): Promise<void> {
    this.#running = await startServer(this.#words, { environment: this.#environment });
    this.isUp = true;
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    this.isUp = false;
    await this.#running?.stop(signal);
    if (signal === 'SIGTERM') this.#agent.destroy();
  }

  /** The status; 0 when no answer came. */
  post: Post = async (path, body) => (await this.call(path, JSON.stringify(body))).status;

  /** The answer to a POST; status 0 when none came. */
  call(
    path: string, body: string, headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    const bytes = Buffer.from(body);
    return new Promise((resolve) => {
      const fail = (): void => resolve({ status: 0, text: '' });
      const request = httpRequest(`${this.url}${path}`, {
        method: 'POST', agent: this.#agent,
        headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...headers },
      }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('aborted', fail);
        response.on('end', () => resolve({
          status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(),
        }));
      });
      request.on('error', fail);
      request.end(bytes);
    });
  }

  async list<T>(path: string): Promise<readonly T[]> {
    return JSON.parse((await ask(`${this.url}${path}`)).text);
  }

  async get(path: string): Promise<Record<string, unknown>> {
    return JSON.parse((await ask(`${this.url}${path}`)).text);
  }

  /** Waits until none is pending of `/api/<what>`; the totals. */
  async drain(what: 'deliveries' | 'requests' = 'deliveries'): Promise<Record<string, unknown>> {
    let [pending, movedMs]: [unknown, number] = [null, 0];
    for (;;) {
      const totals = await this.get(`/api/${what}/reconcile`);
      // A busy machine takes its time, as long as it goes on.
      if (totals['pending'] !== pending) [pending, movedMs] = [totals['pending'], Date.now()];
      if (pending === 0 || Date.now() - movedMs > DRAIN_MS_MAX) return totals;
      await wait(20);
    }
  }
}

export async function withRelay(
  environment: Readonly<Record<string, string>>,
  use: (server: Survivor, target: FlappingTarget) => Promise<void>,
): Promise<void> {
  await inFolder(async (data) => {
    const target = new FlappingTarget();
    const server = new Survivor(data, environment);
    try {
      await target.open();
      await server.start();
      await use(server, target);
    } finally {
      await server.stop('SIGKILL');
      await target.close();
    }
  });
}

/** Offers things to a server, one after the other; `key` is the number of the connection. */
interface OfferSource {
  readonly count: number;
  offerUntil(bound: number, key: number): Promise<void>;
}

type LivesPlan = {
  /** How much is offered in all. */
  readonly bound: number;
  readonly kills: number;
  readonly connections: number;
  readonly random: Random;
};

/**
 * Offers a share of what is to come in each life of the server, and kills it in the midst of all
 * its lives but the last, in which the target is well.
 */
export async function liveThroughKills(
  server: Survivor, target: FlappingTarget, offers: OfferSource,
  { bound, kills, connections, random }: LivesPlan,
): Promise<void> {
  const first = offers.count;
  for (let life = 0; life <= kills; life += 1) {
    const share = (bound - first) / (kills + 1);
    const end = first + Math.round(share * (life + 1));
    await target.turn(life === kills ? 'up' : MOODS[life % MOODS.length] ?? 'up');
    const offering = Promise.all(
      Array.from({ length: connections }, (_, key) => offers.offerUntil(end, key)));
    if (life < kills) {
      const killAt = end - share * (0.1 + 0.6 * random());
      await until('it is time to kill', () => offers.count >= killAt, { msMax: DRAIN_MS_MAX });
      await server.stop('SIGKILL');
      await offering;
      await server.start();
    }
    await offering;
  }
}

export async function make(server: Survivor, path: string, body: object): Promise<void> {
  assert.equal(await server.post(path, body), 201, path);
}
