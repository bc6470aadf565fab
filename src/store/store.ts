/** The store: transactions over collections, durable through one journal, in one directory. */
import assert from 'node:assert/strict';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { StoredCollection } from './collection.ts';
import type { Files } from './files.ts';
import { GroupCommit } from './group-commit.ts';
import type { Collection, CollectionSpec, Store, StoreStatistics, Transaction } from './port.ts';
import { recover } from './recovery.ts';
import { Staging } from './staging.ts';

export type StoreOptions = {
  /** Made when missing. The caller holds its lock (lock.ts). */
  readonly directory: string;
  readonly files: Files;
  readonly specs: readonly CollectionSpec[];
  readonly logger: Logger;
  readonly clock?: Clock;
};

export interface OpenedStore extends Store {
  readonly directory: string;
}

/**
 * Opens the store of a directory, replaying what its journals hold; what was replayed is on disk
 * when this resolves. Throws `damaged`, with file, line and offset, when acknowledged data cannot
 * be read back; nothing on disk has changed then.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const collections = new Map(options.specs.map((spec) =>
    [spec.name, new StoredCollection(spec)]));
  const recovered = await recover({ ...options, collections });
  return new FileStore(options, collections, recovered);
}

class FileStore implements OpenedStore {
  readonly directory: string;
  readonly #collections: ReadonlyMap<string, StoredCollection>;
  readonly #commit: GroupCommit;

  constructor(
    options: StoreOptions, collections: ReadonlyMap<string, StoredCollection>,
    recovered: Awaited<ReturnType<typeof recover>>,
  ) {
    this.directory = options.directory;
    this.#collections = collections;
    this.#commit = new GroupCommit({
      ...recovered,
      staging: new Staging(collections.values()),
      clock: options.clock ?? systemClock,
      logger: options.logger,
      onFailure: () => {},
    });
  }

  get failure(): string | null {
    return this.#commit.failure?.message ?? null;
  }

  get statistics(): StoreStatistics {
    const { sequence, commits, transactions, journal } = this.#commit;
    return {
      sequence, commits, transactions,
      generation: journal.generation, journalBytes: journal.length, isCompacting: false,
    };
  }

  collection(name: string): Collection {
    const collection = this.#collections.get(name);
    assert(collection !== undefined, `no collection ${name}`);
    return collection;
  }

  transact<T>(prepare: (transaction: Transaction) => T): Promise<T> {
    return this.#commit.submit(prepare);
  }

  async compact(): Promise<void> {}

  close(): Promise<void> {
    return this.#commit.close();
  }
}
