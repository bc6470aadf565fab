/**
 * Random lives of three nodes over one engine, each from a seed: sessions and answers are lost, the
 * quorum is away, the machine starts anew with what the quorum lacks, another takes over, nodes are
 * killed and start again, snapshots are made and the log is trimmed. Afterwards every node holds
 * the same, and exactly the transactions that were acknowledged, none that were refused.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { silentLogger, type LogFields } from '../../../src/base/log.ts';
import type { Engine, EngineSession } from '../../../src/store/engines/engine.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { IS_LONG } from '../../support/long.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { below, createRandom, type Random } from '../../support/random.ts';
import {
  SimulatedEngine, type EngineCall, type EngineFault,
} from '../../support/simulated-engine.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import {
  checkHolds, contentOf, createSteps, type Outcome, type Step,
} from '../../support/workload.ts';

const LIVES = Number(process.env.HOOKSHELF_TEST_LIVES ?? (IS_LONG ? 25 : 8));
const NODES = 3;
const STEPS = 40;
const TOGETHER = 4;
const ROUNDS_MAX = 5000;

/** The way of one node's life to the engine, which ends with it. */
class OwnEngine implements Engine {
  readonly kind = 'postgres';
  readonly name: string;
  readonly batchBytesMax: number;
  readonly maxSnapshotBytes: number;
  readonly #engine: SimulatedEngine;
  readonly #sessions: EngineSession[] = [];
  #isDead = false;

  constructor(engine: SimulatedEngine) {
    this.#engine = engine;
    ({ name: this.name, batchBytesMax: this.batchBytesMax } = engine);
    this.maxSnapshotBytes = engine.maxSnapshotBytes;
  }

  async connect(): Promise<EngineSession> {
    const session = await this.#engine.connect();
    this.#sessions.push(session);
    if (this.#isDead) await session.close();
    return session;
  }

  inspect(): Promise<string> {
    return this.#engine.inspect();
  }

  kill(): void {
    this.#isDead = true;
    for (const session of this.#sessions) void session.close();
  }
}

class Node {
  readonly outcomes: Outcome[] = [];
  readonly number: number;
  clock = new ManualClock();
  store: OpenedStore | null = null;
  /** Why everything was loaded anew, but for what was trimmed while this node was away. */
  readonly divergences: string[] = [];
  readonly #engine: SimulatedEngine;
  readonly #files = new SimulatedFiles();
  readonly #steps: Step[];
  #own: OwnEngine | null = null;
  #underWay = new Set<Step>();
  #opening: Promise<void> | null = null;

  constructor(engine: SimulatedEngine, number: number, seed: number) {
    this.#engine = engine;
    this.number = number;
    this.#steps = createSteps(seed * NODES + number, STEPS, `n${number}-`);
  }

  get isDone(): boolean {
    return this.#steps.length === 0 && this.#underWay.size === 0;
  }

  /** Goes on with what it has to do. */
  live(): void {
    const { store } = this;
    if (store === null) {
      this.#opening ??= this.#open().finally(() => {
        this.#opening = null;
      });
      return;
    }
    while (this.#underWay.size < TOGETHER) {
      const step = this.#steps.shift();
      if (step === undefined) return;
      void this.#run(store, step);
    }
  }

  /** Whoever waits for an answer never gets one. */
  kill(): void {
    if (this.store === null) return;
    this.#own?.kill();
    this.store = null;
    this.clock = new ManualClock();
    const error = new AppError('unknown_outcome', 'killed');
    for (const step of this.#underWay) this.outcomes.push({ step, seenAt: 0, error });
    this.#underWay = new Set();
  }

  async #open(): Promise<void> {
    const own = new OwnEngine(this.#engine);
    const { clock } = this;
    try {
      const logger = { ...silentLogger, error: this.#note };
      this.store = await openSharedStore(own, {
        number: this.number, files: this.#files, clock, logger,
      });
      this.#own = own;
    } catch (error) {
      assert(error instanceof AppError, String(error));
    }
  }

  readonly #note = (message: string, { reason }: LogFields = {}): void => {
    const isTrimmed = /^the log begins at|where \d+ is due$/.test(String(reason));
    if (message.startsWith('the log does not') && !isTrimmed) this.divergences.push(String(reason));
  };

  async #run(store: OpenedStore, step: Step): Promise<void> {
    this.#underWay.add(step);
    let error: unknown = null;
    try {
      await store.transact(step.prepare);
      assert(store.collection('marks').findBytes(step.name) !== undefined, 'reads its own write');
    } catch (thrown) {
      error = thrown;
    }
    // Who is dead tells nobody.
    if (!this.#underWay.delete(step)) return;
    this.outcomes.push({ step, seenAt: 0, error });
  }
}

const APPENDS: readonly EngineCall[] = ['append', 'appendLocked'];

/** What happens to the engine and the nodes, a little each round. */
class World {
  readonly #engine: SimulatedEngine;
  readonly #nodes: readonly Node[];
  readonly #random: Random;
  /** The machine shows what the quorum lacks, and is not the one that will go on. */
  #isPhantom = false;

  constructor(engine: SimulatedEngine, nodes: readonly Node[], random: Random) {
    this.#engine = engine;
    this.#nodes = nodes;
    this.#random = random;
  }

  happen(): void {
    const engine = this.#engine;
    const what = below(this.#random, 50);
    const node = this.#nodes[below(this.#random, this.#nodes.length)];
    if (this.#isPhantom) {
      if (what > 5) return;
      this.#isPhantom = false;
      engine.failOver();
    } else if (what === 0) {
      engine.goDown();
    } else if (what <= 3) {
      engine.comeUp();
    } else if (what <= 5) {
      engine.goOnReplicating();
    } else if (what === 6) {
      engine.loseAll();
    } else if (what <= 9) {
      engine.stopReplicating();
    } else if (what <= 11) {
      engine.restart();
      this.#isPhantom = below(this.#random, 2) === 0;
    } else if (what <= 14) {
      engine.failOver();
    } else if (what === 15) {
      node?.kill();
    } else if (what === 16) {
      node?.store?.compact().catch(() => {});
    }
  }
}

/** `mayCancel`: a machine may show what the quorum lacks without a start of it in between. */
function faultOf(call: EngineCall, random: Random, mayCancel: boolean): EngineFault {
  const what = below(random, 100);
  if (what === 0) return 'lost-before';
  if (what === 1) return 'lost-after';
  if (!APPENDS.includes(call)) return 'none';
  if (what === 2) return 'refused';
  if (what <= 5) return 'lost-late';
  return mayCancel && what <= 50 ? 'cancelled' : 'none';
}

async function advance(nodes: readonly Node[]): Promise<void> {
  await Promise.all(nodes.map(({ clock }) => clock.advance(250)));
}

async function live(seed: number): Promise<void> {
  const random = createRandom(seed);
  const engine = new SimulatedEngine();
  engine.turns = () => below(random, 3);
  const nodes = Array.from({ length: NODES }, (_, index) => new Node(engine, index + 1, seed));
  engine.isLocking = seed % 3 !== 0;
  engine.lateTurns = () => below(random, 100);
  const mayCancel = seed % 2 === 0;
  engine.faults = (call) => faultOf(call, random, mayCancel);
  const world = new World(engine, nodes, random);
  let round = 0;
  for (; round < ROUNDS_MAX && !nodes.every(({ isDone }) => isDone); round += 1) {
    for (const node of nodes) node.live();
    world.happen();
    await advance(nodes);
  }
  assert(round < ROUNDS_MAX, 'everybody comes to an end');
  engine.faults = () => 'none';
  engine.comeUp();
  engine.goOnReplicating();
  const isSame = (): boolean => nodes.every(({ store }) =>
    store !== null && store.failure === null
      && store.statistics.sequence === engine.head?.sequence);
  for (round = 0; round < ROUNDS_MAX && !isSame(); round += 1) {
    for (const node of nodes) node.live();
    await advance(nodes);
  }
  const outcomes = nodes.flatMap((node) => node.outcomes);
  const stores = nodes.map(({ store }) => store).filter((store) => store !== null);
  assert.equal(stores.length, NODES);
  const [first] = stores;
  for (const store of stores) {
    checkHolds(store, outcomes, Infinity);
    assert.deepEqual(contentOf(store), first === undefined ? null : contentOf(first));
  }
  // What was behind a barrier is not taken back.
  if (!mayCancel) assert.deepEqual(nodes.flatMap(({ divergences }) => divergences), []);
  for (const store of stores) await store.close();
}

for (let seed = 1; seed <= LIVES; seed += 1) {
  test(`life ${seed} of three nodes ends with one state, of what was acknowledged`, () =>
    live(seed));
}
