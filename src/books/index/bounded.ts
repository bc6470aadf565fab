/**
 * The word index within its share of the memory. While the catalog is too large for an index there
 * is none, and queries read every book: the answers are the same but come later.
 */
import type { BookFilter } from '../query/parse.ts';
import type { Asker, BookSearch, Candidates, Writes } from './search.ts';
import { InvertedIndex } from './inverted.ts';
import type { SearchOptions } from './inverted.ts';

export class BoundedSearch implements BookSearch {
  readonly #options: SearchOptions;
  #index: InvertedIndex;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#index = new InvertedIndex(options);
  }

  /** About how much memory the index takes. */
  get bytes(): number {
    return this.#index.bytes;
  }

  /** Whether the catalog is known to be too large for an index. */
  get isOutgrown(): boolean {
    return this.#options.collection.size > (this.#index.booksMax ?? Infinity);
  }

  find(filter: BookFilter, writes: Writes, asker: Asker): Promise<Candidates | null> {
    if (this.isOutgrown) return Promise.resolve(null);
    if (this.#index.booksMax !== null) this.#index = new InvertedIndex(this.#options);
    return this.#index.find(filter, writes, asker);
  }

  close(): void {
    this.#index.close();
  }
}
