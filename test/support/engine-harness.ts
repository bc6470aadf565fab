/**
 * A catalog with its indexes, where nothing happens but by the test: each turn does one step of the
 * work that goes on in the background.
 */
import { CatalogIndexes } from '../../src/books/engine/catalog-indexes.ts';
import { WordIndex } from '../../src/books/index/word-index.ts';
import { FakeCollection } from './fake-collection.ts';
import { ManualTurns } from './manual-turns.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';

export class EngineHarness extends ManualTurns {
  readonly collection = new FakeCollection();
  readonly books = new Map<string, NaiveBook>();
  readonly indexes: CatalogIndexes;
  readonly search: WordIndex;
  /** The memory for all indexes, and what the word index is said to take of it. */
  bytesMax = Infinity;
  wordBytes = 0;

  constructor() {
    super();
    const { collection, clock, turns } = this;
    const harness = this;
    this.indexes = new CatalogIndexes({
      collection, clock, turns, readWordBytes: () => this.wordBytes,
      get bytesMax() { return harness.bytesMax; },
    });
    this.search = new WordIndex({ collection, clock, turns, memtableBooks: 16 });
  }

  put(book: NaiveBook): void {
    this.books.set(book.id, book);
    this.collection.put(book);
  }

  delete(id: string): void {
    this.books.delete(id);
    this.collection.delete(id);
  }

  /** Adds, replaces and deletes books at random; ids are below `idBound`. */
  change(random: Random, count: number, idBound: number): void {
    for (let index = 0; index < count; index += 1) {
      const id = `id-${below(random, idBound)}`;
      if (random() < 0.3) this.delete(id);
      else this.put(randomBook(random, id));
    }
  }

  /** Drops all indexes, as there is no memory for a moment. */
  dropAll(): void {
    const { bytesMax } = this;
    this.bytesMax = -1;
    this.indexes.fit();
    this.bytesMax = bytesMax;
  }
}
