/** A target of deliveries with moods, which keeps what every attempt carried. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `down`: nothing listens; `reset`: the connection is cut; `slow`: the answer takes a while. */
export const MOODS = ['up', 'failing', 'reset', 'slow', 'down'] as const;
export type Mood = typeof MOODS[number];

const SLOW_MS = 60;

export type Arrival = {
  readonly path: string;
  /** The `webhook-id`; '' without one. */
  readonly id: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
  readonly atMs: number;
};

export class FlappingTarget {
  /** Answered with success, in order. */
  readonly arrived: Arrival[] = [];
  /** Every body that came with a `webhook-id`, successful or not. */
  readonly bodiesById = new Map<string, Set<string>>();
  #mood: Mood = 'up';
  #port = 0;
  #server: Server | null = null;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => this.#take(request, response));
    this.#server = server;
    await once(server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (server.address() as AddressInfo).port;
  }

  async turn(mood: Mood): Promise<void> {
    this.#mood = mood;
    if (mood === 'down') await this.close();
    else if (this.#server === null) await this.open();
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const id = String(request.headers['webhook-id'] ?? '');
      if (id !== '') {
        this.bodiesById.set(id, (this.bodiesById.get(id) ?? new Set()).add(body));
      }
      this.#answer({
        path: request.url ?? '', id, body, headers: request.headers, atMs: Date.now(),
      }, response);
    });
  }

  #answer(arrival: Arrival, response: ServerResponse): void {
    if (this.#mood === 'reset') return void response.socket?.resetAndDestroy();
    const isWell = this.#mood === 'up' || this.#mood === 'slow';
    response.statusCode = isWell ? 200 : 500;
    if (isWell) this.arrived.push(arrival);
    if (this.#mood === 'slow') setTimeout(() => response.end(), SLOW_MS);
    else response.end();
  }
}

/** Whether both of an attempt's signatures are those of its body (Standard Webhooks; GitHub's). */
export function isSigned({ id, body, headers }: Arrival, secret: string): boolean {
  const signed = `${id}.${String(headers['webhook-timestamp'])}.${body}`;
  const standard = createHmac('sha256', secret).update(signed).digest('base64');
  const plain = createHmac('sha256', secret).update(body).digest('hex');
  return headers['webhook-signature'] === `v1,${standard}`
    && headers['x-signature'] === `sha256=${plain}`;
}
