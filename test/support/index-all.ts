/** Hosts of indexes, and how all books are indexed by their words, for which no search waits. */
import { systemClock } from '../../src/base/clock.ts';
import { IndexHost } from '../../src/books/index/index-host.ts';
import type { IndexHostOptions, WordSearch } from '../../src/books/index/index-host.ts';
import type { BookFilter } from '../../src/books/query/book-filter.ts';
import { parseBookQuery } from '../../src/books/query/parse-query.ts';
import { runAll } from './turns.ts';

type HostOptions = Pick<IndexHostOptions, 'collection' | 'turns'> & Partial<IndexHostOptions>;

/** Indexes that have all the memory they need; one that fails ends the test. */
export function createIndexes(options: HostOptions): IndexHost {
  return new IndexHost(withDefaults(options));
}

/** The same, of which every second search asks the complete word index. */
export function createOftenCompleteIndexes(options: HostOptions): IndexHost {
  return new OftenCompleteIndexes(withDefaults(options));
}

export function indexAll(indexes: IndexHost): void {
  indexes.openWords(parseBookQuery('q=nothing').filter);
  // Corrections come from the complete index alone.
  runAll(indexes.findCorrections(['nothing'], 'anyText'));
}

class OftenCompleteIndexes extends IndexHost {
  #searches = 0;

  override openWords(filter: BookFilter): WordSearch | null {
    this.#searches += 1;
    if (this.#searches % 2 === 0 && super.openWords(filter) !== null) indexAll(this);
    return super.openWords(filter);
  }
}

function withDefaults(options: HostOptions): IndexHostOptions {
  return {
    clock: systemClock, bytesMax: Infinity,
    onFailure(indexes, error) {
      queueMicrotask(() => { throw new Error(`${indexes.join()} failed`, { cause: error }); });
    },
    ...options,
  };
}
