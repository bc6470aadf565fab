/**
 * A catalog with its indexes, where nothing happens but by the test: each turn does one step of the
 * work that goes on in the background.
 */
import { ValueColumn } from '../../src/books/engine/value-column.ts';
import { IndexHost } from '../../src/books/index/index-host.ts';
import { COLUMN_ROWS } from '../../src/books/query/book-values.ts';
import type { ColumnName } from '../../src/books/query/book-values.ts';
import { FakeCollection } from './fake-collection.ts';
import { ManualTurns } from './manual-turns.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';

export const COLUMN_NAMES = Object.keys(COLUMN_ROWS) as readonly ColumnName[];

export function createColumn(name: ColumnName): ValueColumn {
  return new ValueColumn(COLUMN_ROWS[name]);
}

export const ORDER_KEYS = [
  'title', 'author', 'datePublished', 'updatedAt', 'createdAt', 'rating', 'finishedOn',
] as const;

export class EngineHarness extends ManualTurns {
  readonly collection = new FakeCollection();
  readonly books = new Map<string, NaiveBook>();
  readonly indexes: IndexHost;
  /** The memory for all indexes. */
  bytesMax = Infinity;
  readonly failures: unknown[] = [];

  constructor() {
    super();
    const { collection, clock, turns } = this;
    const harness = this;
    this.indexes = new IndexHost({
      collection, clock, turns, memtableBooks: 16,
      get bytesMax() { return harness.bytesMax; },
      onFailure: (names, error) => this.failures.push([...names, error]),
    });
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

  /** Drops all indexes but the word index, as there is no memory for a moment. */
  dropAll(): void {
    const words = this.indexes.listReports().find(({ index }) => index === 'words');
    this.fit(words === undefined ? 0 : words.bytes + 1);
  }

  /** Has the indexes fit into so much memory, for a moment. */
  fit(bytesMax: number): void {
    const before = this.bytesMax;
    this.bytesMax = bytesMax;
    this.indexes.fit();
    this.bytesMax = before;
  }
}
