/**
 * The word index within its share of the memory. While the catalog is too large for an index there
 * is none, and queries read every book: the results are the same but come later. Once the catalog
 * has become small enough, the next search makes a new index.
 */
import { lazyImport } from '../../base/lazy-import.ts';
import { NO_CORRECTIONS } from '../query/corrections.ts';
import type { Corrections } from '../query/corrections.ts';
import type { BookFilter } from '../query/parse-query.ts';
import type { BookSearch, Candidates, SearchCaller } from './book-search.ts';
import type { WordIndex, WordIndexOptions } from './word-index.ts';

const loadWordIndex = lazyImport(() => import('./word-index.ts'));

export class BoundedWordIndex implements BookSearch {
  readonly #options: WordIndexOptions;
  /** null until the first search. */
  #wordIndex: WordIndex | null = null;
  #isClosed = false;

  constructor(options: WordIndexOptions) {
    this.#options = options;
  }

  /** About how much memory the index takes. */
  get bytes(): number {
    return this.#wordIndex?.bytes ?? 0;
  }

  /** Whether the index has all books; null while there is none. */
  get state(): 'making' | 'ready' | null {
    return this.#wordIndex?.state ?? null;
  }

  /** Whether the catalog is known to be too large for an index. */
  get isTooLarge(): boolean {
    return this.#options.collection.size > (this.#wordIndex?.booksMax ?? Infinity);
  }

  find(filter: BookFilter, caller: SearchCaller): Promise<Candidates | null> {
    if (this.isTooLarge) return Promise.resolve(null);
    return Promise.resolve(loadWordIndex(({ WordIndex: Index }) => {
      // An index that has a `booksMax` has dropped everything.
      if (this.#wordIndex === null || this.#wordIndex.booksMax !== null) {
        this.#wordIndex = new Index(this.#options);
        if (this.#isClosed) this.#wordIndex.close();
      }
      return this.#wordIndex.find(filter, caller);
    }));
  }

  async findCorrections(filter: BookFilter, caller: SearchCaller): Promise<Corrections> {
    if (this.#wordIndex === null || this.isTooLarge) return NO_CORRECTIONS;
    return this.#wordIndex.findCorrections(filter, caller);
  }

  close(): void {
    this.#isClosed = true;
    this.#wordIndex?.close();
  }
}
