/**
 * A model of an engine with a primary and two standbys, of which one has to have an entry before it
 * counts as committed. What waits for that is on the primary's disk already: after a crash there it
 * is seen, though a standby that is promoted does not have it.
 */
import { createHash } from 'node:crypto';
import { below } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type Change =
  | { readonly kind: 'put'; readonly key: string; readonly token: string;
    readonly name: string | null }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'lease'; readonly node: string; readonly term: number }
  | { readonly kind: 'result'; readonly delivery: string; readonly attempts: number;
    readonly isFinal: boolean };

/** One change is one transaction. */
export type Entry = {
  readonly first: number;
  readonly sequence: number;
  readonly chain: string;
  readonly batch: string;
  readonly changes: readonly Change[];
};

export type Position = { readonly sequence: number; readonly chain: string };
export type AppendResult = 'committed' | 'conflict' | 'warning';

/** The connection ended; whether what was asked was done is not known. */
export class Lost extends Error {}

type Server = { log: Entry[]; visible: number; incarnation: number; isLocked: boolean };

export function chainOf(before: string, batch: string, changes: readonly Change[]): string {
  return createHash('sha256').update(before + batch + JSON.stringify(changes)).digest('hex');
}

export class EngineModel {
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #servers: Server[] = [0, 1, 2].map(() =>
    ({ log: [], visible: 0, incarnation: 0, isLocked: false }));
  #primary = 0;
  /** Standbys that get nothing. */
  readonly #lagging = new Set<number>();
  readonly #cutNodes = new Set<string>();
  #cancels = 0;
  #floor = 0;
  isUp = true;

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    void this.#replicate();
  }

  connect(node: string): Connection {
    return new Connection(this, node, this.#primary);
  }

  /** What a standby shows, for who reads there. */
  standbyLog(): readonly Entry[] {
    return this.#servers[(this.#primary + 1) % 3]?.log ?? [];
  }

  lag(standbys: 'one' | 'both'): void {
    this.#lagging.add((this.#primary + 1) % 3);
    if (standbys === 'both') this.#lagging.add((this.#primary + 2) % 3);
  }

  heal(): void {
    this.#lagging.clear();
    this.#cutNodes.clear();
    this.isUp = true;
  }

  cut(node: string): void {
    this.#cutNodes.add(node);
  }

  /** Kills the primary; it comes back with all that is on its disk. */
  restartPrimary(): void {
    const server = this.#server(this.#primary);
    server.incarnation += 1;
    server.isLocked = false;
    server.visible = server.log.length;
  }

  /** Kills the primary and promotes the standby that has most; the others follow that one. */
  promote(): void {
    this.restartPrimary();
    const candidates = [(this.#primary + 1) % 3, (this.#primary + 2) % 3];
    const lengths = candidates.map((index) => this.#server(index).log.length);
    this.#primary = candidates[(lengths[0] ?? 0) >= (lengths[1] ?? 0) ? 0 : 1] ?? 0;
    this.restartPrimary();
    const { log } = this.#server(this.#primary);
    for (const server of this.#servers) {
      const same = server.log.findIndex((entry, index) => log[index] !== entry);
      if (same >= 0) server.log = server.log.slice(0, same);
    }
  }

  /** The node whose entry waits for a standby. */
  get waiting(): string | null {
    const { log, isLocked } = this.#server(this.#primary);
    return isLocked ? log.at(-1)?.batch.split('-')[0] ?? null : null;
  }

  /** What waits for a standby is told that it is committed, with a warning. */
  cancelWaiting(): void {
    this.#cancels += 1;
  }

  trim(): void {
    const { log, visible } = this.#server(this.#primary);
    this.#floor = Math.max(this.#floor, log[visible - 3]?.sequence ?? 0);
  }

  get floor(): number {
    return this.#floor;
  }

  log(): readonly Entry[] {
    return this.#server(this.#primary).log;
  }

  async append(server: number, expected: Position, entry: Entry): Promise<AppendResult> {
    const { incarnation } = this.#server(server);
    while (this.#server(server).isLocked) await this.wait(server, incarnation);
    const { log } = this.#server(server);
    const head = log.at(-1) ?? { sequence: 0, chain: '' };
    if (head.sequence !== expected.sequence || head.chain !== expected.chain) return 'conflict';
    log.push(entry);
    this.#server(server).isLocked = true;
    const cancels = this.#cancels;
    let result: AppendResult = 'committed';
    while (!this.#isReplicated(server, log.length)) {
      if (this.#cancels > cancels) {
        result = 'warning';
        break;
      }
      await this.wait(server, incarnation);
    }
    this.#server(server).visible = log.length;
    this.#server(server).isLocked = false;
    return result;
  }

  /** Resolves once everything that is seen now is on a standby. */
  async barrier(server: number): Promise<void> {
    const { incarnation, log } = this.#server(server);
    const { length } = log;
    while (!this.#isReplicated(server, length)) await this.wait(server, incarnation);
  }

  seen(server: number): readonly Entry[] {
    const { log, visible } = this.#server(server);
    return log.slice(0, visible);
  }

  /** Throws when the server is not the one any more that was connected to. */
  check(node: string, server: number, incarnation: number): void {
    const isSame = this.#server(server).incarnation === incarnation && server === this.#primary;
    if (!isSame || !this.isUp || this.#cutNodes.has(node)) throw new Lost();
  }

  incarnationOf(server: number): number {
    return this.#server(server).incarnation;
  }

  latency(): Promise<void> {
    return this.#clock.sleep(0.5 + below(this.#random, 3));
  }

  async wait(server: number, incarnation: number): Promise<void> {
    await this.#clock.sleep(1);
    if (this.#server(server).incarnation !== incarnation) throw new Lost();
  }

  #isReplicated(server: number, length: number): boolean {
    const { log } = this.#server(server);
    return this.#servers.some((other, index) =>
      index !== server && other.log.length >= length && other.log[length - 1] === log[length - 1]);
  }

  async #replicate(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(1);
      const { log } = this.#server(this.#primary);
      this.#servers.forEach((server, index) => {
        if (index === this.#primary || this.#lagging.has(index)) return;
        const next = log[server.log.length];
        if (next !== undefined) server.log.push(next);
        server.visible = server.log.length;
      });
    }
  }

  #server(index: number): Server {
    const server = this.#servers[index];
    if (server === undefined) throw new Error(`no server ${index}`);
    return server;
  }
}

/** To the server that is primary now. Each call may throw Lost, before or after its work. */
export class Connection {
  readonly #engine: EngineModel;
  readonly #node: string;
  readonly #server: number;
  readonly #incarnation: number;

  constructor(engine: EngineModel, node: string, server: number) {
    this.#engine = engine;
    this.#node = node;
    this.#server = server;
    this.#incarnation = engine.incarnationOf(server);
  }

  append(expected: Position, entry: Entry): Promise<AppendResult> {
    return this.#ask(() => this.#engine.append(this.#server, expected, entry));
  }

  barrier(): Promise<void> {
    return this.#ask(() => this.#engine.barrier(this.#server));
  }

  /** Everything that is seen: a reader takes what it lacks. */
  read(): Promise<readonly Entry[]> {
    return this.#ask(() => Promise.resolve(this.#engine.seen(this.#server)));
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    await this.#engine.latency();
    this.#engine.check(this.#node, this.#server, this.#incarnation);
    const result = await work();
    await this.#engine.latency();
    this.#engine.check(this.#node, this.#server, this.#incarnation);
    return result;
  }
}
