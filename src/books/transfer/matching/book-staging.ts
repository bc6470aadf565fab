/**
 * The books that the records of an import may match: those of the store as a transaction sees them,
 * or as they would be after a dry run's records.
 */
import { assert } from '../../../base/assert.ts';
import type { Collection, Transaction } from '../../../store/store-port.ts';
import type { MatchIndex } from './match-index.ts';
import type { MatchKeys } from './match-key.ts';

/** The indexes of the committed books by the ranks of their keys, as far as records need them. */
type MatchIndexesByRank = readonly (MatchIndex | undefined)[];

export interface BookStaging {
  find(id: string): Buffer | undefined;
  /** The ids of the books with the key of the way to match at `rank`; some come twice. */
  findMatches(key: string, rank: number): Iterable<string>;
  /** Stores the whole book. */
  put(id: string, json: string): void;
}

/** The books that one run of a transaction sees, and stages. */
export class TransactionStaging implements BookStaging {
  readonly #transaction: Transaction;
  readonly #collection: string;
  readonly #indexes: MatchIndexesByRank;
  /** By the ranks of the keys: one is there from the first search by its keys on. */
  readonly #staged: (StagingIndex | undefined)[] = [];

  constructor(transaction: Transaction, collection: string, indexes: MatchIndexesByRank) {
    this.#transaction = transaction;
    this.#collection = collection;
    this.#indexes = indexes;
  }

  find(id: string): Buffer | undefined {
    return this.#transaction.find(this.#collection, id);
  }

  findMatches(key: string, rank: number): Iterable<string> {
    const index = this.#indexes[rank];
    assert(index !== undefined, 'an import opens the indexes that its records need');
    this.#staged[rank] ??= this.#readStaged(index);
    return findMatches(this, index.keys, [this.#staged[rank], index], key);
  }

  put(id: string, json: string): void {
    const { bytes } = this.#transaction.put(this.#collection, id, json);
    for (const index of this.#staged) index?.put(id, bytes);
  }

  #readStaged(index: MatchIndex): StagingIndex {
    const stagingIndex = new StagingIndex((bytes) => index.readStagedKeys(bytes));
    for (const { id, bytes } of this.#transaction.listStaged(this.#collection)) {
      if (bytes !== null) stagingIndex.put(id, bytes);
    }
    return stagingIndex;
  }
}

// Some 30 MB, with their keys.
const BOOKS_REMEMBERED_MAX = 32_000;
const BYTES_REMEMBERED_MAX = 12 * 2 ** 20;

type DryRunOptions = {
  readonly committed: Pick<Collection, 'findBytes'>;
  readonly indexes: MatchIndexesByRank;
  /** The keys of each way to match, by their ranks. */
  readonly keys: readonly MatchKeys[];
};

/**
 * The committed books with those over them that a dry run has not stored. It remembers so many of
 * them: of a large file, a record that matches one far before it may be told to be new.
 */
export class DryRunStaging implements BookStaging {
  readonly #options: DryRunOptions;
  readonly #bytesById = new Map<string, Buffer>();
  /** By the ranks of the keys: one is there from the first search by its keys on. */
  readonly #staged: (StagingIndex | undefined)[] = [];
  #bytesTotal = 0;

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  find(id: string): Buffer | undefined {
    return this.#bytesById.get(id) ?? this.#options.committed.findBytes(id);
  }

  findMatches(key: string, rank: number): Iterable<string> {
    const keys = this.#options.keys[rank];
    assert(keys !== undefined);
    this.#staged[rank] ??= this.#readRemembered(keys);
    return findMatches(this, keys, [this.#staged[rank], this.#options.indexes[rank]], key);
  }

  put(id: string, json: string): void {
    const bytes = Buffer.from(json);
    const earlierBytes = this.#bytesById.get(id);
    if (earlierBytes === undefined && this.#bytesById.size >= BOOKS_REMEMBERED_MAX) return;
    const bytesTotal = this.#bytesTotal + bytes.length - (earlierBytes?.length ?? 0);
    if (bytesTotal > BYTES_REMEMBERED_MAX) return;
    this.#bytesTotal = bytesTotal;
    this.#bytesById.set(id, bytes);
    for (const index of this.#staged) index?.put(id, bytes);
  }

  #readRemembered(keys: MatchKeys): StagingIndex {
    const stagingIndex = new StagingIndex((bytes) => keys.readStored(bytes));
    for (const [id, bytes] of this.#bytesById) stagingIndex.put(id, bytes);
    return stagingIndex;
  }
}

/**
 * The indexes know keys that books had once, as a book may be put again: its bytes tell whether it
 * still has the key. Some ids come twice.
 */
function* findMatches(
  books: BookStaging, keys: MatchKeys,
  sources: readonly ({ find(key: string): Iterable<string> } | undefined)[], key: string,
): Generator<string> {
  for (const source of sources) {
    for (const id of source?.find(key) ?? []) {
      const bytes = books.find(id);
      if (bytes !== undefined && keys.readStored(bytes).includes(key) === true) yield id;
    }
  }
}

/**
 * From match keys to the books that lie over the committed ones and have, or had, such a key: those
 * that are staged while a transaction runs, or those that a dry run would have stored.
 */
class StagingIndex {
  readonly #readKeys: (bytes: Buffer) => readonly string[];
  readonly #idsByKey = new Map<string, Set<string>>();

  constructor(readKeys: (bytes: Buffer) => readonly string[]) {
    this.#readKeys = readKeys;
  }

  put(id: string, bytes: Buffer): void {
    for (const key of this.#readKeys(bytes)) {
      const ids = this.#idsByKey.get(key);
      if (ids === undefined) this.#idsByKey.set(key, new Set([id]));
      else ids.add(id);
    }
  }

  find(key: string): Iterable<string> {
    return this.#idsByKey.get(key) ?? [];
  }
}
