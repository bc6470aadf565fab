/** A session with a simulated engine. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.ts';
import type {
  EngineSession, EngineSnapshots, LogEntry, LogHead, LogPosition,
} from '../../src/store/engines/engine.ts';
import type { EngineCall, SimulatedEngine } from './simulated-engine.ts';
import { simulatedSnapshots } from './simulated-snapshots.ts';

const ATTEMPTS_MAX = 3;

export function lost(): AppError {
  return new AppError('unknown_outcome', 'the connection to the engine is lost');
}

export class SimulatedSession implements EngineSession {
  readonly durability = 'kept in memory, for tests';
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
    if (!this.#engine.isLocking) {
      return this.#appending('appendLocked', () => this.#appendRepeatedly(log, from, build));
    }
    return this.#appending('appendLocked', () => this.#engine.alone(async () => {
      const head = this.#engine.head;
      assert(head !== null && head.log === log);
      const entry = build(this.#after(from.sequence), head);
      if (entry !== null) await this.#commit(entry);
      return entry;
    }));
  }

  /** As an engine without locks does. */
  async #appendRepeatedly(
    log: string, from: LogPosition,
    build: (missed: readonly LogEntry[], head: LogHead) => LogEntry | null,
  ): Promise<LogEntry | null> {
    let told = from.sequence;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const head = this.#engine.head;
      assert(head !== null && head.log === log);
      const entry = build(this.#after(told), head);
      if (entry === null) return null;
      told = head.sequence;
      await new Promise(setImmediate);
      const isCommitted = await this.#engine.alone(async () => {
        const isSame = this.#engine.head?.chain === head.chain && !this.isLost;
        if (isSame) await this.#commit(entry);
        return isSame;
      });
      if (isCommitted) return entry;
      if (this.isLost) throw lost();
    }
    throw new AppError('unavailable', 'others were always first');
  }

  holds({ batchId, chain }: LogEntry): Promise<boolean> {
    return this.#call('holds', async () =>
      this.#engine.visible.some((entry) => entry.batchId === batchId && entry.chain === chain));
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

  get isWatched(): boolean {
    return this.#wakes.size > 0;
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
    const { entries, refuse } = this.#engine;
    const refusal = refuse(entry);
    if (refusal !== null) throw refusal;
    assert(entry.lines.length <= this.#engine.batchBytesMax);
    assert(!entries.some(({ batchId }) => batchId === entry.batchId), 'a batch is there once');
    assert.equal(entry.first, (this.#engine.head?.sequence ?? 0) + 1);
    entries.push({ ...entry, lines: Buffer.from(entry.lines) });
    await this.#engine.durable();
    for (const session of this.#engine.sessions) session.wake();
  }
}
