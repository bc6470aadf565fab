/** One life of three nodes of the model over an engine that fails, and what clients saw of it. */
import { below, createRandom } from '../../support/random.ts';
import { EMPTY } from '../checker/history.ts';
import type { Attempt, DeliveryState, History, Read, Span, Write } from '../checker/history.ts';
import type { Bug } from './bugs.ts';
import { EngineModel } from './engine.ts';
import type { Entry } from './engine.ts';
import { NodeModel } from './node.ts';
import type { Prepare, World } from './request.ts';
import { VirtualClock } from './virtual-clock.ts';
import { WorkerModel } from './worker.ts';

const KINDS = ['restart', 'phantom', 'cancel'] as const;
const CLIENTS = 5;
const SPARED_MS = 400;
const BUSY_MS = 3000;
const CALM_MS = 2500;
// A connection is tried again each 5 ms; three barriers may fail before one is through.
const CATCH_UP_MS = 150;
// A node asks every 25 ms, and once more when its answer was overtaken.
const STALE_MS = 120;

export async function live(seed: number, bug: Bug | null): Promise<History> {
  const clock = new VirtualClock();
  const random = createRandom(seed);
  const life = new Life({ clock, random, engine: new EngineModel(clock, random), bug });
  await clock.run(BUSY_MS + CALM_MS);
  return life.history();
}

class Life {
  readonly #world: World;
  readonly #nodes: readonly NodeModel[];
  readonly #writes: (Write | null)[] = [];
  readonly #open = new Map<number, Write>();
  readonly #reads: Read[] = [];
  readonly #attempts: Attempt[] = [];
  readonly #cuts: Span[] = [];
  readonly #frozen: Span[] = [];
  readonly #versions: { readonly key: string; readonly token: string }[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#nodes = ['a', 'b', 'c'].map((name) => new NodeModel(name, world));
    for (const node of this.#nodes) new WorkerModel(node, world, this.#attempts);
    for (let client = 0; client < CLIENTS; client += 1) void this.#writer();
    void this.#reader();
    void this.#fail();
  }

  history(): History {
    const { nowMs } = this.#world.clock;
    const open = [...this.#open.values()];
    return {
      ...EMPTY, reads: this.#reads, cuts: this.#cuts, frozen: this.#frozen,
      writes: [...this.#writes.filter((write) => write !== null), ...open],
      attempts: this.#attempts, hooks: ['/'], staleMsMax: STALE_MS,
      catchUpMsMax: CATCH_UP_MS,
      deliveries: this.#deliveries(),
      followers: this.#nodes.flatMap(({ followers }) => followers),
      images: this.#nodes.map(({ name, image }) => ({
        node: name, beginMs: nowMs, endMs: nowMs, sequence: image.position.sequence,
        records: new Map([...image.records].map(([key, token]) => [key, { token, bytes: token }])),
      })),
    };
  }

  #deliveries(): DeliveryState[] {
    const log: readonly Entry[] = this.#world.engine.log();
    return log.flatMap(({ first, changes }) => changes.flatMap((change, index) =>
      change.kind !== 'result' ? [] : [{
        delivery: change.delivery, sequence: first + index, attempts: change.attempts,
        isFinal: change.isFinal,
      }]));
  }

  async #writer(): Promise<void> {
    const { clock, random } = this.#world;
    while (clock.nowMs < BUSY_MS) {
      await clock.sleep(below(random, 20));
      const node = this.#nodes[below(random, 3)];
      if (node === undefined || node.isFrozen || this.#isSpared(node)) continue;
      const kind = below(random, 8);
      if (kind < 3) await this.#write(node, 'create');
      else await this.#write(node, kind < 7 ? 'replace' : 'delete');
    }
  }

  async #reader(): Promise<void> {
    const { clock, random } = this.#world;
    while (clock.nowMs < BUSY_MS) {
      await clock.sleep(below(random, 15));
      const node = this.#nodes[below(random, 3)];
      if (node !== undefined && !node.isFrozen) this.#read(node);
    }
  }

  #read(node: NodeModel): void {
    const { clock, random } = this.#world;
    const recent = this.#versions.slice(-12).map(({ key }) => key);
    const older = this.#versions.filter(() => below(random, 40) === 0).map(({ key }) => key);
    const values = new Map([...recent, ...older].map((key) =>
      [key, node.image.records.get(key) ?? null]));
    const { nowMs } = clock;
    this.#reads.push({ node: node.name, beginMs: nowMs, endMs: nowMs, values, atLeast: null });
  }

  async #write(node: NodeModel, kind: Write['kind']): Promise<void> {
    const { clock, random } = this.#world;
    const number = this.#writes.length;
    this.#writes.push(null);
    const recent = this.#versions.length - 1 - below(random, Math.min(6, this.#versions.length));
    const base = kind === 'create' ? null : this.#versions[recent];
    if (base === undefined) return;
    const token = `t${number}`;
    const key = base?.key ?? `k${number}`;
    const name = kind === 'create' && below(random, 3) === 0 ? `n${below(random, 4)}` : null;
    const begun: Write = {
      node: node.name, beginMs: clock.nowMs, endMs: Infinity, outcome: 'unknown', refusal: null,
      kind, key, token, expected: base?.token ?? null, name, sequence: null,
    };
    this.#open.set(number, begun);
    const answer = await node.ask(prepare(begun, key));
    this.#open.delete(number);
    const isKnown = answer.outcome !== 'unknown';
    const endMs = isKnown ? clock.nowMs : Infinity;
    this.#writes[number] = { ...begun, ...answer, endMs };
    if (answer.outcome === 'ok' && kind !== 'delete') this.#versions.push({ key, token });
  }

  /** Breaks one thing after another, and mends it. */
  async #fail(): Promise<void> {
    const { clock, random, engine } = this.#world;
    for (;;) {
      await clock.sleep(100 + below(random, 100));
      if (clock.nowMs > BUSY_MS - 500) return;
      const beginMs = clock.nowMs;
      const fault = below(random, 7);
      const node = this.#nodes[below(random, 3)];
      if (node === undefined) return;
      let without: readonly NodeModel[] = [];
      if (fault < 3) {
        await this.#losePrimary(KINDS[fault] ?? 'restart');
        without = this.#nodes;
      } else if (fault === 3) {
        engine.lag('one');
        await clock.sleep(400);
      } else if (fault === 4) {
        const cut = below(random, 2) === 0 ? node : this.#owner ?? node;
        engine.cut(cut.name);
        await clock.sleep(30 + below(random, 300));
        without = [cut];
      } else {
        await this.#freeze(node, fault === 5);
        without = [node];
      }
      engine.heal();
      const endMs = clock.nowMs;
      this.#cuts.push(...without.map(({ name }) => ({ node: name, beginMs, endMs })));
    }
  }

  /** Whose the deliveries are, as it knows itself. */
  get #owner(): NodeModel | undefined {
    return this.#nodes.find(({ name, image }) => image.lease.node === name);
  }

  /** For a while nobody writes at one of them: it is told nothing but what it asks for. */
  #isSpared(node: NodeModel): boolean {
    const turn = Math.floor(this.#world.clock.nowMs / SPARED_MS) % this.#nodes.length;
    return this.#nodes.indexOf(node) === turn;
  }

  async #losePrimary(kind: typeof KINDS[number]): Promise<void> {
    const { clock, random, engine } = this.#world;
    engine.lag('both');
    await clock.sleep(10 + below(random, 40));
    if (kind === 'cancel') {
      // The others would see what waits once it is told to be committed: nobody can help that.
      const { waiting } = engine;
      for (const { name } of this.#nodes) if (name !== waiting) engine.cut(name);
      engine.cancelWaiting();
    } else engine.restartPrimary();
    await clock.sleep(40);
    if (kind !== 'restart') engine.promote();
  }

  async #freeze(node: NodeModel, isTrimmed: boolean): Promise<void> {
    const { clock, random, engine } = this.#world;
    const beginMs = clock.nowMs;
    node.isFrozen = true;
    await clock.sleep(50 + below(random, 250));
    if (isTrimmed) engine.trim();
    node.isFrozen = false;
    this.#frozen.push({ node: node.name, beginMs, endMs: clock.nowMs });
  }
}

function prepare({ kind, token, expected, name }: Write, key: string): Prepare {
  return (image) => {
    const current = image.records.get(key);
    if (kind === 'create') {
      return name !== null && image.names.has(name) ? 'taken' : { kind: 'put', key, token, name };
    }
    if (current === undefined) return 'missing';
    if (current !== expected) return 'mismatch';
    return kind === 'delete' ? { kind, key } : { kind: 'put', key, token, name: null };
  };
}
