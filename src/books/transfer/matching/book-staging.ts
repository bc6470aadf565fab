/**
 * The books that the records of an import may match: the committed ones, and over them those that
 * a transaction has staged, or that a dry run would have stored.
 */
import { assert } from '../../../base/assert.ts';
import type { Collection, Transaction } from '../../../store/store-port.ts';
import type { MatchIndex } from './match-index.ts';

/** The books as they are with those that an import has put. */
type StagedBooks = {
  find(id: string): Buffer | undefined;
  /** Lists the books that differ from the committed ones; null: the book is removed. */
  list(): Iterable<{ readonly id: string; readonly bytes: Buffer | null }>;
  /** Returns the bytes of the book; null: it is not remembered. */
  put(id: string, json: string): Buffer | null;
};

/**
 * The ids of books over the committed ones, by match keys that these have, or had; some come twice.
 * Sets would take three times the memory of lists: most keys are those of one book.
 */
type StagedIds = Map<string, string[]>;

/** `StagedBooks`, which are found by match keys too. */
export class BookStaging {
  readonly #books: StagedBooks;
  /** By the ranks of the keys, as far as records need them. */
  readonly #indexes: readonly (MatchIndex | undefined)[];
  /** By the same ranks: one is there from the first search by its keys on. */
  readonly #staged: (StagedIds | undefined)[] = [];

  constructor(books: StagedBooks, indexes: readonly (MatchIndex | undefined)[]) {
    this.#books = books;
    this.#indexes = indexes;
  }

  find(id: string): Buffer | undefined {
    return this.#books.find(id);
  }

  /**
   * The ids of the books with the key of the way to match at `rank`; some come twice. The indexes
   * know keys that books had once, as a book may be put again: its bytes tell whether it still has
   * the key.
   */
  * findMatches(key: string, rank: number): Generator<string> {
    const index = this.#indexes[rank];
    assert(index !== undefined, 'an import opens the indexes that its records need');
    const stagedIds = this.#staged[rank] ??= this.#readStaged(index);
    for (const ids of [stagedIds.get(key) ?? [], index.find(key)]) {
      for (const id of ids) {
        const bytes = this.find(id);
        if (bytes !== undefined && index.keys.readStored(bytes).includes(key)) yield id;
      }
    }
  }

  /** Stores the whole book. */
  put(id: string, json: string): void {
    const bytes = this.#books.put(id, json);
    if (bytes === null) return;
    for (const [rank, index] of this.#indexes.entries()) {
      const stagedIds = this.#staged[rank];
      if (index !== undefined && stagedIds !== undefined) addKeys(stagedIds, index, id, bytes);
    }
  }

  #readStaged(index: MatchIndex): StagedIds {
    const stagedIds: StagedIds = new Map();
    for (const { id, bytes } of this.#books.list()) {
      if (bytes !== null) addKeys(stagedIds, index, id, bytes);
    }
    return stagedIds;
  }
}

function addKeys(stagedIds: StagedIds, index: MatchIndex, id: string, bytes: Buffer): void {
  for (const key of index.readStagedKeys(bytes)) {
    const ids = stagedIds.get(key);
    if (ids === undefined) stagedIds.set(key, [id]);
    else ids.push(id);
  }
}

/** The books that one run of a transaction sees, and stages. */
export function createTransactionStage(transaction: Transaction, collection: string): StagedBooks {
  return {
    find: (id) => transaction.find(collection, id),
    list: () => transaction.listStaged(collection),
    put: (id, json) => transaction.put(collection, id, json).bytes,
  };
}

// Some 30 MB, with their keys.
const BOOKS_REMEMBERED_MAX = 32_000;
const BYTES_REMEMBERED_MAX = 12 * 2 ** 20;

/**
 * The committed books with those over them that a dry run has not stored. It remembers so many of
 * them: of a large file, a record that matches one far before it may be told to be new.
 */
export class DryRunStage implements StagedBooks {
  readonly #committed: Pick<Collection, 'findBytes'>;
  readonly #bytesById = new Map<string, Buffer>();
  #bytesTotal = 0;

  constructor(committed: Pick<Collection, 'findBytes'>) {
    this.#committed = committed;
  }

  find(id: string): Buffer | undefined {
    return this.#bytesById.get(id) ?? this.#committed.findBytes(id);
  }

  * list(): Generator<{ readonly id: string; readonly bytes: Buffer }> {
    for (const [id, bytes] of this.#bytesById) yield { id, bytes };
  }

  put(id: string, json: string): Buffer | null {
    const bytes = Buffer.from(json);
    const earlierBytes = this.#bytesById.get(id);
    if (earlierBytes === undefined && this.#bytesById.size >= BOOKS_REMEMBERED_MAX) return null;
    const bytesTotal = this.#bytesTotal + bytes.length - (earlierBytes?.length ?? 0);
    if (bytesTotal > BYTES_REMEMBERED_MAX) return null;
    this.#bytesTotal = bytesTotal;
    this.#bytesById.set(id, bytes);
    return bytes;
  }
}
