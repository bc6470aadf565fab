/**
 * The books that the records of an import may match: those of the store as a transaction sees them,
 * or as they would be after a dry run's records.
 */
import type { Collection, Transaction } from '../../../store/store-port.ts';
import { StagingIndex } from './staging-index.ts';
import type { MatchIndex } from './match-index.ts';
import type { MatchKeys } from './match-key.ts';

export interface BookStaging {
  find(id: string): Buffer | undefined;
  /** The ids of the books with the match key, in no order. */
  findMatches(key: string): Iterable<string>;
  /** Stores the whole book. */
  put(id: string, json: string): void;
}

/** The books that one run of a transaction sees, and stages. */
export class TransactionStaging implements BookStaging {
  readonly #transaction: Transaction;
  readonly #collection: string;
  readonly #index: MatchIndex | null;
  /** Null until the first search by a key. */
  #staged: StagingIndex | null = null;

  constructor(transaction: Transaction, collection: string, index: MatchIndex | null) {
    this.#transaction = transaction;
    this.#collection = collection;
    this.#index = index;
  }

  find(id: string): Buffer | undefined {
    return this.#transaction.find(this.#collection, id);
  }

  findMatches(key: string): Iterable<string> {
    this.#staged ??= this.#readStaged();
    return findMatches(this.#staged, this.#index, key);
  }

  put(id: string, json: string): void {
    const { bytes } = this.#transaction.put(this.#collection, id, json);
    this.#staged?.put(id, bytes);
  }

  #readStaged(): StagingIndex {
    const staged = new StagingIndex((bytes) => this.#index?.readStagedKey(bytes) ?? null);
    for (const { id, bytes } of this.#transaction.listStaged(this.#collection)) {
      staged.put(id, bytes);
    }
    return staged;
  }
}

// Some 30 MB: of ids alone, or of books with their keys.
const IDS_REMEMBERED_MAX = 250_000;
const BOOKS_REMEMBERED_MAX = 32_000;
const BYTES_REMEMBERED_MAX = 12 * 2 ** 20;
const NO_BYTES = Buffer.alloc(0);

type DryRunOptions = {
  /** Null where there is no catalog. */
  readonly committed: Pick<Collection, 'findBytes'> | null;
  readonly index: MatchIndex | null;
  /** Null where nothing is matched but ids. */
  readonly keys: MatchKeys | null;
  /** Whether it is asked for books, or only whether they are there. */
  readonly needsBooks: boolean;
};

/**
 * The committed books with those over them that a dry run has not stored. It remembers so many of
 * them: of a large file, a record that matches one far before it may be told to be new.
 */
export class DryRunStaging implements BookStaging {
  readonly #options: DryRunOptions;
  readonly #bytesById = new Map<string, Buffer>();
  readonly #staged: StagingIndex;
  #bytesTotal = 0;

  constructor(options: DryRunOptions) {
    this.#options = options;
    this.#staged = new StagingIndex((bytes) => options.keys?.readStored(bytes) ?? null);
  }

  find(id: string): Buffer | undefined {
    return this.#bytesById.get(id) ?? this.#options.committed?.findBytes(id);
  }

  findMatches(key: string): Iterable<string> {
    return findMatches(this.#staged, this.#options.index, key);
  }

  put(id: string, json: string): void {
    const { needsBooks, keys } = this.#options;
    const bytes = needsBooks ? Buffer.from(json) : NO_BYTES;
    const known = this.#bytesById.get(id);
    const countMax = needsBooks ? BOOKS_REMEMBERED_MAX : IDS_REMEMBERED_MAX;
    if (known === undefined && this.#bytesById.size >= countMax) return;
    const bytesTotal = this.#bytesTotal + bytes.length - (known?.length ?? 0);
    if (bytesTotal > BYTES_REMEMBERED_MAX) return;
    this.#bytesTotal = bytesTotal;
    this.#bytesById.set(id, bytes);
    if (keys !== null) this.#staged.put(id, bytes);
  }
}

/** Where a book lies over the committed ones, the index does not know what it is now. */
function* findMatches(
  over: StagingIndex, index: MatchIndex | null, key: string,
): Generator<string> {
  yield* over.find(key);
  for (const id of index?.find(key) ?? []) if (!over.has(id)) yield id;
}
