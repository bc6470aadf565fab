/** Receives deliveries, slowly or with a failure now and then, and keeps when each attempt was. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { below } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import type { Attempt } from '../checker/history.ts';
import { nowMs } from './shelf.ts';

type Open = { endMs: number } & Omit<Attempt, 'endMs'>;

const FAILING_OF = 12;

export class Receiver {
  readonly #server: Server;
  readonly #random: Random;
  readonly #attempts: Open[] = [];
  /** An attempt takes at most this long. */
  slowMs = 20;

  private constructor(server: Server, random: Random) {
    this.#server = server;
    this.#random = random;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#take(request, response).catch(() => response.destroy());
    });
  }

  static async start(random: Random): Promise<Receiver> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Receiver(server, random);
  }

  get port(): number {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? 0 : address.port;
  }

  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** `/<hook>`, a `webhook-id`, and a body `{"token":"…"}`. */
  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const beginMs = nowMs();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const hook = request.url ?? '';
    const body = Buffer.concat(chunks).toString();
    const [, token = ''] = /^\{"token":"([^"]*)"\}$/.exec(body) ?? [];
    const id = String(request.headers['webhook-id']);
    const attempt: Open = { delivery: id, hook, token, beginMs, endMs: Infinity };
    this.#attempts.push(attempt);
    response.once('close', () => void (attempt.endMs = Math.min(attempt.endMs, nowMs())));
    const ms = this.#random() * this.slowMs;
    await new Promise((resolve) => void setTimeout(resolve, ms));
    // Whoever reads the answer may have begun the next attempt before we hear that it is sent.
    attempt.endMs = Math.min(attempt.endMs, nowMs());
    const isFailed = below(this.#random, FAILING_OF) === 0;
    response.statusCode = isFailed ? 500 : 204;
    response.end();
  }
}
