/** Imports into the catalog, each with what it needs to find the books that its records match. */
import { assert } from '../../../base/assert.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Turns } from '../../../base/turns.ts';
import type { Collection, Store } from '../../../store/store-port.ts';
import { bookResource } from '../../book-resource.ts';
import type { ImportRecord } from '../import-record.ts';
import type { BookImport, ImportedBook, MatchMode } from './book-import.ts';
import { MatchIndexes } from './match-index.ts';
import type { MatchIndex } from './match-index.ts';
import { createImportKeys } from './match-key.ts';
import type { MatchKeys } from './match-key.ts';
import { ImportMarks, createDryRunMarks } from './book-marks.ts';
import { BookStaging, DryRunStage, createTransactionStage } from './book-staging.ts';
import { storeRecord } from './store-record.ts';
import type { StoreDeps } from './store-record.ts';

type CatalogImportDeps = {
  readonly store: Store;
  readonly turns: Turns;
  readonly clock: Pick<Clock, 'now'>;
  readonly makeId: () => string;
};

const { collection: { name: COLLECTION } } = bookResource;
/** The beginning of the ids of a dry run's new books. Nobody is told them: no UUID begins so. */
const NEW_ID = 'new-';

/** Returns a function that opens an import; see `Catalog.openImport`. */
export function createImportOpener(deps: CatalogImportDeps): (mode: MatchMode) => BookImport {
  const indexes = new MatchIndexes({ ...deps, collection: deps.store.collection(COLLECTION) });
  return (mode) => new CatalogImport(deps, indexes, mode);
}

class CatalogImport implements BookImport {
  readonly #deps: CatalogImportDeps;
  readonly #allIndexes: MatchIndexes;
  readonly #mode: MatchMode;
  readonly #keys: readonly MatchKeys[];
  /** By the ranks of the keys: an index is there from the first record on that has such a key. */
  readonly #indexes: (MatchIndex | undefined)[] = [];
  /** Null where nothing is matched but ids, and in a dry run, which has its own. */
  readonly #marks: ImportMarks | null;
  readonly #dryRun: DryRun | null;
  /** Resolves when the indexes know all books; null: they do. */
  #whenReady: Promise<unknown> | null = null;
  #batchesUnderWay = 0;
  #isClosed = false;

  constructor(deps: CatalogImportDeps, indexes: MatchIndexes, mode: MatchMode) {
    this.#deps = deps;
    this.#allIndexes = indexes;
    this.#mode = mode;
    this.#keys = createImportKeys(mode);
    const collection = deps.store.collection(COLLECTION);
    const hasMarks = mode.matches.length > 0;
    this.#marks = hasMarks && !mode.isDryRun ? new ImportMarks(collection) : null;
    this.#dryRun = mode.isDryRun
      ? new DryRun(mode, this.#keys, collection, this.#indexes) : null;
  }

  importBatch(records: readonly ImportRecord[]): Promise<readonly ImportedBook[]> {
    assert(!this.#isClosed, 'an import is closed after its last batch');
    this.#openIndexes(records);
    const batch = this.#whenReady === null
      ? this.#run(records) : this.#whenReady.then(() => this.#run(records));
    this.#batchesUnderWay += 1;
    const onEnd = (): void => {
      this.#batchesUnderWay -= 1;
      this.#release();
    };
    batch.then(onEnd, onEnd);
    return batch;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#release();
  }

  /** Opens the indexes that the records need first: to read the keys of all books takes time. */
  #openIndexes(records: readonly ImportRecord[]): void {
    for (const [rank, keys] of this.#keys.entries()) {
      const isNeeded = this.#indexes[rank] === undefined
        && records.some((record) => keys.readRecord(record).length > 0);
      if (!isNeeded) continue;
      const index = this.#allIndexes.acquire(keys);
      this.#indexes[rank] = index;
      const whenReady = Promise.all([this.#whenReady, index.whenReady]);
      this.#whenReady = whenReady;
      // Before the batches that wait, so that none that comes later overtakes them.
      whenReady.then(() => {
        if (this.#whenReady === whenReady) this.#whenReady = null;
      }, () => {});
    }
  }

  /** A transaction may run again until it has ended, and then needs the index and the marks. */
  #release(): void {
    if (!this.#isClosed || this.#batchesUnderWay > 0) return;
    for (const index of this.#indexes) {
      if (index !== undefined) this.#allIndexes.release(index);
    }
    this.#marks?.close();
    this.#dryRun?.close();
  }

  #run(records: readonly ImportRecord[]): Promise<readonly ImportedBook[]> {
    const { store, clock, makeId } = this.#deps;
    const nowMs = clock.now();
    if (this.#dryRun !== null) return Promise.resolve(this.#dryRun.run(records, nowMs));
    // Drawn once, as the transaction may run again.
    const newIds = records.map(({ id }) => id ?? makeId());
    const marks = this.#marks?.begin() ?? null;
    const batch = store.transact((transaction) => {
      marks?.clear();
      const books =
        new BookStaging(createTransactionStage(transaction, COLLECTION), this.#indexes);
      const deps = { books, mode: this.#mode, keys: this.#keys, marks, nowMs };
      return records.map((record, index) => storeRecord(deps, record, newIds[index] ?? ''));
    });
    if (marks !== null) batch.then(() => marks.end(true), () => marks.end(false));
    return batch;
  }
}

/** Gives the outcomes that an import would have by what is committed now. */
class DryRun {
  readonly #deps: Omit<StoreDeps, 'nowMs'>;
  readonly #marks: ReturnType<typeof createDryRunMarks> | null;
  #newCount = 0;

  constructor(
    mode: MatchMode, keys: readonly MatchKeys[], committed: Collection,
    indexes: readonly (MatchIndex | undefined)[],
  ) {
    const books = new BookStaging(new DryRunStage(committed), indexes);
    this.#marks = mode.matches.length === 0 ? null : createDryRunMarks(committed);
    this.#deps = { books, mode, keys, marks: this.#marks };
  }

  run(records: readonly ImportRecord[], nowMs: number): readonly ImportedBook[] {
    const deps = { ...this.#deps, nowMs };
    return records.map((record) => {
      this.#newCount += 1;
      return hideNewIds(storeRecord(deps, record, `${NEW_ID}${this.#newCount}`));
    });
  }

  close(): void {
    this.#marks?.close();
  }
}

function hideNewIds(book: ImportedBook): ImportedBook {
  if (book.outcome === 'ambiguous') return book;
  const { id, alike } = book;
  return {
    ...book, id: hideNewId(id), ...alike ? { alike: { ...alike, id: hideNewId(alike.id) } } : {},
  };
}

function hideNewId(id: string | null): string | null {
  return id?.startsWith(NEW_ID) === true ? null : id;
}
