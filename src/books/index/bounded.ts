/**
 * The word index within its share of the memory. While a catalog is too large for it there is none,
 * and queries look at the books themselves: the answers are the same, and come later.
 */
import type { BookFilter } from '../query/parse.ts';
import type { Asker, BookSearch, Candidates, Writes } from './search.ts';
import { createSearchIndex } from './inverted.ts';
import type { SearchIndex, SearchOptions } from './inverted.ts';

export class BoundedSearch implements BookSearch {
  readonly #options: SearchOptions;
  #index: SearchIndex;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#index = createSearchIndex(options);
  }

  /** About what the index holds in memory. */
  get bytes(): number {
    return this.#index.bytes;
  }

  /** Whether the catalog is known to be too large for an index. */
  get isOutgrown(): boolean {
    return this.#options.collection.size > (this.#index.booksMax ?? Infinity);
  }

  find(filter: BookFilter, writes: Writes, asker: Asker): Promise<Candidates | null> {
    if (this.isOutgrown) return Promise.resolve(null);
    if (this.#index.booksMax !== null) this.#index = createSearchIndex(this.#options);
    return this.#index.find(filter, writes, asker);
  }

  close(): void {
    this.#index.close();
  }
}
