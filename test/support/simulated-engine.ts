/**
 * An engine in memory for tests: one machine and the quorum behind it. What is appended is kept by
 * the machine (`entries`), and by the quorum up to `durable`; only what both have is shown and
 * answered, until the machine starts again: then all it has can be seen. `faults` decides what
 * becomes of each call.
 */
import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.ts';
import type {
  Engine, EngineSession, EngineSnapshots, LogEntry, LogHead, LogPosition,
} from '../../src/store/engines/engine.ts';
import { simulatedSnapshots, type StoredSnapshot } from './simulated-snapshots.ts';

export type EngineCall = Exclude<keyof EngineSession, 'promise' | 'snapshots'>
  | keyof EngineSnapshots | 'connect';

/** `lost-before`: it did not happen; `lost-after`: it did, and the answer never came. */
export type EngineFault = 'none' | 'refused' | 'lost-before' | 'lost-after';

export class SimulatedEngine implements Engine {
  readonly kind = 'postgres';
  readonly name = 'postgres://simulated/db';
  maxBatchBytes = 8 << 20;
  maxImageBytes = Infinity;
  /** Asked at each call. */
  faults: (call: EngineCall) => EngineFault = () => 'none';
  /** Turns of the loop that a call takes. */
  turns: () => number = () => 1;
  log: LogHead | null = null;
  entries: LogEntry[] = [];
  readonly snapshots = new Map<number, StoredSnapshot>();
  readonly calls: EngineCall[] = [];
  readonly sessions = new Set<SimulatedSession>();
  #isDown = false;
  #durable = 0;
  #isReplicating = true;
  #released: (() => void)[] = [];
  #lock: Promise<void> = Promise.resolve();

  /** The head that is shown. */
  get head(): LogHead | null {
    if (this.log === null) return null;
    const { sequence, chain } = this.visible.at(-1) ?? this.log;
    return { ...this.log, sequence, chain };
  }

  get visible(): readonly LogEntry[] {
    return this.entries.slice(0, this.#durable);
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
    this.#durable = this.entries.length;
    for (const release of this.#released.splice(0)) release();
  }

  /** The oldest `count` entries are gone. */
  trimmed(count: number, floor: number): void {
    assert(this.log !== null);
    this.log = { ...this.log, floor };
    this.#durable -= count;
  }

  /** The machine starts anew, and shows what the quorum may lack. */
  restart(): void {
    this.loseAll();
    this.#durable = this.entries.length;
    for (const release of this.#released.splice(0)) release();
  }

  /** One of the quorum takes over, which has only the first `count` entries. */
  failOver(count: number): void {
    this.loseAll();
    this.entries = this.entries.slice(0, count);
    this.#durable = count;
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
    if (!this.#isReplicating) {
      await new Promise<void>((resolve) => this.#released.push(resolve));
    }
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
    if (fault === 'lost-before') session.lose();
    if (session.isLost) throw lost();
    const result = await Promise.race([run(), session.loss]);
    await this.#wait();
    if (fault === 'lost-after') session.lose();
    if (session.isLost) throw lost();
    return result;
  }

  async #wait(): Promise<void> {
    for (let turn = this.turns(); turn > 0; turn -= 1) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}

function lost(): AppError {
  return new AppError('unknown_outcome', 'the connection to the engine is lost');
}

class SimulatedSession implements EngineSession {
  readonly promise = 'kept in memory, for tests';
  isLost = false;
  readonly loss: Promise<never>;
  readonly snapshots: EngineSnapshots;
  readonly #engine: SimulatedEngine;
  readonly #wakes = new Set<() => void>();
  readonly #onLost: ((error: Error) => void)[] = [];
  #reject: (error: AppError) => void = () => {};
  #isAppending = false;

  constructor(engine: SimulatedEngine) {
    this.#engine = engine;
    this.loss = new Promise<never>((_, reject) => {
      this.#reject = reject;
    });
    this.loss.catch(() => {});
    this.snapshots = simulatedSnapshots(engine.snapshots, (name, run) => this.#call(name, run));
  }

  lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.#engine.sessions.delete(this);
    const error = lost();
    this.#reject(error);
    for (const listener of this.#onLost) listener(error);
  }

  head(): Promise<LogHead | null> {
    return this.#call('head', async () => this.#engine.head);
  }

  create(head: LogHead): Promise<boolean> {
    return this.#call('create', async () => {
      if (this.#engine.log !== null) return false;
      this.#engine.log = head;
      return true;
    });
  }

  barrier(): Promise<LogHead | null> {
    return this.#call('barrier', async () => {
      const head = this.#engine.head;
      await this.#engine.durable();
      return head;
    });
  }

  append(log: string, expected: LogPosition, entry: LogEntry): Promise<boolean> {
    return this.#appending('append', () => this.#engine.alone(async () => {
      const head = this.#engine.head;
      const isThere = head !== null && head.log === log && head.sequence === expected.sequence
        && head.chain === expected.chain;
      if (isThere) await this.#commit(entry);
      return isThere;
    }));
  }

  appendLocked(
    log: string, from: LogPosition,
    build: (missed: readonly LogEntry[], head: LogHead) => LogEntry | null,
  ): Promise<LogEntry | null> {
    return this.#appending('appendLocked', () => this.#engine.alone(async () => {
      const head = this.#engine.head;
      assert(head !== null && head.log === log);
      const entry = build(this.#after(from.sequence), head);
      if (entry !== null) await this.#commit(entry);
      return entry;
    }));
  }

  findBatch(batch: string): Promise<LogEntry | null> {
    return this.#call('findBatch', async () =>
      this.#engine.visible.find((entry) => entry.batch === batch) ?? null);
  }

  readAfter(sequence: number, maxEntries: number): Promise<readonly LogEntry[]> {
    return this.#call('readAfter', async () => this.#after(sequence).slice(0, maxEntries));
  }

  watch(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }

  trim(floor: number): Promise<void> {
    return this.#call('trim', async () => {
      const { log, entries } = this.#engine;
      assert(log !== null && entries.some(({ sequence }) => sequence === floor));
      const count = entries.length;
      this.#engine.entries = entries.filter(({ sequence }) => sequence >= floor);
      this.#engine.trimmed(count - this.#engine.entries.length, floor);
    });
  }

  onLost(listener: (error: Error) => void): void {
    this.#onLost.push(listener);
  }

  async close(): Promise<void> {
    this.lose();
  }

  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  #call<T>(name: EngineCall, run: () => Promise<T>): Promise<T> {
    return this.#engine.call(this, name, run);
  }

  async #appending<T>(name: 'append' | 'appendLocked', run: () => Promise<T>): Promise<T> {
    assert(!this.#isAppending, 'one append at a time');
    this.#isAppending = true;
    try {
      return await this.#call(name, run);
    } finally {
      this.#isAppending = false;
    }
  }

  #after(sequence: number): LogEntry[] {
    return this.#engine.visible.filter((entry) => entry.sequence > sequence);
  }

  async #commit(entry: LogEntry): Promise<void> {
    const { entries } = this.#engine;
    assert(entry.lines.length <= this.#engine.maxBatchBytes);
    assert(!entries.some(({ batch }) => batch === entry.batch), 'a batch is there once');
    assert.equal(entry.first, (this.#engine.head?.sequence ?? 0) + 1);
    entries.push({ ...entry, lines: Buffer.from(entry.lines) });
    await this.#engine.durable();
    for (const session of this.#engine.sessions) session.wake();
  }
}
