/** The stores of some nodes over one simulated engine, with the clock that all of them go by. */
import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { Logger } from '../../src/base/log.ts';
import type { Transaction } from '../../src/store/store-port.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { ManualClock } from './manual-clock.ts';
import { openSharedStore } from './open-shared-store.ts';
import { SimulatedEngine, type EngineFault } from './simulated-engine.ts';
import { SimulatedFiles } from './simulated-files.ts';

type RigOptions = { readonly snapshotEveryBytes?: number };

export class SharedStoreRig {
  engine = new SimulatedEngine();
  clock = new ManualClock();
  /** What all of them have said. */
  logged: string[] = [];
  stores: OpenedStore[] = [];
  readonly #options: RigOptions;

  /** After each test of the file its stores are closed, and all begins anew. */
  constructor(options: RigOptions = {}) {
    this.#options = options;
    afterEach(async () => {
      for (const store of this.stores) await store.close();
      this.engine = new SimulatedEngine();
      this.clock = new ManualClock();
      this.logged = [];
      this.stores = [];
    });
  }

  async open(files = new SimulatedFiles()): Promise<OpenedStore> {
    const log = (message: string, fields: unknown = {}): void =>
      void this.logged.push(`${message} ${JSON.stringify(fields)}`);
    const logger: Logger = { debug: log, info: log, warning: log, error: log };
    const store = await openSharedStore(this.engine, {
      number: this.stores.length + 1, clock: this.clock, files, logger, ...this.#options,
    });
    this.stores.push(store);
    return store;
  }

  /** What becomes of the first call of that name. */
  once(name: string, fault: EngineFault): void {
    let isDone = false;
    this.engine.faults = (call) => {
      if (call !== name || isDone) return 'none';
      isDone = true;
      return fault;
    };
  }

  /** Lets the clock run until it is so. */
  async until(isSo: () => boolean): Promise<void> {
    for (let step = 0; step < 2000 && !isSo(); step += 1) await this.clock.advance(50);
    assert(isSo());
  }
}

export function put(id: string, text = 'x') {
  return (transaction: Transaction): string => {
    transaction.put('books', id, JSON.stringify({ id, text }));
    return text;
  };
}

/** Counts in one record. */
export function increase(transaction: Transaction): number {
  const found = transaction.find('books', 'count')?.toString() ?? '';
  const text = 1 + Number(/"text":(\d+)/.exec(found)?.[1] ?? 0);
  transaction.put('books', 'count', JSON.stringify({ id: 'count', text }));
  return text;
}

export function putHook(identifier: string, slug: string) {
  return (transaction: Transaction): void => {
    transaction.put('hooks', identifier, JSON.stringify({ identifier, slug }));
  };
}
