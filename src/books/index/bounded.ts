/**
 * The word index within its share of the memory. While the catalog is too large for an index there
 * is none, and queries read every book: the answers are the same but come later.
 */
import { late } from '../../base/late.ts';
import type { BookFilter } from '../query/parse.ts';
import type { Asker, BookSearch, Candidates, Writes } from './search.ts';
import type { InvertedIndex, SearchOptions } from './inverted.ts';

const withIndex = late(() => import('./inverted.ts'));

export class BoundedSearch implements BookSearch {
  readonly #options: SearchOptions;
  /** null until the first search. */
  #index: InvertedIndex | null = null;
  #isClosed = false;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** About how much memory the index takes. */
  get bytes(): number {
    return this.#index?.bytes ?? 0;
  }

  /** Whether the catalog is known to be too large for an index. */
  get isOutgrown(): boolean {
    return this.#options.collection.size > (this.#index?.booksMax ?? Infinity);
  }

  find(filter: BookFilter, writes: Writes, asker: Asker): Promise<Candidates | null> {
    if (this.isOutgrown) return Promise.resolve(null);
    return Promise.resolve(withIndex(({ InvertedIndex: Index }) => {
      if (this.#index === null || this.#index.booksMax !== null) {
        this.#index = new Index(this.#options);
        if (this.#isClosed) this.#index.close();
      }
      return this.#index.find(filter, writes, asker);
    }));
  }

  close(): void {
    this.#isClosed = true;
    this.#index?.close();
  }
}
