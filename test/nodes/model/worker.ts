/**
 * A model of who sends deliveries: the node that holds the lease in the log. It begins attempts
 * only while nobody else can have taken the lease over, and records results only under its term.
 */
import { below } from '../../support/random.ts';
import type { Attempt } from '../checker/history.ts';
import type { Bug } from './bugs.ts';
import type { Change } from './engine.ts';
import type { ImageModel } from './image.ts';
import type { NodeModel } from './node.ts';
import type { Answer, World } from './request.ts';

const LEASE_MS = 120;
const TIMEOUT_MS = 30;
const MARGIN_MS = 6;
const RENEW_MS = 25;
const EARLY_MS = 20;
const IN_FLIGHT_MAX = 4;
/** With these an owner goes on when its lease has ended. */
const GOING_ON: readonly Bug[] =
  ['begin attempts on a lease that has ended', 'renew a lease late'];

export class WorkerModel {
  readonly #node: NodeModel;
  readonly #world: World;
  readonly #attempts: Attempt[];
  readonly #inFlight = new Set<string>();
  /** When the last renewal that went through was sent. */
  #sentMs = -Infinity;
  #isAsking = false;
  #term = 0;
  #seen = { term: 0, renewals: 0, atMs: 0 };
  #renewals = 0;
  #lease: ImageModel['lease'] | null = null;

  constructor(node: NodeModel, world: World, attempts: Attempt[]) {
    this.#node = node;
    this.#world = world;
    this.#attempts = attempts;
    void this.#work();
  }

  async #work(): Promise<void> {
    for (;;) {
      await this.#world.clock.sleep(3 + below(this.#world.random, 3));
      await this.#node.gate();
      const { nowMs } = this.#world.clock;
      const { lease } = this.#node.image;
      // Each renewal is a record of its own.
      if (lease !== this.#lease) {
        this.#lease = lease;
        this.#renewals += 1;
        this.#seen = { term: lease.term, renewals: this.#renewals, atMs: nowMs };
      }
      const waitMs = this.#world.bug === 'take a lease over early'
        ? EARLY_MS : LEASE_MS + MARGIN_MS;
      if (lease.node === this.#node.name && lease.term === this.#term) {
        const renewMs = this.#world.bug === 'renew a lease late' ? 2 * LEASE_MS : RENEW_MS;
        if (nowMs - this.#sentMs >= renewMs) this.#claim(lease.term, lease.term);
        this.#begin();
      } else if (nowMs >= this.#seen.atMs + waitMs) this.#claim(lease.term, lease.term + 1);
    }
  }

  #claim(before: number, term: number): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const sentMs = this.#world.clock.nowMs;
    const { name } = this.#node;
    const seen = this.#lease;
    void this.#node.ask(({ lease }) => {
      // A takeover goes by the renewal that was seen; a later one is another.
      const isSame = lease.term === before && (term === before ? lease.node === name
        : lease === seen);
      return isSame ? { kind: 'lease', node: name, term } : 'unavailable';
    }).then(({ outcome }) => {
      this.#isAsking = false;
      if (outcome !== 'ok') return;
      this.#sentMs = sentMs;
      this.#term = term;
    });
  }

  #begin(): void {
    const { nowMs } = this.#world.clock;
    const isEnded = nowMs >= this.#sentMs + LEASE_MS - TIMEOUT_MS - MARGIN_MS;
    if (isEnded && !GOING_ON.some((bug) => bug === this.#world.bug)) return;
    for (const [delivery, { isFinal }] of this.#node.image.deliveries) {
      if (this.#inFlight.size >= IN_FLIGHT_MAX) return;
      if (!isFinal && !this.#inFlight.has(delivery)) void this.#attempt(delivery, this.#term);
    }
  }

  async #attempt(delivery: string, term: number): Promise<void> {
    const { clock, random, bug } = this.#world;
    this.#inFlight.add(delivery);
    const before = this.#node.image.deliveries.get(delivery)?.attempts ?? 0;
    const beginMs = clock.nowMs;
    await clock.sleep(5 + below(random, TIMEOUT_MS - 5));
    this.#attempts.push(
      { delivery: `of ${delivery}`, hook: '/', token: delivery, beginMs, endMs: clock.nowMs });
    const isFinal = below(random, 2) === 0;
    const result = (attempts: number): Change => ({ kind: 'result', delivery, attempts, isFinal });
    let answer: Answer;
    do {
      answer = await this.#node.ask(({ lease, deliveries }) => {
        if (bug === 'record results without a fence') return result(before + 1);
        if (lease.term !== term) return 'unavailable';
        const known = deliveries.get(delivery)?.attempts ?? 0;
        // Ours is there already: the answer to it was lost.
        return known > before ? 'taken' : result(known + 1);
      });
    } while (answer.outcome === 'unknown');
    this.#inFlight.delete(delivery);
  }
}
