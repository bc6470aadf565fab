/**
 * An engine in memory for tests: one machine and the quorum behind it. What is appended is kept by
 * the machine (`entries`), and by the quorum up to `durable`; only what both have is shown and
 * answered, until the machine starts again: then all it has can be seen. `faults` decides what
 * becomes of each call.
 */
import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.ts';
import type {
  Engine, EngineSession, EngineSnapshots, LogEntry, LogHead,
} from '../../src/store/engines/engine.ts';
import { SimulatedSession, lost } from './simulated-session.ts';
import type { StoredSnapshot } from './simulated-snapshots.ts';

export type EngineCall = Exclude<keyof EngineSession, 'promise' | 'snapshots'>
  | keyof EngineSnapshots | 'connect';

/**
 * `lost-before`: it does not happen; `lost-after`: it does, and the answer never comes;
 * `lost-late`: the same, but it happens only after a while. `cancelled`: what the quorum lacks is
 * shown, and the answer is a warning.
 */
export type EngineFault =
  'none' | 'refused' | 'lost-before' | 'lost-after' | 'lost-late' | 'cancelled';

export class SimulatedEngine implements Engine {
  readonly kind = 'postgres';
  readonly name = 'postgres://simulated/db';
  batchBytesMax = 8 << 20;
  maxSnapshotBytes = Infinity;
  /** False: an append after a conflict is tried again until nobody came between. */
  isLocking = true;
  /** Asked at each call. */
  faults: (call: EngineCall) => EngineFault = () => 'none';
  /** Why an entry is not taken. */
  refuse: (entry: LogEntry) => AppError | null = () => null;
  /** Turns of the loop that a call takes. */
  turns: () => number = () => 1;
  lateTurns: () => number = () => 1;
  log: LogHead | null = null;
  entries: LogEntry[] = [];
  readonly snapshots = new Map<number, StoredSnapshot>();
  readonly calls: EngineCall[] = [];
  readonly sessions = new Set<SimulatedSession>();
  #isDown = false;
  /** How many entries are shown, and how many the quorum has. */
  #shown = 0;
  #durable = 0;
  #isReplicating = true;
  #isCancelling = false;
  #released: (() => void)[] = [];
  #lock: Promise<void> = Promise.resolve();

  /** The head that is shown. */
  get head(): LogHead | null {
    if (this.log === null) return null;
    const { sequence, chain } = this.visible.at(-1) ?? this.log;
    return { ...this.log, sequence, chain };
  }

  get visible(): readonly LogEntry[] {
    return this.entries.slice(0, this.#shown);
  }

  /** From now on nobody gets through; what is open is lost. */
  goDown(): void {
    this.#isDown = true;
    this.loseAll();
  }

  comeUp(): void {
    this.#isDown = false;
  }

  loseAll(): void {
    for (const session of [...this.sessions]) session.lose();
  }

  /** The quorum takes nothing more: appends and barriers wait. */
  stopReplicating(): void {
    this.#isReplicating = false;
  }

  goOnReplicating(): void {
    this.#isReplicating = true;
    this.#showAll();
    for (const release of this.#released.splice(0)) release();
  }

  /** The oldest `count` entries are gone. */
  trimmed(count: number, floor: number): void {
    assert(this.log !== null);
    this.log = { ...this.log, floor };
    this.#shown -= count;
    this.#durable -= count;
  }

  /** The machine starts anew, and shows what the quorum may lack. */
  restart(): void {
    this.loseAll();
    this.#shown = this.entries.length;
    for (const release of this.#released.splice(0)) release();
  }

  /** Another machine takes over, which has only the first `count` entries: those of the quorum. */
  failOver(count = this.#durable): void {
    this.loseAll();
    this.entries = this.entries.slice(0, count);
    this.goOnReplicating();
  }

  async connect(): Promise<EngineSession> {
    this.calls.push('connect');
    await this.#wait();
    const fault = this.faults('connect');
    if (this.#isDown || fault !== 'none') throw new AppError('unavailable', 'cannot be reached');
    const session = new SimulatedSession(this);
    this.sessions.add(session);
    return session;
  }

  async inspect(): Promise<string> {
    return 'simulated';
  }

  /** Resolves once the quorum has all that the machine has now. */
  async durable(): Promise<void> {
    const isCancelled = this.#isCancelling;
    this.#isCancelling = false;
    if (this.#isReplicating) {
      this.#showAll();
    } else if (isCancelled) {
      this.#shown = this.entries.length;
      throw lost();
    } else {
      await new Promise<void>((resolve) => this.#released.push(resolve));
    }
  }

  #showAll(): void {
    this.#shown = this.entries.length;
    this.#durable = this.entries.length;
  }

  /** One after the other, as writers of one row. */
  async alone<T>(run: () => Promise<T>): Promise<T> {
    const before = this.#lock;
    let end = (): void => {};
    this.#lock = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    try {
      return await run();
    } finally {
      end();
    }
  }

  async call<T>(session: SimulatedSession, name: EngineCall, run: () => Promise<T>): Promise<T> {
    this.calls.push(name);
    const fault = this.faults(name);
    await this.#wait();
    if (fault === 'refused') throw new AppError('unavailable', 'the engine has refused');
    if (fault === 'lost-before' || fault === 'lost-late') session.lose();
    if (fault === 'lost-late') void this.#late(run);
    if (session.isLost) throw lost();
    if (fault === 'cancelled') this.#isCancelling = true;
    const result = await Promise.race([run(), session.loss]);
    await this.#wait();
    if (fault === 'lost-after') session.lose();
    if (session.isLost) throw lost();
    return result;
  }

  async #late(run: () => Promise<unknown>): Promise<void> {
    await this.#wait(this.lateTurns());
    await run().catch(() => {});
  }

  async #wait(turns = this.turns()): Promise<void> {
    for (let turn = turns; turn > 0; turn -= 1) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}
