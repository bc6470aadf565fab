/**
 * A TCP proxy that fails as networks do: it refuses, delays, holds what goes one way (as a cable
 * does that is cut for a while: nothing is lost, as TCP sends it again), resets, and cuts a
 * connection just after it passed a commit on, or just before the answer to one.
 */
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { CommitReader } from './commit-reader.ts';
import { Outages } from './outages.ts';
import type { Outage } from './outages.ts';

export type Direction = 'toServer' | 'toClient';
/** `sent`: the commit went through; `answered`: the server has answered it, which nobody hears. */
export type CutMoment = 'sent' | 'answered';

type FaultProxyOptions = {
  /** Where new connections go to: asked for each, as a service's address moves. */
  readonly target: () => number;
  /** Finds commits in what clients send. */
  readonly commits?: () => CommitReader;
};

type Link = {
  readonly client: Socket;
  readonly server: Socket;
  readonly commits: CommitReader | null;
  /** The answer to a commit is awaited, to be lost. */
  isDoomed: boolean;
};

type Trap = { readonly moment: CutMoment; readonly sprung: () => void };

export class FaultProxy {
  readonly port: number;
  delayMs = 0;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #held = new Set<Direction>();
  readonly #waiting: (() => void)[] = [];
  readonly #outages = new Outages();
  #traps: Trap[] = [];
  #isRefusing = false;
  #elsewhere: number | null = null;
  #last: { readonly text: string; readonly sprung: () => void } | null = null;

  private constructor(server: Server, { target, commits }: FaultProxyOptions) {
    this.#server = server;
    const address = server.address();
    this.port = address === null || typeof address === 'string' ? 0 : address.port;
    server.on('connection', (client) => {
      if (this.#isRefusing) return void client.resetAndDestroy();
      const port = this.#elsewhere ?? target();
      const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
      client.setNoDelay(true);
      this.#join({ client, server: upstream, commits: commits?.() ?? null, isDoomed: false });
    });
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new FaultProxy(server, options);
  }

  /** When it let nothing through, or ended connections. */
  get outages(): readonly Outage[] {
    return this.#outages.spans;
  }

  /** Holds all bytes of these directions, and new connections too, until `heal`. */
  hold(...directions: readonly Direction[]): void {
    this.#outages.begin();
    for (const direction of directions) this.#held.add(direction);
  }

  /** Ends all connections, and each new one at once. */
  refuse(): void {
    this.#isRefusing = true;
    this.#outages.begin();
    this.reset();
  }

  /** Holds everything once bytes with this text have gone to the server; resolves then. */
  holdAfter(text: string): Promise<void> {
    return new Promise((sprung) => void (this.#last = { text, sprung }));
  }

  /** Leads to another server than the engine's from now on; null: to the engine again. */
  mislead(port: number | null): void {
    this.#elsewhere = port;
    if (port === null) this.#outages.end();
    else this.#outages.begin();
    this.reset();
  }

  /** Ends all connections with a reset. */
  reset(): void {
    this.#outages.tick();
    for (const link of [...this.#links]) this.#end(link);
  }

  /** Passes on what was held, in order. */
  heal(): void {
    this.delayMs = 0;
    this.#isRefusing = false;
    this.#elsewhere = null;
    this.#last = null;
    this.#held.clear();
    this.#traps = [];
    this.#outages.end();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Cuts the connection of the next commit; resolves when that has happened. */
  cutNextCommit(moment: CutMoment): Promise<void> {
    return new Promise((sprung) => void this.#traps.push({ moment, sprung }));
  }

  async close(): Promise<void> {
    this.refuse();
    this.heal();
    this.#isRefusing = true;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(link: Link): void {
    this.#links.add(link);
    const { client, server } = link;
    void this.#pass(link, client, server, 'toServer');
    void this.#pass(link, server, client, 'toClient');
    for (const socket of [client, server]) {
      socket.on('error', () => this.#end(link));
      socket.on('close', () => this.#end(link));
    }
  }

  async #pass(link: Link, from: Socket, to: Socket, direction: Direction): Promise<void> {
    try {
      for await (const chunk of from) {
        if (!Buffer.isBuffer(chunk)) continue;
        if (this.delayMs > 0) await sleep(this.delayMs);
        while (this.#held.has(direction)) {
          await new Promise<void>((resolve) => void this.#waiting.push(resolve));
        }
        if (to.destroyed) return;
        if (direction === 'toClient' && link.isDoomed) return this.#end(link);
        if (!to.write(chunk)) await drained(to);
        if (direction === 'toServer') this.#findLast(chunk);
        if (direction === 'toServer' && link.commits?.push(chunk) === true) this.#commit(link);
      }
      to.end();
    } catch {
      this.#end(link);
    }
  }

  #findLast(chunk: Buffer): void {
    if (this.#last === null || !chunk.includes(this.#last.text)) return;
    const { sprung } = this.#last;
    this.#last = null;
    this.hold('toServer', 'toClient');
    sprung();
  }

  #commit(link: Link): void {
    const trap = this.#traps.shift();
    if (trap === undefined) return;
    link.isDoomed = true;
    this.#outages.tick();
    if (trap.moment === 'answered') {
      link.client.once('close', () => {
        this.#outages.tick();
        trap.sprung();
      });
      return;
    }
    // The bytes are the kernel's: the server gets them before it hears of the end.
    link.server.end();
    link.client.resetAndDestroy();
    trap.sprung();
  }

  #end(link: Link): void {
    this.#links.delete(link);
    for (const socket of [link.client, link.server]) {
      if (!socket.destroyed) socket.resetAndDestroy();
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', () => resolve());
  });
}
