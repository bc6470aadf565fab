import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG } from '../../../support/long.ts';
import { below, createRandom, type Random } from '../../../support/random.ts';
import { DOWN, Simulation, UP, type Behaviour } from './simulation.ts';

const STEPS = IS_LONG ? 1500 : 150;
const YEARS_MS = 100 * 366 * 86_400_000;
const HOSTS = ['a', 'b', 'c', 'd', 'e'];
const IN_FLIGHT_MAX = 6;
const PER_HOOK_MAX = 2;
const BEHAVIOURS: readonly Behaviour[] = [
  UP, UP, UP, DOWN, { kind: 'slow', ms: 700 }, { kind: 'slow', ms: 4000 },
  { kind: 'answer', status: 503 }, { kind: 'answer', status: 429, retryAfter: '7200' },
  { kind: 'answer', status: 410 }, { kind: 'proxy' }, { kind: 'answer', status: 302 },
];
const WAITS_MS = [0, 5, 5, 10, 10, 50, 50, 300, 300, 1000, 1000, 5000, 60_000, 400_000, 7_200_000];

/** What the outside was promised and what it has seen, kept apart from the program. */
class Witness {
  readonly simulation = new Simulation({
    outgoing: {
      maxInFlight: IN_FLIGHT_MAX, maxInFlightPerHook: PER_HOOK_MAX, maxPending: 300,
      retentionMs: YEARS_MS, failedRetentionMs: YEARS_MS,
    },
    random: () => 0.5,
  });
  readonly random: Random;
  readonly accepted = new Set<string>();
  /** Crashes inside an attempt of the delivery: each allows one more arrival. */
  readonly excused = new Map<string, number>();
  hooks: string[] = [];
  #requestsSeen = 0;
  #linesSeen = 0;
  #storeSeen = this.simulation.store;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[below(this.random, items.length)];
  }

  async addHook(): Promise<void> {
    const host = this.pick(HOSTS) ?? '';
    const triggerEvent = this.pick(['x.*', 'x.one', 'x.two']);
    this.hooks.push(await this.simulation.addHook(host, { secret: 's', triggerEvent }));
  }

  async emit(): Promise<void> {
    const name = this.pick(['x.one', 'x.two']) ?? '';
    const ids = await this.simulation.emit({ at: this.accepted.size }, name).catch(() => []);
    for (const id of ids) this.accepted.add(id);
  }

  async crash(): Promise<void> {
    const { simulation } = this;
    for (const id of this.accepted) {
      const isInside = simulation.requestsOf(id).some(({ result }) => result === undefined);
      const isUnwritten = this.arrivals(id) > 0 && simulation.delivery(id)?.status !== 'delivered';
      if (isInside || isUnwritten) this.excused.set(id, (this.excused.get(id) ?? 0) + 1);
    }
    await simulation.crash();
  }

  /** Accepted deliveries that were asked for or written since the last call. */
  touched(): ReadonlySet<string> {
    const { requests, store } = this.simulation;
    const ids = requests.slice(this.#requestsSeen).map(({ id }) => id);
    this.#requestsSeen = requests.length;
    if (store !== this.#storeSeen) this.#linesSeen = 0;
    this.#storeSeen = store;
    const written = store.lines.slice(this.#linesSeen).flat().map(({ id }) => id);
    this.#linesSeen = store.lines.length;
    return new Set([...ids, ...written].filter((id) => this.accepted.has(id)));
  }

  arrivals(id: string): number {
    return this.simulation.requestsOf(id).filter(({ result }) => result === 200).length;
  }

  withStatus(status: string): string[] {
    return [...this.accepted].filter((id) => this.simulation.delivery(id)?.status === status);
  }
}

const ACTIONS: readonly ((witness: Witness) => Promise<unknown>)[] = [
  (witness) => witness.emit(),
  (witness) => witness.emit(),
  async (witness) => witness.simulation.targets.set(
    witness.pick(HOSTS) ?? '', witness.pick(BEHAVIOURS) ?? UP),
  async (witness) => {
    if (below(witness.random, 5) === 0) await witness.crash();
  },
  async (witness) => {
    const id = witness.pick(witness.withStatus('pending'));
    if (id === undefined || below(witness.random, 4) > 0) return;
    const { deliveries } = witness.simulation.webhooks;
    await witness.simulation.run(deliveries.cancel(id).catch(() => null));
  },
  async (witness) => {
    const status = below(witness.random, 2) === 0 ? 'failed' : 'pending';
    const id = witness.pick(witness.withStatus(status));
    if (id === undefined) return;
    const { deliveries } = witness.simulation.webhooks;
    await witness.simulation.run(deliveries.retry(id).catch(() => null));
  },
  async (witness) => {
    const hook = witness.pick(witness.hooks) ?? '';
    const enabled = below(witness.random, 4) > 0;
    const { outgoing } = witness.simulation.webhooks.resources;
    await witness.simulation.run(outgoing.patch(hook, { enabled }).catch(() => null));
  },
  async (witness) => {
    if (below(witness.random, 40) > 0) return;
    const hook = witness.pick(witness.hooks) ?? '';
    witness.hooks = witness.hooks.filter((other) => other !== hook);
    await witness.simulation.run(witness.simulation.webhooks.resources.outgoing.remove(hook));
    await witness.addHook();
  },
];

function check(witness: Witness, step: number, ids: Iterable<string>): void {
  const { simulation } = witness;
  const underWay = simulation.underWay;
  assert.ok(underWay.length <= IN_FLIGHT_MAX, `step ${step}: ${underWay.length} under way`);
  assert.equal(new Set(underWay.map(({ id }) => id)).size, underWay.length, `step ${step}: twice`);
  const perHook = new Map<string | null, number>();
  for (const { id } of underWay) {
    const hook = simulation.delivery(id)?.hook ?? null;
    perHook.set(hook, (perHook.get(hook) ?? 0) + 1);
    assert.ok((perHook.get(hook) ?? 0) <= PER_HOOK_MAX, `step ${step}: too many for a hook`);
  }
  for (const id of ids) {
    const delivery = simulation.delivery(id);
    assert.ok(delivery !== undefined, `step ${step}: ${id} is lost`);
    const count = witness.arrivals(id);
    const allowed = 1 + (witness.excused.get(id) ?? 0);
    assert.ok(count <= allowed, `step ${step}: ${id} arrived ${count} times`);
    assert.ok(delivery.status !== 'delivered' || count > 0, `step ${step}: ${id} never arrived`);
  }
}

for (const seed of [1, 20261120]) {
  test(`${STEPS} random steps lose nothing and send nothing again (seed ${seed})`, async () => {
    const witness = new Witness(seed);
    const { simulation } = witness;
    for (let count = 0; count < 4; count += 1) await witness.addHook();
    for (let step = 0; step < STEPS; step += 1) {
      await witness.pick(ACTIONS)?.(witness);
      await simulation.clock.advance(witness.pick(WAITS_MS) ?? 0);
      check(witness, step, witness.touched());
      if (step % 200 === 0) {
        const books = await simulation.run(simulation.webhooks.deliveries.reconcile());
        assert.deepEqual(books.problems, [], `step ${step}`);
        assert.equal(books.accepted, witness.accepted.size);
        check(witness, step, witness.accepted);
      }
    }
    for (const host of HOSTS) simulation.targets.set(host, UP);
    for (const hook of witness.hooks) {
      await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: true }));
    }
    await simulation.clock.advance(100 * 3_600_000);
    check(witness, STEPS, witness.accepted);
    assert.deepEqual(witness.withStatus('pending'), []);
    const delivered = witness.withStatus('delivered').length;
    assert.ok(witness.accepted.size > STEPS / 5 && delivered > STEPS / 15, `${delivered}`);
  });
}
