/**
 * A catalog with its indexes, where nothing happens but by the test: each turn does one step of the
 * work that goes on in the background.
 */
import { createTurns } from '../../src/base/turns.ts';
import type { Turns } from '../../src/base/turns.ts';
import { CatalogIndexes } from '../../src/books/engine/catalog-indexes.ts';
import { WordIndex } from '../../src/books/index/word-index.ts';
import { FakeCollection } from './fake-collection.ts';
import { ManualClock } from './manual-clock.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';
import { someTurns } from './turns.ts';

const TURNS_MAX = 1_000_000;

export class EngineHarness {
  readonly collection = new FakeCollection();
  readonly books = new Map<string, NaiveBook>();
  readonly clock = new ManualClock();
  readonly turns: Turns;
  readonly indexes: CatalogIndexes;
  readonly search: WordIndex;
  /** The memory for all indexes, and what the word index is said to take of it. */
  bytesMax = Infinity;
  wordBytes = 0;
  readonly #nextTurns: (() => void)[] = [];

  constructor() {
    const { collection, clock } = this;
    // Every look at the clock ends a turn.
    clock.tickMs = 5;
    this.turns = createTurns(clock, (next) => this.#nextTurns.push(next));
    const harness = this;
    this.indexes = new CatalogIndexes({
      collection, clock, turns: this.turns, readWordBytes: () => this.wordBytes,
      get bytesMax() { return harness.bytesMax; },
    });
    this.search = new WordIndex({ collection, clock, turns: this.turns, memtableBooks: 16 });
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

  /** Does up to `count` steps of what goes on in the background. */
  runTurns(count: number): void {
    for (let turn = 0; turn < count; turn += 1) {
      const next = this.#nextTurns.shift();
      if (next === undefined) return;
      next();
    }
  }

  /** Does all of it. */
  runAllTurns(): void {
    for (let turn = 0; this.#nextTurns.length > 0; turn += 1) {
      if (turn >= TURNS_MAX) throw new Error('it goes on for ever');
      this.runTurns(1);
    }
  }

  /** Does as much of it as a result needs; `between` is called before each step. */
  async runUntil<T>(work: Promise<T>, between: () => void = () => {}): Promise<T> {
    let isDone = false;
    const ending = work.finally(() => {
      isDone = true;
    });
    for (await someTurns(1); !isDone; await someTurns(1)) {
      between();
      this.runTurns(1);
    }
    return ending;
  }

  /** Drops all indexes, as there is no memory for a moment. */
  dropAll(): void {
    const { bytesMax } = this;
    this.bytesMax = -1;
    this.indexes.fit();
    this.bytesMax = bytesMax;
  }
}
